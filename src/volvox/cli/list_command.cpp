#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "volvox/base/index.h"
#include "volvox/base/isa.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/paths.h"
#include "volvox/base/text.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/reproduce.h"
#include "volvox/cli/terminal.h"
#include "volvox/meld/program.h"
#include "volvox/model/file_names.h"
#include "volvox/model/reader.h"
#include "volvox/model/world_builder.h"
#include "volvox/model/xml.h"
#include "volvox/plugin/plugins.h"
#include "volvox/report/table.h"
#include "volvox/view/render_engine.h"

namespace volvox::cli {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;  // name, one line about it

// The first sentence of the comment at the top of a world's file; the name of the file if there is none.
std::string first_sentence(const std::filesystem::path& world) {
  const auto text = read_file(world);
  const std::size_t begin = text.ok() ? text->find("<!--") : std::string::npos;
  if (begin == std::string::npos || begin > text->find("<sdf")) return world.filename().string();
  const std::string comment = text->substr(begin + 4, text->find("-->", begin) - begin - 4);
  std::string sentence;
  bool space = false;
  for (const char c : comment) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
      if (sentence.ends_with('.')) break;
      space = !sentence.empty();
    } else {
      if (space) sentence += ' ';
      sentence += c, space = false;
    }
  }
  if (sentence.ends_with('.')) sentence.pop_back();
  return sentence.empty() ? world.filename().string() : sentence;
}

std::string describe_experiment(const sim::Located& located, const sim::Library& library) {
  if (located.registered) return library.experiments.description(located.name);
  if (located.file.extension() == ".json") return "an organism that volvox evolve bred";
  return first_sentence(located.file);
}

Rows experiments(const sim::Library& library) {
  Rows rows;
  for (const sim::Located& located : sim::find_experiments(library))
    rows.emplace_back(located.name, describe_experiment(located, library));
  return rows;
}

// Those of the resource path, and those of a project: a world finds the robots beside it, too.
model::ModelLibrary robots_in_reach() {
  std::vector<std::filesystem::path> path = platform::resource_path();
  path.emplace_back(".");
  return model::ModelLibrary(std::move(path));
}

Rows robots(bool described) {
  Rows rows;
  model::ModelLibrary models = robots_in_reach();
  for (const std::string& name : models.names()) {
    if (!described) {
      rows.emplace_back(name, "");
      continue;
    }
    const auto robot = models.load(name);
    rows.emplace_back(name, robot.ok() ? fmt::format("{} links, {} joints, {} docks, {:.2g} kg", (*robot)->links.size(),
                                                     (*robot)->joints.size(), (*robot)->docks.size(), (*robot)->mass())
                                       : "cannot be read: see volvox info " + name);
  }
  return rows;
}

Rows engines(const sim::Library& library) {
  Rows rows;
  for (const std::string& name : library.engines.names()) {
    const auto engine = library.engines.make(name, {});
    rows.emplace_back(name, engine.ok() ? (*engine)->info().description : "cannot be made");
  }
  return rows;
}

// All plugins on the path, also broken ones: a user looks here for a missing plugin.
Rows plugins(const sim::Library& library) {
  Rows rows;
  if (auto* host = plugin::plugins_of(library))
    for (const auto& [file, facts] : host->find_all())
      rows.emplace_back(facts.ok() ? facts->name : file.filename().string(),
                        facts.ok() ? facts->description : "cannot be loaded: see volvox info " + file.string());
  return rows;
}

template <class R>
Rows registered(const R& registry) {
  Rows rows;
  for (const std::string& name : registry.names()) rows.emplace_back(name, registry.description(name));
  return rows;
}

void print_indented(const std::string& text) {
  std::string line;
  for (const char c : text + "\n") {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (!line.empty()) fmt::print("  {}\n", printable(line));
    line.clear();
  }
}

