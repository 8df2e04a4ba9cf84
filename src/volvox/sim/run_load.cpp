// How a run comes about: from the name of an experiment to the state before its first tick.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <set>

#include "volvox/base/platform/clock.h"
#include "volvox/base/platform/real_time.h"
#include "volvox/base/text.h"
#include "volvox/sim/matter_cloud.h"
#include "volvox/sim/run.h"
#include "volvox/world/matter.h"
#include "volvox/world/measures.h"
#include "volvox/world/start_check.h"

namespace volvox::sim {
namespace fs = std::filesystem;
namespace {

constexpr int most_threads = 1024;

// Nothing static, and nobody can fly.
bool falls_for_ever(const model::WorldModel& world) {
  if (world.gravity == Vec3{} || world.placements.empty()) return false;
  return std::none_of(world.placements.begin(), world.placements.end(), [](const model::Placement& placement) {
    const model::ModuleModel& model = *placement.model;
    const bool bolted = std::any_of(model.joints.begin(), model.joints.end(),
                                    [](const model::Joint& joint) { return joint.parent < 0; });
    return model.fixed_in_place || bolted || !model.actuators.empty();
  });
}

// Something is there, and it does not look like a snapshot: the world file itself, if somebody has mistyped.
bool is_other_file(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) == 0) return false;
  std::array<char, 8> mark{};
  std::ifstream(file, std::ios::binary).read(mark.data(), mark.size());
  return std::string_view(mark.data() + 2, mark.size() - 2) != "XOVLOV";  // "VOLVOXR3" as a number, low byte first
}

}  // namespace

Result<std::unique_ptr<Run>> Run::prepare(const RunOptions& options, const Library& library, Log& log) {
  if (options.threads < 1 || options.threads > most_threads)
    return Error(fmt::format("{} threads are not possible", options.threads),
                 fmt::format("give 1 to {}", most_threads));
  std::unique_ptr<Run> run(new Run(log));
  if (auto loaded = run->load(options, library); !loaded.ok()) return loaded.error();
  return run;
}

Run::Run(Log& log)
    : log_(
          [this, &log](LogLevel level, std::string_view line) {
            if (level == LogLevel::warning && report_.warnings.size() < RunReport::most_warnings)
              report_.warnings.emplace_back(line);
            log.write(level, line);
          },
          LogLevel::debug) {}

Result<void> Run::load(const RunOptions& options, const Library& library) {
  const double begin = platform::monotonic_seconds();
  options_ = options;
  library_ = library;
  library_.minds.extensions = &extensions_;
  for (const auto& [name, other] : options.behaviors) {
    const auto factory = library.minds.behaviors.find(other);
    if (!factory.ok()) return factory.error();
    library_.minds.behaviors.add(name, mind::BehaviorFactory(**factory));
  }
  auto located = options.make ? Result<Located>(Located{options.experiment, {}, {}, true})
                              : locate_experiment(options.experiment, library);
  if (!located.ok()) return located.error();
  experiment_ = options.make ? options.make() : make_experiment(*located, library);
  report_.experiment = located->name;
  report_.file = located->file.string();

  auto world = make_world(*located);
  if (!world.ok()) return world.error();
  if (auto loaded = load_plugins(**world); !loaded.ok()) return loaded;
  if (auto made = make_simulation(*world); !made.ok()) return made;
  describe(**world);
  if (!located->registered) warn_of_worlds_without_life(**world);
  start_centre_ = world::centre_of_mass(simulation_->world());
  if (auto begun = begin_hooks(); !begun.ok()) return begun;
  if (!begun_.ok()) report_.status = "failed", report_.failure = begun_.text();
  if (auto restored = restore_at_start(); !restored.ok()) return restored;
  sample();
  report_.load_time = platform::monotonic_seconds() - begin;
  wall_begin_ = platform::monotonic_seconds();
  return {};
}

