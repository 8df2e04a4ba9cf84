#include "volvox/model/urdf.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "volvox/base/text.h"
#include "volvox/model/schema.h"

namespace volvox::model {
namespace {

struct UrdfJoint {
  const XMLElement* element = nullptr;
  std::string name, type, parent, child;
  Pose origin;
};

Pose read_origin(const XMLElement& parent, Report& report) {
  const XMLElement* origin = parent.FirstChildElement("origin");
  if (origin == nullptr) return {};
  const Attributes attributes(*origin, report);
  const auto xyz = attributes.numbers("xyz", 3), rpy = attributes.numbers("rpy", 3);
  Pose pose;
  if (xyz) pose.position = {(*xyz)[0], (*xyz)[1], (*xyz)[2]};
  if (rpy) pose.rotation = Quat::rpy((*rpy)[0], (*rpy)[1], (*rpy)[2]);
  return pose;
}

void check_shapes(const XMLElement& link, Report& report) {
  for (const char* kind : {"collision", "visual"}) {
    for (const XMLElement* part : children(link, kind)) {
      read_origin(*part, report);
      const XMLElement* geometry = part->FirstChildElement("geometry");
      const XMLElement* shape = geometry != nullptr ? geometry->FirstChildElement() : nullptr;
      if (shape == nullptr) {
        report.error(*part, fmt::format("this <{}> has no shape", kind),
                     "give it <geometry> with a box, cylinder, sphere or mesh");
        continue;
      }
      const Attributes attributes(*shape, report);
      const std::string_view name = shape->Name();
      if (name == "box") {
        if (!attributes.required("size").empty()) attributes.numbers("size", 3);
      } else if (name == "cylinder" || name == "sphere" || name == "capsule") {
        attributes.required_number("radius", Range::positive());
        if (name != "sphere") attributes.required_number("length", Range::positive());
      } else if (name == "mesh") {
        attributes.required("filename");
        attributes.numbers("scale", 3);
      } else {
        report.error(*shape, fmt::format("there is no shape <{}>", name), "use a box, cylinder, sphere or mesh");
      }
    }
  }
}

// Whether the link has a mass.
bool check_link(const XMLElement& link, const std::string& name, Report& report) {
  check_shapes(link, report);
  const XMLElement* inertial = link.FirstChildElement("inertial");
  if (inertial == nullptr) return false;
  read_origin(*inertial, report);
  const XMLElement* mass = inertial->FirstChildElement("mass");
  const XMLElement* inertia = inertial->FirstChildElement("inertia");
  if (mass == nullptr || inertia == nullptr) {
    report.error(*inertial,
                 fmt::format("the <inertial> of link {} lacks <{}>", name, mass == nullptr ? "mass" : "inertia"),
                 "give both <mass value=> and <inertia ixx= ...>");
    return true;
  }
  check_mass(*mass, name, Attributes(*mass, report).required_number("value", Range::any()), report);
  const Attributes moments(*inertia, report);
  const auto moment = [&](const char* which) { return moments.required_number(which, Range::any()); };
  const Inertia tensor{moment("ixx"), moment("iyy"), moment("izz"), moment("ixy"), moment("ixz"), moment("iyz")};
  if (report.ok()) check_inertia(*inertia, name, tensor, report);
  return true;
}

void check_limit(const UrdfJoint& joint, Report& report) {
  if (joint.type != "revolute" && joint.type != "prismatic") return;
  const XMLElement* limit = joint.element->FirstChildElement("limit");
  if (limit == nullptr) {
    return report.error(*joint.element, fmt::format("joint {} has no <limit>", joint.name),
                        "give it <limit lower= upper= effort= velocity=>, or make it continuous");
  }
  const Attributes attributes(*limit, report);
  const double lower = attributes.number("lower", 0, Range::any()), upper = attributes.number("upper", 0, Range::any());
  if (lower > upper) {  // sdformat would swap them silently
    report.error(
        *limit, fmt::format("the lower limit {} of joint {} is above the upper one, {}", lower, joint.name, upper),
        attributes.has("lower") && attributes.has("upper") ? "swap lower= and upper="
                                                           : "give both lower= and upper=; one that is left out is 0");
  }
  attributes.required_number("effort", Range::any());
  attributes.required_number("velocity", Range::any());
}

UrdfJoint read_joint(const XMLElement& element, const std::set<std::string>& links, Report& report) {
  UrdfJoint joint;
  joint.element = &element;
  const Attributes attributes(element, report);
  joint.name = attributes.required("name");
  joint.type = attributes.required("type");
  joint.origin = read_origin(element, report);
  const std::vector<std::string> types{"revolute", "continuous", "prismatic", "fixed", "floating", "planar"};
  if (!joint.type.empty() && std::find(types.begin(), types.end(), joint.type) == types.end()) {
    report.error(element, fmt::format("joint {} has the unknown type {}", joint.name, joint.type),
                 suggest(joint.type, types));
  } else if (joint.type == "floating" || joint.type == "planar") {
    report.error(element, fmt::format("joint {}: joints of type {} are not supported", joint.name, joint.type),
                 "use revolute, continuous, prismatic or fixed; a module floats by itself");
  }
  for (const char* end : {"parent", "child"}) {
    const XMLElement* link = element.FirstChildElement(end);
    const std::string name = link != nullptr ? Attributes(*link, report).required("link") : std::string();
    if (link == nullptr) {
      report.error(element, fmt::format("joint {} has no <{}>", joint.name, end),
                   fmt::format("add <{} link=\"...\"/>", end));
    } else if (!name.empty() && !links.contains(name)) {
      report.error(*link, fmt::format("joint {}: there is no link {}", joint.name, name),
                   suggest(name, {links.begin(), links.end()}));
    }
    (std::string_view(end) == "parent" ? joint.parent : joint.child) = name;
  }
  if (const XMLElement* axis = element.FirstChildElement("axis")) {
    const auto xyz = Attributes(*axis, report).numbers("xyz", 3);
    if (xyz && !(length(Vec3{(*xyz)[0], (*xyz)[1], (*xyz)[2]}) > 1e-9) && joint.type != "fixed")
      report.error(*axis, fmt::format("the axis of joint {} has no direction", joint.name),
                   "give xyz= a vector that is not zero");
  }
  check_limit(joint, report);
  if (const XMLElement* mimic = element.FirstChildElement("mimic")) {
    report.warn(*mimic, fmt::format("<mimic> of joint {} is ignored: the joint moves freely", joint.name),
                "let the behavior command both joints");
  }
  return joint;
}

// Checks that all links form one tree; sdformat's reader would only print a message and stop.
void check_tree(const XMLElement& robot, const std::set<std::string>& links, const std::vector<UrdfJoint>& joints,
                Report& report) {
  std::map<std::string, std::string> parent;
  for (const UrdfJoint& joint : joints) {
    if (!parent.emplace(joint.child, joint.parent).second) {
      report.error(*joint.element, fmt::format("link {} is the child of two joints", joint.child),
                   "a URDF is a tree: keep one of them");
    }
  }
  std::vector<std::string> roots;
  for (const std::string& link : links) {
    if (!parent.contains(link)) roots.push_back(link);
    std::set<std::string> seen{link};
    for (auto up = parent.find(link); up != parent.end(); up = parent.find(up->second)) {
      if (seen.insert(up->second).second) continue;
      return report.error(robot, fmt::format("the joints above link {} form a loop", link),
                          "a URDF is a tree: remove one joint");
    }
  }
  if (roots.size() > 1) {
    report.error(robot, fmt::format("links {} and {} are not connected", roots[0], roots[1]),
                 "connect all links by joints, which may be fixed");
  }
}

}  // namespace

PreparedUrdf prepare_urdf(const std::string& text, const XMLElement& robot, Report& report) {
  PreparedUrdf result;
  if (Attributes(robot, report).required("name").empty()) return result;
  std::set<std::string> links, massless;
  for (const XMLElement* link : children(robot, "link")) {
    const std::string name = Attributes(*link, report).required("name");
    if (!name.empty() && !links.insert(name).second)
      report.error(*link, fmt::format("there are two links named {}", name), "rename one");
    if (!check_link(*link, name, report)) massless.insert(name);
  }
  if (links.empty()) report.error(robot, "the robot has no link", "give it at least one <link> with <inertial>");
  std::vector<UrdfJoint> joints;
  std::set<std::string> joint_names;
  for (const XMLElement* element : children(robot, "joint")) {
    joints.push_back(read_joint(*element, links, report));
    if (!joint_names.insert(joints.back().name).second) {
      report.error(*element, fmt::format("there are two joints named {}", joints.back().name), "rename one");
    }
  }
  check_tree(robot, links, joints, report);
  if (!report.ok()) return result;

  std::string keep;
  std::set<std::string> fixed_to_mass;  // massless links that may merge
  for (const UrdfJoint& joint : joints) {
    if (joint.type != "fixed") continue;
    if (!massless.contains(joint.parent) && !massless.contains(joint.child)) {
      keep += fmt::format("<gazebo reference=\"{}\"><preserveFixedJoint>true</preserveFixedJoint></gazebo>",
                          xml_escaped(joint.name));
      continue;
    }
    fixed_to_mass.insert(joint.parent);
    fixed_to_mass.insert(joint.child);
    result.merged[joint.child] = {joint.parent, joint.origin};
    report.warn(*joint.element,
                fmt::format("links {} and {} become one, because one of them has no mass", joint.parent, joint.child),
                "give both an <inertial> if the load of the fixed joint matters");
  }
  for (const XMLElement* link : children(robot, "link")) {
    const std::string name = link->Attribute("name");
    if (massless.contains(name) && !fixed_to_mass.contains(name)) {
      report.error(*link, fmt::format("link {} has no <inertial>", name), "give it <inertial> with a positive mass");
    }
  }
  result.text = text;
  blank_elements(result.text, [](std::string_view name, std::string_view) { return is_ours(name); });
  const std::size_t end = result.text.rfind("</robot");
  if (end != std::string::npos) result.text.insert(end, keep);
  return result;
}

}  // namespace volvox::model