// Splits "one; another" into lines.
void print_limits(const std::string& limits) {
  if (limits.empty()) return;
  print_indented("what it cannot do:");
  for (std::size_t begin = 0; begin < limits.size();) {
    const std::size_t end = std::min(limits.find("; ", begin), limits.size());
    print_indented("  - " + limits.substr(begin, end - begin));
    begin = end + 2;
  }
}

int info_engines(const std::vector<std::string>& names, const sim::Library& library) {
  for (const std::string& name : names) {
    const auto engine = library.engines.make(name, {});
    if (!engine.ok()) return complain(engine.error());
    const physics::EngineInfo& info = (*engine)->info();
    fmt::print("{}{}\n", bold(name), name == physics::default_engine ? "  (default)" : "");
    print_indented(info.description);
    print_indented("settings: " + info.settings);
    print_indented(std::string("restore: ") +
                   (info.exact_restore ? "exact" : "cold (caches are dropped when a run is saved)"));
    print_indented(std::string("threads: ") +
                   (info.uses_threads ? "as many as a run is given" : "one, whatever a run is given"));
    if (name == physics::default_engine)
      print_indented(fmt::format("instruction set: {} (VOLVOX_ISA chooses)", volvox::name(isa())));
    print_limits(info.limits);
    fmt::print("\n");
  }
  return done;
}

// The name, its type and, for a type with fields, the value: "DockState  {enabled: false, ...}".
std::vector<std::string> name_and_shape(const std::string& name, const Value& value) {
  const std::string shape = value.describe();
  const bool is_short = shape.starts_with('{') && shape.size() <= 200;
  return {name, value.empty() ? "" : value.type()->name, is_short ? shape : ""};
}

// A world with this robot alone, at the start of a run: only that tells what is perceived at first, and which
// parameters a behaviour reads.
Result<std::unique_ptr<sim::Simulation>> alone_with(const std::shared_ptr<const model::ModuleModel>& robot,
                                                    const std::string& behavior, const sim::Library& library,
                                                    Log& log) {
  model::PlacementOptions options;
  options.mind = model::Mind{behavior, {}, {}, 0};
  model::WorldBuilder builder;
  builder.add(robot, Pose{}, robot->name, options);
  auto world = builder.build();
  if (!world.ok()) return world.error();
  sim::SimulationSettings settings;
  settings.engine = "none";
  return sim::Simulation::create(std::make_shared<const model::WorldModel>(std::move(*world)), settings,
                                 library.engines, library.minds, log);
}

// A behaviour says what it reads only when it starts, on a robot that has what it needs.
int info_behavior(const std::string& name, const sim::Library& library) {
  fmt::print("{}  behavior: {}\n", bold(name), printable(library.minds.behaviors.description(name)));
  model::ModelLibrary models = robots_in_reach();
  Log log;
  for (const std::string& robot : models.names()) {
    const auto loaded = models.load(robot);
    if (!loaded.ok()) continue;
    const auto alone = alone_with(*loaded, name, library, log);
    if (!alone.ok()) continue;
    std::vector<std::vector<std::string>> rows = {{"parameter", "default"}};
    for (const auto& [key, value] : (*alone)->minds().agent(0).behavior_parameters()) rows.push_back({key, value});
    if (rows.size() > 1) fmt::print("\n{}", report::text_table(rows));
    fmt::print("\n  units are SI (m, s, rad, Hz, N); as a {} alone reads them\n", printable(robot));
    break;
  }
  fmt::print("  try: <volvox:mind behavior=\"{0}\"><volvox:parameter name=\"...\" value=\"...\"/></volvox:mind>\n",
             printable(name));
  return done;
}

