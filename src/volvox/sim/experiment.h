// An experiment builds a world, observes the run and reports metrics (seed 000's class Experiment with init and
// shutdown). A folder under experiments/ with a world.sdf is an experiment without any C++; a class adds what SDF
// cannot express: metrics, scripts, a world built in code. All functions are called from the thread of the run.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "volvox/base/registry.h"
#include "volvox/mind/anatomy.h"
#include "volvox/model/reader.h"
#include "volvox/model/world_builder.h"
#include "volvox/sim/extension.h"
#include "volvox/sim/metrics.h"
#include "volvox/sim/simulation.h"

namespace volvox::sim {

class Cloud;

// The input of Experiment::init().
struct Setup {
  std::filesystem::path folder;                 // of the experiment; may be empty
  std::map<std::string, std::string> settings;  // --set KEY=VALUE, checked against parameters()
  std::uint64_t seed = 1;
  model::ModelLibrary& library;
  mind::Registries& registries;  // the experiment may add behaviours and sensors
  std::vector<Diagnostic>& warnings;
};

class Experiment {
 public:
  virtual ~Experiment() = default;

  // The parameters that --set can change. By default, those of world.sdf.
  virtual Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path& folder) const;
  // Makes the world. By default, it reads world.sdf in the experiment's folder.
  virtual Result<model::WorldModel> init(Setup& setup);
  // The default camera of pictures and films, as --camera names it (view/camera.h). For worlds where a view of the
  // modules alone does not show the task.
  virtual std::string camera() const { return "corner"; }
  // Called before the first tick.
  virtual void begin(const Simulation&) {}
  // Called between two ticks: the experiment's script may change the run here.
  virtual void before_tick(Simulation&) {}
  // Called after every tick, for measurements.
  virtual void observe(const Simulation&) {}
  // The run is over: report the metrics and free what refers to the simulation.
  virtual void shutdown(const Simulation&, Metrics&) {}
  // Writes the experiment's own files into the folder of results, after shutdown.
  virtual Result<void> write(const std::filesystem::path& /*folder*/) const { return {}; }
  // The measurements so far, so that a restored run reports the same metrics as one that never stopped.
  virtual void archive_state(Archive&) {}
  // Whether archive_state is also a part of the state hash: if the experiment simulates something beside the world.
  virtual bool state_is_hashed() const { return false; }
  // What an experiment simulates beside the world and wants to be recorded and seen; null: nothing. It must live as
  // long as the experiment.
  virtual Cloud* cloud() { return nullptr; }
};

using ExperimentFactory = std::function<std::unique_ptr<Experiment>()>;

struct Library;
// Makes an experiment of a file; a mistake in the file is returned by the experiment's parameters().
using ExperimentFileFactory =
    std::function<std::unique_ptr<Experiment>(const std::filesystem::path& file, const Library& library)>;

// Loads shared libraries that add factories to a Library. Implemented in src/volvox/plugin.
class PluginHost {
 public:
  virtual ~PluginHost() = default;
  // The factories of the plugin keep the shared library in memory. With `isolate`, its behaviours run in a process of
  // their own, and each call may take at most that many seconds.
  virtual Result<void> load(const model::PluginSpec& plugin, std::optional<double> isolate, Library& into,
                            Log& log) = 0;
  // The shared libraries that a run uses: given, named by its world, or asked for something.
  virtual std::vector<std::filesystem::path> files() const { return {}; }
  // Called when a run is over: the cost of isolation; the warnings about plugins that all runs share, which no run's
  // own log contains; and whether an isolated plugin was disabled because it took too long, which depends on the wall
  // clock.
  virtual void add_metrics(Metrics&) const {}
  virtual std::vector<std::string> warnings() const { return {}; }
  virtual bool clock_decided() const { return false; }
};

// Everything that the command line can name. A user's program can add to it.
struct Library {
  physics::EngineRegistry engines = physics::built_in_engines();
  mind::Registries minds;
  Registry<ExperimentFactory> experiments{"experiment"};
  std::map<std::string, ExperimentFileFactory> experiment_files{};  // of other kinds than worlds, by ending: ".json"
  ExtensionRegistry extensions{"extension"};
  std::shared_ptr<PluginHost> plugins{};  // null: plugins cannot be loaded
};

// An experiment found by name or by file.
struct Located {
  std::string name;              // "remod3d/snake", or the name of the file
  std::filesystem::path folder;  // empty if it has none
  std::filesystem::path file;    // its world.sdf, if it has one
  bool registered = false;       // it has a C++ class
};

// All experiments, sorted by name: the registered ones, and the folders with a world.sdf under experiments/ along the
// resource path.
std::vector<Located> find_experiments(const Library& library);

// By name, or by the path of an SDF or URDF file or of one of Library::experiment_files.
Result<Located> locate_experiment(const std::string& name_or_file, const Library& library);
std::unique_ptr<Experiment> make_experiment(const Located& located, const Library& library);

}  // namespace volvox::sim
