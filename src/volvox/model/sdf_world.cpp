// Reads worlds: the children of <world> become calls of WorldBuilder, in the order of the file.
#include <fmt/format.h>
#include <sdf/World.hh>

#include <algorithm>
#include <cmath>
#include <set>

#include "volvox/base/index.h"
#include "volvox/base/text.h"
#include "volvox/model/parameters.h"
#include "volvox/model/reader.h"
#include "volvox/model/schema.h"
#include "volvox/model/sdf_bridge.h"
#include "volvox/model/sdf_matter.h"
#include "volvox/model/sdf_model.h"
#include "volvox/model/world_builder.h"

namespace volvox::model {
namespace {

namespace fs = std::filesystem;

class WorldReader {
 public:
  WorldReader(const XMLElement& world, const sdf::World& from, const fs::path& file,
              const std::map<std::string, std::string>& values, ModelLibrary& library, Report& report)
      : element_(world),
        sdf_(from),
        folder_(file.parent_path()),
        values_(values),
        library_(library),
        report_(report),
        builder_(from.Name(), report.file()),
        matter_(file.parent_path(), library, report) {}

  Result<WorldModel> read() {
    builder_.set_gravity(to_vec(sdf_.Gravity()));
    for (const XMLElement* e = element_.FirstChildElement(); e != nullptr; e = e->NextSiblingElement()) read_child(*e);
    // Last, because a connection may come before its modules in the file.
    for (const XMLElement* e : children(element_, "volvox:connect")) read_connect(*e);
    if (!report_.ok()) return report_.error();
    Result<WorldModel> world = builder_.build();
    if (!world.ok()) return world;
    world->plugins = std::move(plugins_);
    world->matter = matter_.matter();
    return world;
  }

 private:
  void read_child(const XMLElement& e) {
    const std::string_view name = e.Name();
    if (name == "model") read_inline_model(e);
    else if (name == "include") read_include(e);
    else if (name == "volvox:module") read_module(e);
    else if (name == "volvox:population") read_population(e);
    else if (name == "volvox:run") read_run(e);
    else if (name == "volvox:channel") read_channel(e);
    else if (name == "volvox:clocks") read_clocks(e);
    else if (name == "plugin") read_plugin(e, plugins_, report_);
    else if (name == "volvox:extension") read_extension(e);
    else if (matter_.read(e)) return;
    else if (name == "actor") report_.warn(e, "actors are ignored", "use a <model> with a <volvox:mind>");
    else if (name == "physics")
      report_.warn(e, "<physics> is ignored", "use <volvox:run dt= substep=>, and --engine NAME");
    else if (name == "joint")
      report_.error(e, "joints between models are not supported", "use docks and <volvox:connect>");
  }

  PlacementOptions options_of(const XMLElement& e) {
    PlacementOptions options;
    options.file = report_.file();
    options.line = e.GetLineNum();
    if (const auto v = Attributes(e, report_).numbers("velocity", 6)) {
      options.velocity = {{(*v)[0], (*v)[1], (*v)[2]}, {(*v)[3], (*v)[4], (*v)[5]}};
    }
    for (const XMLElement* joint : children(e, "volvox:joint")) {
      const Attributes attributes(*joint, report_);
      const std::string name = attributes.required("name");
      if (!options.positions.emplace(name, attributes.required_number("position", Range::any())).second) {
        report_.error(*joint, fmt::format("the position of joint {} is given twice", name), "keep one of them");
      }
    }
    options.mind = read_mind(e, report_);
    if (const XMLElement* second = e.FirstChildElement("volvox:mind");
        second != nullptr && (second = second->NextSiblingElement("volvox:mind")) != nullptr) {
      report_.error(*second, "there are two minds here", "keep one <volvox:mind>");
    }
    if (const XMLElement* clock = e.FirstChildElement("volvox:clock")) {
      const Attributes attributes(*clock, report_);
      options.clock =
          Clock{attributes.number("offset", 0, Range::any()), attributes.number("drift_ppm", 0, Range::any())};
    }
    return options;
  }

  // Null after an error, which is reported once per name.
  Model load(const std::string& name, const XMLElement& at) {
    const auto [it, is_new] = models_.try_emplace(name);
    if (!is_new) return it->second;
    const Result<Model> model = library_.load(name, folder_, &report_.warnings());
    if (model.ok()) return it->second = *model;
    for (Diagnostic d : model.error().diagnostics()) {
      if (d.file.empty()) {
        d.file = report_.file();
        d.line = at.GetLineNum();
      }
      report_.error(Error(std::move(d)));
    }
    return nullptr;
  }