// The percepts, actions and outlets of a robot's mind.
Result<void> print_percepts_and_actions(const std::shared_ptr<const model::ModuleModel>& robot,
                                        const sim::Library& library) {
  Log log;
  const auto alone = alone_with(robot, "idle", library, log);
  if (!alone.ok()) return alone.error();
  const mind::Agent& agent = (*alone)->minds().agent(0);
  std::vector<std::vector<std::string>> rows = {{"percept", "type", "at first"}};
  for (std::size_t i = 0; i < agent.percepts().size(); ++i)
    rows.push_back(name_and_shape(agent.percepts()[i], agent.percept_value(i)));
  if (rows.size() > 1) fmt::print("{}\n", report::text_table(rows));
  rows = {{"action", "type", "at first"}};
  for (std::size_t i = 0; i < agent.actions().size(); ++i)
    rows.push_back(name_and_shape(agent.actions()[i], agent.action_value(i)));
  if (rows.size() > 1) fmt::print("{}\n", report::text_table(rows));
  return {};
}

// Finds a robot by its name or by its file.
std::optional<int> info_plugin(const std::string& thing, const sim::Library& library) {
  auto* host = plugin::plugins_of(library);
  if (host == nullptr) return std::nullopt;
  std::optional<Result<plugin::PluginFacts>> found;
  for (auto& [file, facts] : host->find_all())
    if ((facts.ok() && facts->name == thing) || file.filename() == thing) found = facts;
  if (!found && thing.ends_with(".so")) {
    const auto file = plugin::find_plugin({thing, {}, {}, {}, 0});
    if (!file.ok()) return complain(file.error());
    auto loaded = plugin::load_plugin(*file);
    if (!loaded.ok()) return complain(loaded.error());
    found = loaded->facts;
  }
  if (!found) return std::nullopt;
  if (!found->ok()) return complain(found->error());
  const plugin::PluginFacts& facts = **found;
  fmt::print("{}  plugin: {}\n{}\n", bold(facts.name), printable(facts.description), dim(facts.file.string()));
  print_indented("built with: " + facts.build);
  print_indented(fmt::format("loaded in {:.2f} ms", facts.load_time * 1e3));
  for (const auto& [kind, names] : facts.offers) print_indented(fmt::format("{}: {}", kind, fmt::join(names, ", ")));
  return done;
}

