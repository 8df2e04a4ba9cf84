#include "volvox/model/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "volvox/model/mass.h"

namespace volvox::model {
namespace {

struct ElementRule {
  std::string_view name;     // without the prefix
  std::string_view parents;  // elements in which it is allowed
  std::string_view attributes;
  bool open = false;  // further attributes are allowed: they are its parameters
};

constexpr std::string_view placed = "volvox:module volvox:population include";
constexpr std::string_view in_model = "model gazebo";

constexpr ElementRule rules[] = {
    {"hull", "geometry", "mesh"},
    {"motor", in_model, "joint kp kd"},
    {"flush", in_model, "joint friction radius preload"},
    {"dock", in_model,
     "name link pose gender kind symmetry capture_distance capture_angle latch_time pull_speed axial shear bending "
     "torsion load_time extension extension_mass extension_radius enabled"},
    {"latch", in_model, "dock travel speed force friction hold depth jam_distance jam_angle"},
    {"sensor", in_model, "name type link pose", true},
    {"actuator", in_model, "name type link pose", true},
    {"magnet", in_model, "name link pose strength size range"},
    {"wire", in_model, "dock bit_rate delay timing capacity queue largest_payload overhead"},
    {"radio", in_model,
     "name link pose channel power gain bit_rate bandwidth noise_factor receive_threshold carrier_threshold "
     "capture_ratio window largest_window slot queue largest_payload overhead acknowledge turnaround timeout retries "
     "modulation pulse spread repairs"},
    {"bus", in_model, "name kind scope bit_rate stuffing queue largest_payload master"},
    {"driven", in_model, ""},
    {"percept", in_model, "name"},
    {"action", in_model, "name"},
    {"message", in_model, "dock"},
    {"noise", "volvox:percept volvox:action volvox:message", "type", true},
    {"mind", "model gazebo volvox:module volvox:population include", "behavior base"},
    {"behavior", "volvox:mind", "name"},
    {"parameter", "volvox:mind volvox:behavior", "name value"},
    {"parameter", "world", "name value min max whole choices"},
    {"run", "world", "duration dt substep engine"},
    {"channel", "world",
     "name frequency propagation exponent reference_distance absorption shadowing_db fading cull_radius passes_bodies",
     true},
    {"extension", "world", "name", true},
    {"module", "world", "name robot pose velocity"},
    {"joint", placed, "name position"},
    {"clock", placed, "offset drift_ppm"},
    {"clocks", "world", "offset drift_ppm"},
    {"connect", "world", "from to turn"},
    {"fluid", "world", "spacing density viscosity surface_tension color"},
    {"debris", "world", "radius spread density friction color seed"},
    {"cloth", "world",
     "pose width height columns rows density friction thickness stretch shear bend strength pins color"},
    {"particles", "world", "low high substep heap_layers rolling_resistance air_drag"},
    {"volume", "volvox:fluid volvox:debris", "pose size mesh scale velocity"},
    {"emitter", "volvox:fluid volvox:debris", "pose radius speed start stop most"},
    {"drain", "volvox:particles", "pose size"},
    {"population", "world",
     "name type robot count pose velocity from to turn count_x count_y count_z spacing_x spacing_y spacing_z jitter "
     "random_yaw seed lattice cells program pitch motion motion_ticks connected capacity radio_range"},
    {"dynamics", "volvox:population",
     "ground mass friction restitution drag axial shear bending torsion hit_speed give push back rest_speed rest_time "
     "place"},
    {"release", "volvox:dynamics", "low high velocity at"},
};

bool holds(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t space = words.find(' ');
    if (words.substr(0, space) == word) return true;
    words.remove_prefix(space == std::string_view::npos ? words.size() : space + 1);
  }
  return false;
}

void check_attributes(const XMLElement& element, const ElementRule& rule, Report& report) {
  for (const tinyxml2::XMLAttribute* a = element.FirstAttribute(); a != nullptr; a = a->Next()) {
    if (rule.open || holds(rule.attributes, a->Name()) || std::string_view(a->Name()).starts_with("xmlns")) continue;
    report.error(element, fmt::format("<{}> has no attribute {}=", element.Name(), a->Name()),
                 suggest(a->Name(), split_words(rule.attributes)));
  }
}

void check_our_element(const XMLElement& element, Report& report) {
  const std::string_view name = std::string_view(element.Name()).substr(std::string_view("volvox:").size());
  const XMLElement* parent = element.Parent() != nullptr ? element.Parent()->ToElement() : nullptr;
  const std::string_view parent_name = parent != nullptr ? parent->Name() : "the file itself";
  std::vector<std::string> names;
  std::string homes;
  for (const ElementRule& rule : rules) {
    if (rule.name == name && holds(rule.parents, parent_name)) return check_attributes(element, rule, report);
    if (rule.name == name) {
      for (const std::string& home : split_words(rule.parents)) homes += (homes.empty() ? "<" : ", <") + home + ">";
    }
    names.push_back("volvox:" + std::string(rule.name));
  }
  if (!homes.empty()) {
    report.error(element, fmt::format("<{}> cannot stand in <{}>", element.Name(), parent_name),
                 "move it into " + homes);
  } else {
    names.erase(std::unique(names.begin(), names.end()), names.end());
    report.error(element, fmt::format("there is no element <{}>", element.Name()), suggest(element.Name(), names));
  }
}

}  // namespace