  void read_module(const XMLElement& e) {
    const Attributes attributes(e, report_);
    const std::string name = attributes.required("name"), robot = attributes.required("robot");
    const std::optional<Pose> pose = attributes.pose("pose");
    const PlacementOptions options = options_of(e);
    if (name.empty() || robot.empty()) return;
    if (const Model model = load(robot, e)) builder_.add(model, pose, name, options);
  }

  void read_inline_model(const XMLElement& e) {
    const std::string name = Attributes(e, report_).required("name");
    const sdf::Model* from = sdf_.ModelByName(name);
    if (from == nullptr)
      return report_.error(e, fmt::format("sdformat does not find the model {}", name), "give each model its own name");
    auto model = std::make_shared<ModuleModel>(convert_model(*from, {e, folder_, library_, nullptr}, report_));
    ignition::math::Pose3d pose;
    report_sdf_errors(from->SemanticPose().Resolve(pose), e, report_);
    PlacementOptions options;
    options.file = report_.file();
    options.line = e.GetLineNum();
    if (report_.ok()) builder_.add(std::move(model), to_pose(pose), name, options);
  }

  void read_include(const XMLElement& e) {
    for (const XMLElement* child = e.FirstChildElement(); child != nullptr; child = child->NextSiblingElement()) {
      const std::string_view kind = child->Name();
      if (kind == "uri" || kind == "name" || kind == "pose" || kind == "static" || is_ours(kind)) continue;
      report_.error(*child, fmt::format("<{}> in an <include> is not supported", kind),
                    "use uri, name, pose and static only");
    }
    const std::string uri = text_of(e.FirstChildElement("uri"));
    if (uri.empty()) return report_.error(e, "this <include> has no <uri>", "name the model: <uri>model://NAME</uri>");
    const PlacementOptions options = options_of(e);
    Model model = load(uri, e);
    if (model == nullptr) return;
    const std::string name = text_of(e.FirstChildElement("name"));
    const std::optional<Pose> pose = pose_in(e);
    if (const XMLElement* fixed = e.FirstChildElement("static")) {
      const std::string text = text_of(fixed);
      if (text != "true" && text != "1" && text != "false" && text != "0") {
        report_.error(*fixed, fmt::format("<static> holds \"{}\"", text), "write true or false");
      }
      model = with_static(*fixed, model, text == "true" || text == "1");
    }
    builder_.add(model, pose.value_or(model->default_pose), name.empty() ? model->name : name, options);
  }

  std::optional<Pose> pose_in(const XMLElement& include) {
    const XMLElement* e = include.FirstChildElement("pose");
    if (e == nullptr) return std::nullopt;
    if (e->Attribute("relative_to") != nullptr && *e->Attribute("relative_to") != 0) {
      report_.error(*e, "<pose relative_to=> of an <include> is not supported",
                    "give the pose in the frame of the world");
    }
    // check_standard_elements has checked its numbers.
    const auto numbers = parse_numbers(text_of(e)).value_or(std::vector<double>());
    const bool in_degrees = Attributes(*e, report_).flag("degrees", false);
    if (numbers.size() == 7) {
      return Pose{{numbers[0], numbers[1], numbers[2]},
                  normalized(Quat{numbers[6], numbers[3], numbers[4], numbers[5]})};
    }
    if (numbers.size() != 6) return Pose{};
    const double unit = in_degrees ? radians(1) : 1;
    return pose_of({numbers[0], numbers[1], numbers[2], numbers[3] * unit, numbers[4] * unit, numbers[5] * unit});
  }

  // A model can be made static here, but not the reverse: a static model may lack masses, and its meshes were not
  // converted into hulls.
  Model with_static(const XMLElement& at, const Model& model, bool fixed) {
    if (model->fixed_in_place == fixed) return model;
    if (!fixed) {
      report_.error(at, fmt::format("{} is static in its own file and cannot be made movable here", model->name),
                    "remove <static>true</static> from the model's file, and give its links mass and inertia there");
      return model;
    }
    Model& variant = variants_[model];
    if (variant == nullptr) {
      auto copy = std::make_shared<ModuleModel>(*model);
      copy->fixed_in_place = fixed;
      variant = std::move(copy);
    }
    return variant;
  }