// What the experiment makes of its settings, with what the options overrule.
Result<std::shared_ptr<const model::WorldModel>> Run::make_world(const Located& located) {
  auto parameters = experiment_->parameters(located.folder);
  if (!parameters.ok()) return parameters.error();
  parameters_ = *parameters;
  const std::string declared_in = located.file.empty() ? "experiment " + located.name : report_.file;
  const auto settings = model::settle_values(parameters_, options_.settings, declared_in);
  if (!settings.ok()) return settings.error();

  const auto models = options_.models ? options_.models : std::make_shared<model::ModelLibrary>();
  std::vector<Diagnostic> warnings;
  Setup setup{located.folder, *settings, options_.seed, *models, library_.minds, warnings};
  auto world = experiment_->init(setup);
  if (!world.ok()) return world.error();
  for (const auto& [key, value] : options_.settings)  // an experiment may settle some of them itself
    if (setup.settings[key] != settings->at(key))
      return Diagnostic{report_.file, 0,
                        fmt::format("{} was set to {}, but this run has {} of its own: {}", key, settings->at(key), key,
                                    setup.settings[key]),
                        fmt::format("leave out --set {}=...", key)};
  for (const Diagnostic& warning : warnings) log_.warning(warning.text());
  report_.settings = setup.settings;  // as the experiment settled them
  report_.files = models->sources();

  model::RunSettings& run = world->run;
  if (options_.duration) run.duration = Time::seconds(*options_.duration);
  if (options_.dt) run.dt = *options_.dt;
  if (options_.max_substep) run.max_substep = *options_.max_substep;
  const bool asked_for_both = options_.dt && options_.duration;    // then the mistake is not in the file
  if (run.duration > Time{} && run.dt.start_of(1) > run.duration)  // it would be longer than asked: ticks are whole
    return Diagnostic{
        asked_for_both ? "" : report_.file, asked_for_both ? 0 : run.line,
        fmt::format("a tick of {} s is longer than the whole run, {} s", run.dt.text(), run.duration.seconds()),
        "give a shorter tick with --dt, or a longer --duration (in a world file: dt= and duration= of <volvox:run>)"};
  return std::make_shared<const model::WorldModel>(std::move(*world));
}

// Loads plugins, then the extensions of the world file in its order.
Result<void> Run::load_plugins(const model::WorldModel& world) {
  std::vector<model::PluginSpec> wanted;
  for (const std::string& file : options_.plugins) wanted.push_back({file, {}, {}, {}, 0});
  wanted.insert(wanted.end(), world.plugins.begin(), world.plugins.end());
  std::set<const model::ModuleModel*> models;
  for (const model::Placement& placement : world.placements)
    if (models.insert(placement.model.get()).second)
      wanted.insert(wanted.end(), placement.model->plugins.begin(), placement.model->plugins.end());
  for (const model::PluginSpec& plugin : wanted) {
    if (plugin.filename.empty()) continue;
    if (!library_.plugins)
      return Diagnostic{plugin.file, plugin.line, "this program loads no plugins",
                        "use the volvox command, or give the Library a PluginHost"};
    if (auto loaded = library_.plugins->load(plugin, options_.isolate, library_, log_); !loaded.ok()) return loaded;
  }
  for (const model::PluginSpec& plugin : wanted) {
    if (plugin.name.empty() || (!plugin.filename.empty() && !library_.extensions.contains(plugin.name))) continue;
    const auto factory = library_.extensions.find(plugin.name, plugin.file, plugin.line);
    if (!factory.ok()) return factory.error();
    const Parameters parameters(plugin.parameters, fmt::format("extension '{}'", plugin.name), plugin.file,
                                plugin.line);
    std::unique_ptr<mind::Extension> extension;
    try {
      extension = (**factory)({parameters, fs::path(plugin.file).parent_path(), options_.replay});
    } catch (const std::exception& error) {
      return Diagnostic{plugin.file, plugin.line,
                        fmt::format("extension '{}' cannot be made: {}", plugin.name, error.what()),
                        "correct the extension, or leave it out"};
    }
    if (auto checked = parameters.check(); !checked.ok()) return checked;
    if (auto added = extensions_.add(plugin.name, std::move(extension)); !added.ok()) {
      Error error(Diagnostic{plugin.file, plugin.line, fmt::format("extension '{}' is not ready", plugin.name), ""});
      error.add(added.error());
      return error;
    }
  }
  return {};
}