int info_robot(const std::string& name, const sim::Library& library) {
  model::ModelLibrary models = robots_in_reach();
  const auto loaded = models.load(name);
  if (!loaded.ok()) return complain(loaded.error());
  const model::ModuleModel& robot = **loaded;
  fmt::print("{}  {}\n\n", bold(robot.name), dim(robot.file));
  std::vector<std::vector<std::string>> rows = {{"link", "mass kg", "shapes"}};
  for (const model::Link& link : robot.links)
    rows.push_back({link.name, number(link.mass), std::to_string(link.geometry->colliders.size())});
  fmt::print("{}\n", report::text_table(rows));
  rows = {{"joint", "from", "to", "lower", "upper", "effort", "speed", "motor"}};
  const auto limit = [](double x) { return std::isfinite(x) ? number(x, 3) : "-"; };
  for (const model::Joint& joint : robot.joints)
    rows.push_back({joint.name, joint.parent < 0 ? "world" : robot.links[joint.parent].name,
                    robot.links[joint.child].name, limit(joint.lower), limit(joint.upper), limit(joint.effort),
                    limit(joint.velocity), joint.motor ? "yes" : "no"});
  if (rows.size() > 1) fmt::print("{}\n", report::text_table(rows));
  rows = {{"dock", "on", "gender", "kind", "turns", "axial N", "shear N", "bending Nm", "torsion Nm"}};
  const char* const genders[] = {"male", "female", "both"};
  for (const model::Dock& dock : robot.docks)
    rows.push_back({dock.name, robot.links[dock.link].name, genders[number_of(dock.gender)], dock.kind,
                    dock.symmetry == 0 ? "any" : std::to_string(dock.symmetry), limit(dock.strength.axial),
                    limit(dock.strength.shear), limit(dock.strength.bending), limit(dock.strength.torsion)});
  if (rows.size() > 1) fmt::print("{}\n", report::text_table(rows));
  rows = {{"interface", "kind", "bit/s", "reach or timing", "queue", "largest B"}};
  const auto sizes = [](std::uint32_t queue, std::uint32_t largest) {
    return std::pair(std::to_string(queue), std::to_string(largest));
  };
  for (const model::Wire& wire : robot.wires) {
    const auto [queue, largest] = sizes(wire.queue, wire.largest_payload);
    rows.push_back(
        {robot.docks[wire.dock].name, "wire", limit(wire.bit_rate),
         wire.timing == model::WireTiming::delayed ? fmt::format("delayed, {} B a tick", wire.capacity) : "live", queue,
         largest});
  }
  for (const model::Radio& radio : robot.radios) {
    const auto [queue, largest] = sizes(radio.queue, radio.largest_payload);
    rows.push_back({radio.name, "radio", limit(radio.bit_rate),
                    fmt::format("channel {}, {} W, hears {} W", radio.channel, number(radio.power),
                                number(radio.receive_threshold)),
                    queue, largest});
  }
  for (const model::Bus& bus : robot.buses) {
    const auto [queue, largest] = sizes(bus.queue, bus.largest_payload);
    rows.push_back({bus.name, bus.kind == model::BusKind::can ? "CAN bus" : "serial bus", limit(bus.bit_rate),
                    bus.scope == model::BusScope::world ? "the world" : "its organism", queue, largest});
  }
  if (rows.size() > 1) fmt::print("{}\n", report::text_table(rows));
  rows = {{"sensor", "type", "on"}};
  for (const model::Sensor& sensor : robot.sensors)
    rows.push_back({sensor.name, sensor.type, robot.links[sensor.link].name});
  if (rows.size() > 1) fmt::print("{}\n", report::text_table(rows));
  if (const auto printed = print_percepts_and_actions(*loaded, library); !printed.ok())
    return complain(printed.error());
  const std::string file = printable(shell_word(robot.file));
  fmt::print("  try: volvox run {}\n  see: volvox view {}\n", file, file);
  return done;
}

// What the papers claim that this experiment measures.
void print_claims(const std::string& experiment) {
  const auto claims = all_claims();
  if (!claims.ok()) return;  // a file of claims that is broken is the business of `volvox reproduce`
  std::vector<std::vector<std::string>> rows = {{"paper", "place", "claim", "metric", "agrees if"}};
  for (const report::Claim& claim : *claims)
    if (claim.experiment == experiment)
      rows.push_back({claim.paper, claim.place, claim.claim, claim.metric, rule_of(claim)});
  if (rows.size() == 1) return;
  fmt::print("{}  judge: volvox reproduce {}\n\n", report::text_table(rows), experiment);
}

int info_experiment(const sim::Located& located, const sim::Library& library) {
  const auto experiment = sim::make_experiment(located, library);
  const auto parameters = experiment->parameters(located.folder);
  if (!parameters.ok()) return complain(parameters.error());
  fmt::print("{}  {}\n", bold(located.name), printable(describe_experiment(located, library)));
  if (!located.file.empty()) fmt::print("{}\n", dim(located.file.string()));
  fmt::print("\n");
  std::vector<std::vector<std::string>> rows = {{"--set", "default", "range", "meaning"}};
  for (const model::ParameterDesc& p : *parameters) {
    std::string range;
    if (!p.choices.empty()) range = fmt::format("{}", fmt::join(p.choices, "|"));
    else if (p.min || p.max) range = fmt::format("{} to {}", p.min ? number(*p.min) : "", p.max ? number(*p.max) : "");
    rows.push_back({p.name, p.value, range, p.description});
  }
  if (rows.size() > 1) fmt::print("{}\n", report::text_table(rows));
  print_claims(located.name);
  // A parameter without a default must be chosen by the user: there is no value to try.
  const std::string setting =
      parameters->empty() ? ""
                          : fmt::format(" --set {}={}", parameters->front().name,
                                        parameters->front().value.empty()
                                            ? fmt::format("VALUE   (VALUE: {})", parameters->front().description)
                                            : parameters->front().value);
  const bool is_file = located.name == located.file.stem().string();
  fmt::print("  try: volvox run {}\n", printable((is_file ? located.file.string() : located.name) + setting));
  return done;
}

}  // namespace