  void read_population(const XMLElement& e) {
    const Attributes attributes(e, report_);
    if (attributes.text("type") == "cells") return;  // cell_population.h
    if (const XMLElement* dynamics = e.FirstChildElement("volvox:dynamics"))
      report_.error(*dynamics, "only a population of cells has <volvox:dynamics>: modules always are in dynamics",
                    R"(leave it out, or give type="cells")");
    const std::string name = attributes.required("name"), robot = attributes.required("robot");
    const std::string type = attributes.required("type");
    const std::optional<Pose> pose = attributes.pose("pose");
    const PlacementOptions options = options_of(e);
    const bool linked = type == "chain" || type == "ring", spread = type == "grid" || type == "lattice";
    if (!type.empty() && !linked && !spread) {
      return report_.error(e, fmt::format("there is no population of type {}", type),
                           suggest(type, {"chain", "ring", "grid", "lattice", "cells"}));
    }
    refuse(e, type,
           linked ? std::vector<const char*>{"count_x", "count_y", "count_z", "spacing_x", "spacing_y", "spacing_z",
                                             "jitter", "random_yaw", "seed"}
                  : std::vector<const char*>{"count", "from", "to", "turn"});
    const std::int64_t count = linked ? required_count(e, "count") : 0;
    const std::string from = linked ? attributes.required("from") : std::string(),
                      to = linked ? attributes.required("to") : std::string();
    const int turn = narrow<int>(attributes.integer("turn", 0, -360, 360));
    const GridOptions grid = spread ? grid_of(e) : GridOptions{};
    if (name.empty() || robot.empty() || type.empty() || !report_.ok()) return;
    const Model model = load(robot, e);
    if (model == nullptr) return;
    if (type == "chain") builder_.add_chain(model, count, from, to, turn, pose, name, options);
    else if (type == "ring") builder_.add_ring(model, count, from, to, turn, pose, name, options);
    else if (type == "grid") builder_.add_grid(model, grid, pose.value_or(Pose{}), name, options);
    else builder_.add_lattice(model, grid, pose.value_or(Pose{}), name, options);
    if (!options.mind || !uses_index(*options.mind)) return;
    const std::int64_t all = linked ? count : std::int64_t{grid.count_x} * grid.count_y * grid.count_z;
    for (std::int64_t i = 0; i < all && report_.ok(); ++i)
      if (const int module = builder_.find(name + std::to_string(i)); module >= 0)
        expand_index(*builder_.placement(module).mind, i, values_, report_);
  }

  void refuse(const XMLElement& e, const std::string& type, const std::vector<const char*>& names) {
    for (const char* name : names) {
      if (e.Attribute(name) != nullptr)
        report_.error(e, fmt::format("a {} has no {}=", type, name), "leave it out, or change type=");
    }
  }

  std::int64_t required_count(const XMLElement& e, const char* name) {
    const Attributes attributes(e, report_);
    return attributes.required(name).empty() ? 1 : attributes.integer(name, 1, 1, WorldBuilder::max_count);
  }

  GridOptions grid_of(const XMLElement& e) {
    const Attributes attributes(e, report_);
    GridOptions grid;
    grid.count_x = narrow<int>(required_count(e, "count_x"));
    grid.count_y = narrow<int>(attributes.integer("count_y", 1, 1, WorldBuilder::max_count));
    grid.count_z = narrow<int>(attributes.integer("count_z", 1, 1, WorldBuilder::max_count));
    // Along an axis with one module the spacing may be left out.
    const auto spacing = [&](const char* attribute, int count) {
      return count > 1 ? attributes.required_number(attribute, Range::positive())
                       : attributes.number(attribute, 0, Range::positive());
    };
    grid.spacing = {spacing("spacing_x", grid.count_x), spacing("spacing_y", grid.count_y),
                    spacing("spacing_z", grid.count_z)};
    grid.jitter = attributes.number("jitter", 0, Range::not_negative());
    grid.random_yaw = attributes.flag("random_yaw", false);
    grid.seed = attributes.integer("seed", 1, 0, std::numeric_limits<std::int64_t>::max());
    return grid;
  }

  void read_connect(const XMLElement& e) {
    const Attributes attributes(e, report_);
    const std::string from = attributes.required("from"), to = attributes.required("to");
    const int turn = narrow<int>(attributes.integer("turn", 0, -360, 360));
    // After an error, such as a missing model, connections would only repeat it.
    if (!from.empty() && !to.empty() && report_.ok()) builder_.connect(from, to, turn, report_.file(), e.GetLineNum());
  }