void check_our_elements(const XMLElement& root, Report& report) {
  const bool ours = is_ours(root.Name());
  if (ours) {
    check_our_element(root, report);
  } else {
    for (const tinyxml2::XMLAttribute* a = root.FirstAttribute(); a != nullptr; a = a->Next()) {
      if (is_ours(a->Name())) {
        report.error(root, fmt::format("there is no attribute {}", a->Name()),
                     "leave it out; the extensions of Volvox are elements, not attributes");
      }
    }
  }
  for (const XMLElement* child = root.FirstChildElement(); child != nullptr; child = child->NextSiblingElement()) {
    if (ours && !is_ours(child->Name())) {
      report.error(*child, fmt::format("<{}> cannot stand in <{}>", child->Name(), root.Name()), "move or remove it");
      continue;
    }
    check_our_elements(*child, report);
  }
}

void check_mass(const XMLElement& at, const std::string& link, double mass, Report& report) {
  if (mass > 0 && std::isfinite(mass)) return;
  report.error(at, fmt::format("the mass of link {} is {}", link, mass),
               "give <mass> a positive number of kg; for a body that does not move write <static>true</static>");
}

void check_inertia(const XMLElement& at, const std::string& link, const Inertia& inertia, Report& report) {
  const Vec3 moments = principal_axes(inertia).moments;
  if (is_physical(moments)) return;
  report.error(
      at,
      fmt::format("no body can have the inertia of link {}: its principal moments are {:.4g}, {:.4g} and {:.4g}", link,
                  moments.x, moments.y, moments.z),
      "make all three positive, and none larger than the sum of the other two; for a box of mass m, "
      "ixx = m (y^2 + z^2) / 12");
}