std::vector<std::string> kinds_of_things() {
  return {"experiments", "robots", "engines",   "behaviors",  "sensors",
          "actuators",   "noise",  "renderers", "extensions", "plugins"};
}

namespace {

Rows rows_of(const std::string& kind, bool described, const sim::Library& library) {
  if (kind == "experiments") return experiments(library);
  if (kind == "robots") return robots(described);
  if (kind == "engines") return engines(library);
  if (kind == "behaviors") return registered(library.minds.behaviors);
  if (kind == "sensors") return registered(library.minds.sensors);
  if (kind == "actuators") return registered(library.minds.actuators);
  if (kind == "noise") return registered(library.minds.noise);
  if (kind == "renderers") return registered(render_engines(library));
  if (kind == "extensions") return registered(library.extensions);
  if (kind == "plugins") return plugins(library);
  return {};
}

}  // namespace

std::vector<std::string> names_of(const std::string& kind, const sim::Library& library) {
  std::vector<std::string> names;
  for (const std::string& one : kind.empty() ? kinds_of_things() : std::vector{kind})
    for (const auto& [name, about] : rows_of(one, false, library)) names.push_back(name);
  return names;
}

int list_command(const std::string& what, ListAs form, const sim::Library& library) {
  const std::vector<std::string> kinds = kinds_of_things();
  if (!what.empty() && std::find(kinds.begin(), kinds.end(), what) == kinds.end()) {
    const std::string nearest = nearest_name(what, kinds);
    return complain(
        Error(fmt::format("there is nothing to list under '{}'", what),
              fmt::format("{}use one of: {}", nearest.empty() ? "" : fmt::format("did you mean '{}'? Or ", nearest),
                          fmt::join(kinds, ", "))));
  }
  if (form == ListAs::names) {
    for (const std::string& name : names_of(what, library)) fmt::print("{}\n", printable(name));
    return done;
  }
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const std::string& kind : what.empty() ? kinds : std::vector{what}) {
    const Rows rows = rows_of(kind, true, library);
    if (form == ListAs::json) {
      for (const auto& [thing, about] : rows) object[kind].push_back({{"name", thing}, {"description", about}});
      continue;
    }
    fmt::print("{}\n", bold(kind));
    std::vector<std::vector<std::string>> cells = {{"", ""}};
    for (const auto& [thing, about] : rows) cells.push_back({thing, about});
    fmt::print("{}\n", report::text_table(cells).substr(1));
  }
  if (form == ListAs::json) fmt::print("{}\n", to_json_text(object, 2));
  return done;
}

std::vector<std::string> parameters_of(const std::string& experiment, const sim::Library& library) {
  const auto located = sim::locate_experiment(experiment, library);
  if (!located.ok()) return {};
  const auto parameters = sim::make_experiment(*located, library)->parameters(located->folder);
  if (!parameters.ok()) return {};
  std::vector<std::string> names;
  for (const model::ParameterDesc& parameter : *parameters) names.push_back(parameter.name);
  return names;
}

std::vector<std::string> values_of_parameter(const std::string& experiment, const std::string& parameter,
                                             const sim::Library& library) {
  const auto located = sim::locate_experiment(experiment, library);
  if (!located.ok()) return {};
  const auto parameters = sim::make_experiment(*located, library)->parameters(located->folder);
  if (!parameters.ok()) return {};
  for (const model::ParameterDesc& known : *parameters)
    if (known.name == parameter) return known.choices.empty() ? std::vector{known.value} : known.choices;
  return {};
}