  void read_run(const XMLElement& e) {
    if (has_run_) report_.error(e, "there are two <volvox:run>", "keep one");
    has_run_ = true;
    const Attributes attributes(e, report_);
    RunSettings run;
    run.duration = Time::seconds(attributes.number("duration", run.duration.seconds(), Range::between(0, 1e9)));
    if (attributes.has("dt")) {
      if (const auto dt = length_of(e, "dt")) run.dt = *dt;
    }
    if (attributes.has("substep")) {
      if (const auto substep = length_of(e, "substep")) run.max_substep = substep->seconds();
    }
    run.engine = attributes.text("engine");
    run.line = e.GetLineNum();
    builder_.set_run(run);
  }

  void read_clocks(const XMLElement& e) {
    if (has_clocks_) report_.error(e, "there are two <volvox:clocks>", "keep one");
    has_clocks_ = true;
    const Attributes attributes(e, report_);
    builder_.set_clocks({attributes.number("offset", 0, Range::between(0, 1e9)),
                         attributes.number("drift_ppm", 0, Range::between(0, 1e5))});
  }

  void read_channel(const XMLElement& e) {
    const Attributes attributes(e, report_);
    Channel channel;
    channel.name = attributes.required("name");
    channel.frequency = attributes.number("frequency", channel.frequency, Range::positive());
    constexpr const char* laws[] = {"friis", "log_distance", "two_ray", "terahertz"};
    const std::string law = attributes.text("propagation", laws[0]);
    const auto known = std::find(std::begin(laws), std::end(laws), law);
    if (known != std::end(laws)) channel.law = static_cast<PropagationLaw>(known - std::begin(laws));
    else channel.custom_law = law;
    read_further_attributes(e, channel);
    channel.exponent = attributes.number("exponent", channel.exponent, {0, 20, true});
    channel.reference_distance = attributes.number("reference_distance", channel.reference_distance, Range::positive());
    channel.absorption = attributes.number("absorption", channel.absorption, Range::not_negative());
    channel.shadowing_db = attributes.number("shadowing_db", channel.shadowing_db, Range::between(0, 100));
    channel.fading = attributes.flag("fading", channel.fading);
    channel.cull_radius = attributes.number("cull_radius", channel.cull_radius, Range::not_negative());
    channel.passes_bodies = attributes.number("passes_bodies", channel.passes_bodies, Range::between(0, 1));
    channel.line = e.GetLineNum();
    if (!channels_.insert(channel.name).second)
      report_.error(e, fmt::format("the channel {} is declared twice", channel.name), "keep one of them");
    builder_.add_channel(std::move(channel));
  }

  // Further attributes of a channel are parameters of a plugin's law; our own laws have none.
  void read_further_attributes(const XMLElement& e, Channel& channel) {
    static const std::vector<std::string> ours = {
        "name",       "frequency",    "propagation", "exponent",    "reference_distance",
        "absorption", "shadowing_db", "fading",      "cull_radius", "passes_bodies"};
    for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a != nullptr; a = a->Next()) {
      if (std::find(ours.begin(), ours.end(), a->Name()) != ours.end() ||
          std::string_view(a->Name()).starts_with("xmlns"))
        continue;
      if (channel.custom_law.empty())
        report_.error(e, fmt::format("<volvox:channel> has no attribute {}=", a->Name()), suggest(a->Name(), ours));
      else channel.custom_parameters[a->Name()] = a->Value();
    }
  }

  void read_extension(const XMLElement& e) {
    PluginSpec spec{{}, Attributes(e, report_).required("name"), {}, report_.file(), e.GetLineNum()};
    for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a != nullptr; a = a->Next())
      if (std::string_view(a->Name()) != "name") spec.parameters[a->Name()] = a->Value();
    plugins_.push_back(std::move(spec));
  }

  std::optional<TickLength> length_of(const XMLElement& e, const char* name) {
    const std::string text = e.Attribute(name);
    const Result<TickLength> length = TickLength::parse(text);
    if (length.ok()) return *length;
    report_.error(e, fmt::format("{}=\"{}\" is not a length of time", name, text), "write seconds as 1/60, 0.01 or 2");
    return std::nullopt;
  }

  const XMLElement& element_;
  const sdf::World& sdf_;
  fs::path folder_;
  const std::map<std::string, std::string>& values_;  // of the parameters
  ModelLibrary& library_;
  Report& report_;
  WorldBuilder builder_;
  MatterReader matter_;
  std::map<std::string, Model> models_;  // by the name in the file
  std::map<Model, Model> variants_;      // for look-up only: the order of pointers is not reproducible
  std::set<std::string> channels_;
  std::vector<PluginSpec> plugins_;
  bool has_run_ = false, has_clocks_ = false;
};