Result<void> Run::make_simulation(const std::shared_ptr<const model::WorldModel>& world) {
  const std::string wanted = !options_.engine.empty() ? options_.engine : world->run.engine;
  const std::string engine = wanted.empty() ? physics::default_engine : wanted;
  if (const auto known = library_.engines.names();
      options_.engine.empty() && std::find(known.begin(), known.end(), engine) == known.end()) {
    Diagnostic unknown = library_.engines.make(engine, {}).error().diagnostics().front();
    unknown.file = report_.file, unknown.line = world->run.line;
    return unknown;
  }
  const SimulationSettings settings{engine,        options_.seed,          options_.threads,
                                    world->run.dt, world->run.max_substep, options_.precision};
  // The simulation starts its threads here, and they inherit the priority of this thread.
  std::optional<platform::RealTimePriority> priority;
  if (options_.real_time) priority.emplace();
  auto made = Simulation::create(world, settings, library_.engines, library_.minds, log_);
  if (!made.ok()) return made.error();
  simulation_ = std::move(*made);
  cloud_ = experiment_->cloud();
  if (const world::Matter* matter = simulation_->world().matter(); cloud_ == nullptr && matter != nullptr) {
    particles_ = std::make_unique<MatterCloud>(*matter);
    cloud_ = particles_.get();
  }
  if (const world::Matter* matter = simulation_->world().matter(); matter != nullptr && !matter->device_note().empty())
    log_.warning(matter->device_note());
  if (Cloud* cloud = experiment_->cloud(); cloud != nullptr)
    simulation_->set_tap([cloud](std::uint32_t item) { return cloud->cloud_tap(item); });
  if (const std::string why = simulation_->minds().cannot_save(); options_.save_to && !why.empty())
    return Error("this run cannot be saved: " + why, "or run it without --save");
  if (options_.save_to && is_other_file(*options_.save_to))
    return Diagnostic{options_.save_to->string(), 0, "this file is not a snapshot, and --save would replace it",
                      "give --save another name, or remove the file"};
  return {};
}

// What is known of the run before its first tick.
void Run::describe(const model::WorldModel& world) {
  ticks_ = world.run.dt.ticks_in(world.run.duration);
  sample_every_ = std::max<std::int64_t>(1, std::llround(0.05 / world.run.dt.seconds()));
  if (options_.save_every)
    save_every_ = std::max<std::int64_t>(1, std::llround(*options_.save_every / world.run.dt.seconds()));
  report_.engine = simulation_->settings().engine;
  report_.engine_settings = simulation_->world().engine_info().settings;
  report_.precision = physics::name(simulation_->world().engine_info().precision);
  report_.seed = options_.seed;
  report_.dt = world.run.dt;
  report_.threads = options_.threads;
  report_.modules = simulation_->world().modules().size();
  report_.save_every = options_.save_every;
  if (library_.plugins)
    for (const fs::path& plugin : library_.plugins->files()) model::note_source(report_.files, plugin);
}

void Run::warn_of_worlds_without_life(const model::WorldModel& world) {
  if (report_.modules == 0 && cloud_ == nullptr)
    log_.warning(Diagnostic{report_.file, 0, "nothing here has a mind, so that there are no modules: bodies only move",
                            "give a robot <volvox:mind behavior=\"idle\"/> (in a URDF: inside <gazebo>)"}
                     .text());
  if (report_.engine != "none" && falls_for_ever(world))
    log_.warning(Diagnostic{report_.file, 0, "nothing in this world stands still, so that everything falls for ever",
                            "add a ground (a static <model> with a <plane>), or <gravity>0 0 0</gravity>"}
                     .text());
}

// The state to go on from, where the options name one.
Result<void> Run::restore_at_start() {
  const bool restores = options_.restore_from || options_.restore_bytes;
  if (restores && begun_.ok()) {
    std::string name = "the snapshot in the recording", path = name;
    restored_ = options_.restore_bytes.value_or("");
    if (options_.restore_from) {
      name = options_.restore_from->string();
      std::error_code error;
      path = fs::weakly_canonical(*options_.restore_from, error).string();
      auto bytes = read_file(*options_.restore_from);
      if (!bytes.ok()) return bytes.error();
      restored_ = std::move(*bytes);
    }
    if (auto restored = restore(restored_, name); !restored.ok()) return restored;
    report_.restored->file = path;
  }
  if (!restores)
    for (const std::string& warning : world::start_warnings(simulation_->world())) log_.warning(warning);
  sim_begin_ = simulation_->now().seconds();
  if (restores && simulation_->tick() > ticks_)
    return Error(fmt::format("the snapshot is at {:.3f} s, but the run ends at {:.3f} s", sim_begin_,
                             report_.dt.start_of(ticks_).seconds()),
                 "give a --duration beyond it: it counts from the start of the first run");
  return {};
}

}  // namespace volvox::sim