namespace {

struct NumberRule {
  std::string_view name, parents;  // parents: empty for any
  std::size_t count, other_count;  // allowed numbers of values; other_count 0: only `count`
  enum Kind { any, positive, may_be_infinite, color, direction } kind;
};

constexpr NumberRule number_rules[] = {
    {"mass", "inertial", 1, 0, NumberRule::any},  // its sign is checked by check_mass
    {"ixx", "", 1, 0, NumberRule::any},
    {"iyy", "", 1, 0, NumberRule::any},
    {"izz", "", 1, 0, NumberRule::any},
    {"ixy", "", 1, 0, NumberRule::any},
    {"ixz", "", 1, 0, NumberRule::any},
    {"iyz", "", 1, 0, NumberRule::any},
    {"size", "box heightmap", 3, 0, NumberRule::positive},
    {"size", "plane", 2, 0, NumberRule::positive},
    {"radius", "", 1, 0, NumberRule::positive},
    {"length", "", 1, 0, NumberRule::positive},
    {"radii", "", 3, 0, NumberRule::positive},
    {"scale", "mesh", 3, 0, NumberRule::any},
    {"pos", "heightmap", 3, 0, NumberRule::any},
    {"normal", "plane", 3, 0, NumberRule::direction},
    {"xyz", "", 3, 0, NumberRule::direction},
    {"gravity", "world", 3, 0, NumberRule::any},
    {"lower", "", 1, 0, NumberRule::may_be_infinite},
    {"upper", "", 1, 0, NumberRule::may_be_infinite},
    {"effort", "", 1, 0, NumberRule::may_be_infinite},
    {"velocity", "limit", 1, 0, NumberRule::may_be_infinite},
    {"damping", "dynamics", 1, 0, NumberRule::any},
    {"friction", "dynamics", 1, 0, NumberRule::any},
    {"mu", "ode", 1, 0, NumberRule::any},
    {"mu2", "ode", 1, 0, NumberRule::any},
    {"restitution_coefficient", "", 1, 0, NumberRule::any},
    {"diffuse", "", 4, 3, NumberRule::color},
    {"ambient", "", 4, 3, NumberRule::color},
    {"specular", "", 4, 3, NumberRule::color},
    {"emissive", "", 4, 3, NumberRule::color},
    {"transparency", "visual", 1, 0, NumberRule::any},
};

void check_numbers(const XMLElement& element, const NumberRule& rule, Report& report) {
  const std::string text = text_of(&element);
  const auto values = parse_numbers(text);
  const auto finite_value = [&](double x) { return rule.kind == NumberRule::may_be_infinite || std::isfinite(x); };
  if (!values || !std::all_of(values->begin(), values->end(), finite_value)) {
    return report.error(
        element, fmt::format("<{}> holds \"{}\", which is not a number", element.Name(), text),
        fmt::format("write {} finite number{}", rule.count, rule.count == 1 ? "" : "s, separated by spaces"));
  }
  if (values->size() != rule.count && (rule.other_count == 0 || values->size() != rule.other_count)) {
    return report.error(element, fmt::format("<{}> holds {} numbers", element.Name(), values->size()),
                        fmt::format("write {} of them", rule.count));
  }
  if (rule.kind == NumberRule::positive &&
      std::any_of(values->begin(), values->end(), [](double x) { return x <= 0; })) {
    report.error(element, fmt::format("<{}> holds \"{}\", which is not positive", element.Name(), text),
                 "give a positive size in m");
  }
  if (rule.kind == NumberRule::color &&
      std::any_of(values->begin(), values->end(), [](double x) { return x < 0 || x > 1; })) {
    report.error(element, fmt::format("<{}> holds \"{}\", which is not a colour", element.Name(), text),
                 "give red, green, blue and opacity as numbers from 0 to 1");
  }
  if (rule.kind == NumberRule::direction &&
      std::all_of(values->begin(), values->end(), [](double x) { return std::fabs(x) < 1e-9; })) {
    report.error(element, fmt::format("<{}> holds \"{}\", which is no direction", element.Name(), text),
                 "give a vector that is not zero, such as 0 0 1");
  }
}

void check_pose(const XMLElement& element, Report& report) {
  const std::string text = text_of(&element);
  if (text.empty()) return;  // in SDF an empty <pose> is the identity
  const bool quaternion =
      std::string_view(element.Attribute("rotation_format") != nullptr ? element.Attribute("rotation_format") : "") ==
      "quat_xyzw";
  check_numbers(element, {"pose", "", quaternion ? std::size_t{7} : std::size_t{6}, 0, NumberRule::any}, report);
}

void check_unique_names(const XMLElement& parent, std::initializer_list<const char*> kinds, Report& report) {
  std::set<std::string> names;
  for (const char* kind : kinds) {
    for (const XMLElement* element : children(parent, kind)) {
      const char* name = element->Attribute("name");
      if (name != nullptr && *name != 0 && !names.insert(name).second) {
        report.error(*element, fmt::format("the name {} of this <{}> is taken already", name, kind),
                     fmt::format("give each link, joint and shape of <{}> its own name", parent.Name()));
      }
    }
  }
}

double number_in(const XMLElement* parent, const char* name, double fallback) {
  const XMLElement* element = parent != nullptr ? parent->FirstChildElement(name) : nullptr;
  return element != nullptr ? parse_number(text_of(element)).value_or(fallback) : fallback;
}

bool is_true(const XMLElement* element) { return text_of(element) == "true" || text_of(element) == "1"; }

void check_link(const XMLElement& link, bool is_static, Report& report) {
  check_unique_names(link, {"collision"}, report);
  check_unique_names(link, {"visual"}, report);
  const std::string name = link.Attribute("name") != nullptr ? link.Attribute("name") : "";
  const XMLElement* inertial = link.FirstChildElement("inertial");
  if (is_static) return;
  if (inertial == nullptr) {
    return report.error(
        link, fmt::format("link {} has no <inertial>", name),
        "give it <inertial> with <mass> and <inertia>; for a body that does not move write <static>true</static>");
  }
  const XMLElement* mass = inertial->FirstChildElement("mass");
  const XMLElement* inertia = inertial->FirstChildElement("inertia");
  if (mass == nullptr || inertia == nullptr) {
    return report.error(*inertial,
                        fmt::format("the <inertial> of link {} lacks <{}>", name, mass == nullptr ? "mass" : "inertia"),
                        "give both <mass> and <inertia> (ixx, iyy, izz)");
  }
  check_mass(*mass, name, number_in(inertial, "mass", 1), report);
  for (const char* moment : {"ixx", "iyy", "izz"}) {
    if (inertia->FirstChildElement(moment) == nullptr) {
      return report.error(*inertia, fmt::format("the <inertia> of link {} lacks <{}>", name, moment),
                          "give ixx, iyy and izz");
    }
  }
  check_inertia(*inertia, name,
                {number_in(inertia, "ixx", 1), number_in(inertia, "iyy", 1), number_in(inertia, "izz", 1),
                 number_in(inertia, "ixy", 0), number_in(inertia, "ixz", 0), number_in(inertia, "iyz", 0)},
                report);
}

void check_model(const XMLElement& model, Report& report) {
  check_unique_names(model, {"link", "joint", "frame"}, report);
  for (const char* nested : {"model", "include"}) {
    if (const XMLElement* element = model.FirstChildElement(nested)) {
      report.error(
          *element, fmt::format("<{}> inside of <model> is not supported", nested),
          "put all links and joints into one <model>, or place two models in a world and <volvox:connect> them");
    }
  }
  static constexpr std::string_view joint_types =
      "revolute continuous prismatic fixed ball universal revolute2 screw gearbox";
  for (const XMLElement* joint : children(model, "joint")) {
    const std::string type = joint->Attribute("type") != nullptr ? joint->Attribute("type") : "";
    if (!holds(joint_types, type)) {
      report.error(*joint, fmt::format("there is no joint of type \"{}\"", type),
                   suggest(type, split_words(joint_types)));
    }
  }
  const bool is_static = is_true(model.FirstChildElement("static"));
  for (const XMLElement* link : children(model, "link")) check_link(*link, is_static, report);
}

}  // namespace

void check_standard_elements(const XMLElement& root, Report& report) {
  const std::string_view name = root.Name();
  // We read nothing of these; sdformat checks them.
  if (is_ours(name) || holds("plugin gui scene light physics state actor sensor wind atmosphere", name)) return;
  // If a name is missing, sdformat takes the file for a URDF and prints a confusing message.
  if (holds("world model link joint frame collision visual", name) &&
      (root.Attribute("name") == nullptr || split_words(root.Attribute("name")).empty())) {
    report.error(root, fmt::format("this <{}> has no name", name), "add name=\"...\"");
  }
  if (name == "model") check_model(root, report);
  if (name == "pose") check_pose(root, report);
  if (root.FirstChildElement() == nullptr) {
    const XMLElement* parent = root.Parent() != nullptr ? root.Parent()->ToElement() : nullptr;
    for (const NumberRule& rule : number_rules) {
      if (rule.name == name && (rule.parents.empty() || (parent != nullptr && holds(rule.parents, parent->Name())))) {
        check_numbers(root, rule, report);
      }
    }
  }
  for (const XMLElement* child = root.FirstChildElement(); child != nullptr; child = child->NextSiblingElement()) {
    check_standard_elements(*child, report);
  }
}

}  // namespace volvox::model