// The world of a file with only a model: a ground, and the model with its lowest point on it.
Result<WorldModel> world_around(const std::string& text, const fs::path& file, ModelLibrary& library,
                                std::vector<Diagnostic>* warnings) {
  const Result<Model> model = read_model_text(text, file, library, warnings);
  if (!model.ok()) return model.error();
  WorldBuilder builder((*model)->name, file.string());
  builder.add_ground();
  Pose pose = (*model)->default_pose;
  std::vector<Pose> links = forward_kinematics(**model, {});
  for (Pose& link : links) link = pose * link;
  if (const Bounds box = bounds(**model, links); !box.empty()) pose.position.z -= box.low.z;
  PlacementOptions options;
  options.file = file.string();
  builder.add(*model, pose, (*model)->name == "ground" ? "model" : (*model)->name, options);
  return builder.build();
}

// The <world> of a file; null if the file contains a model instead, or after an error.
const XMLElement* find_world(const XMLElement& root, Report& report) {
  if (std::string_view(root.Name()) == "robot" || !check_sdf_root(root, report)) return nullptr;
  const XMLElement* world = root.FirstChildElement("world");
  if (world == nullptr) {
    if (root.FirstChildElement("model") == nullptr && root.FirstChildElement("include") == nullptr) {
      report.error(root, "the file holds neither a <world> nor a <model>", "put one into <sdf>");
    }
    return nullptr;
  }
  if (const XMLElement* second = world->NextSiblingElement("world"))
    report.error(*second, "the file holds two worlds", "keep one world per file");
  return world;
}

Result<WorldModel> read_world_element(const std::string& text, const XMLElement& root, const fs::path& file,
                                      const std::map<std::string, std::string>& values, ModelLibrary& library,
                                      Report& report) {
  check_our_elements(root, report);
  check_standard_elements(root, report);
  const XMLElement* world = find_world(root, report);
  if (!report.ok()) return report.error();
  std::string plain = text;
  blank_elements(plain, hidden_from_sdformat);
  sdf::Root parsed;
  if (!load_with_sdformat(plain, root, parsed, report)) return report.error();
  if (parsed.WorldCount() != 1 || world == nullptr) {
    report.error(root, "sdformat finds no world here", "compare it with the SDF specification, sdformat.org/spec");
    return report.error();
  }
  return WorldReader(*world, *parsed.WorldByIndex(0), file, values, library, report).read();
}

}  // namespace

Result<std::vector<ParameterDesc>> read_parameters(const fs::path& file) {
  const Result<std::string> text = read_file(file);
  if (!text.ok()) return text.error();
  Report report(file.string());
  tinyxml2::XMLDocument document;
  if (!parse_xml(*text, document, report)) return report.error();
  const XMLElement* world = find_world(*document.RootElement(), report);
  std::vector<ParameterDesc> parameters;
  if (world != nullptr) parameters = parameters_of(*world, *text, report);
  if (!report.ok()) return report.error();
  return parameters;
}

Result<WorldModel> read_world(const fs::path& file, const std::map<std::string, std::string>& settings,
                              ModelLibrary& library, std::vector<Diagnostic>* warnings) {
  Result<std::string> text = library.read(file);
  if (!text.ok()) return text.error();
  return read_world_text(std::move(*text), file, settings, library, warnings);
}

Result<WorldModel> read_world_text(std::string text, const fs::path& file,
                                   const std::map<std::string, std::string>& settings, ModelLibrary& library,
                                   std::vector<Diagnostic>* warnings) {
  Report report(file.string());
  tinyxml2::XMLDocument document;
  if (!parse_xml(text, document, report)) return report.error();
  const XMLElement* world = find_world(*document.RootElement(), report);
  std::vector<ParameterDesc> parameters;
  if (world != nullptr) parameters = parameters_of(*world, text, report);
  if (!report.ok()) return report.error();
  const auto settled = settle_values(parameters, settings, file.string());
  if (!settled.ok()) return settled.error();
  if (world == nullptr) return world_around(text, file, library, warnings);

  text = substitute(text, *settled, report);
  if (!report.ok()) return report.error();
  tinyxml2::XMLDocument substituted;
  if (!parse_xml(text, substituted, report)) return report.error();
  Result<WorldModel> result = read_world_element(text, *substituted.RootElement(), file, *settled, library, report);
  if (warnings != nullptr) warnings->insert(warnings->end(), report.warnings().begin(), report.warnings().end());
  return result;
}

}  // namespace volvox::model