int parameter_names_command(const std::string& experiment, const sim::Library& library) {
  const auto located = sim::locate_experiment(experiment, library);
  if (!located.ok()) return complain(located.error());
  const auto parameters = sim::make_experiment(*located, library)->parameters(located->folder);
  if (!parameters.ok()) return complain(parameters.error());
  for (const model::ParameterDesc& parameter : *parameters) fmt::print("{}\n", printable(parameter.name));
  return done;
}

namespace {

// A world file is told of as an experiment, any other as a robot.
bool holds_a_world(const std::string& file) {
  const auto text = read_file(file);
  return text.ok() && text->find("<world") != std::string::npos;
}

}  // namespace

int info_program(const std::string& file) {
  const auto program = meld::load_program(file);
  if (!program.ok()) return complain(program.error());
  std::size_t axioms = 0, using_up = 0;
  for (const meld::RuleInfo& rule : (*program)->rules) {
    axioms += rule.kind == meld::RuleKind::begins ? 1 : 0;
    using_up += rule.kind == meld::RuleKind::uses ? 1 : 0;
  }
  const std::size_t rules = (*program)->rules.size() - axioms;
  fmt::print("{}  a program in Meld\n", bold(printable((*program)->name)));
  for (const std::string& name : (*program)->files) fmt::print("{}\n", dim(printable(name)));
  fmt::print("\n{}\n", printable(meld::describe(**program)));
  fmt::print("  {} axioms, {} rules, {} of them with linear facts; {} instructions, {} bytes\n", axioms, rules,
             using_up, (*program)->code.size(), (*program)->code.size() * sizeof(meld::Instruction));
  for (const Diagnostic& warning : (*program)->warnings) fmt::print("  note: {}\n", printable(warning.text()));
  fmt::print("  try: volvox run {} --lattice cubic --cells 10x10x10\n", printable(shell_word(file)));
  return done;
}

int info_command(const std::string& thing, const sim::Library& library) {
  if (thing.ends_with(".meld")) return info_program(thing);
  if (thing == "engines") return info_engines(library.engines.names(), library);
  const auto one = [&](const auto& registry, const char* kind) {
    fmt::print("{}  {}: {}\n", bold(thing), kind, printable(registry.description(thing)));
    return done;
  };
  for (const std::string& name : library.engines.names())
    if (name == thing) return info_engines({name}, library);
  if (const auto located = sim::locate_experiment(thing, library);
      located.ok() && (!model::names_a_model_file(thing) || holds_a_world(thing)))
    return info_experiment(*located, library);
  const std::vector<std::string> robots = names_of("robots", library);
  if (std::find(robots.begin(), robots.end(), thing) != robots.end() || model::names_a_model_file(thing))
    return info_robot(thing, library);
  if (const auto told = info_plugin(thing, library)) return *told;
  if (library.minds.behaviors.contains(thing)) return info_behavior(thing, library);
  if (library.minds.sensors.contains(thing)) return one(library.minds.sensors, "sensor");
  if (library.minds.actuators.contains(thing)) return one(library.minds.actuators, "actuator");
  if (library.minds.noise.contains(thing)) return one(library.minds.noise, "noise model");
  if (library.extensions.contains(thing)) return one(library.extensions, "extension");
  if (const auto renderers = render_engines(library); renderers.contains(thing)) return one(renderers, "render engine");
  if (const auto why = model::why_no_model_file(thing)) return complain(*why);
  std::vector<std::string> names = robots;
  for (const sim::Located& located : sim::find_experiments(library)) names.push_back(located.name);
  for (const std::string& name : library.engines.names()) names.push_back(name);
  for (const std::string& name : library.minds.behaviors.names()) names.push_back(name);
  const std::string nearest = nearest_name(thing, names);
  return complain(Error(fmt::format("nothing is named '{}'", thing), nearest.empty()
                                                                         ? "see all names with: volvox list"
                                                                         : fmt::format("did you mean '{}'?", nearest)));
}

}  // namespace volvox::cli
