// An experiment sets a world up, watches it run, and says what came out (seed 000's class
// Experiment with init and shutdown). A folder under experiments/ with a world.sdf is one
// without any C++; a class adds what SDF cannot say: metrics, scripts, a world built in code.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "volvox/base/registry.h"
#include "volvox/mind/anatomy.h"
#include "volvox/model/reader.h"
#include "volvox/model/scene.h"
#include "volvox/sim/extension.h"
#include "volvox/sim/metrics.h"
#include "volvox/sim/simulation.h"

namespace volvox::sim {

// What init() has to work with.
struct Setup {
  std::filesystem::path folder;                 // of the experiment; may be empty
  std::map<std::string, std::string> settings;  // --set KEY=VALUE, checked against parameters()
  std::uint64_t seed = 1;
  model::ModelLibrary& library;
  mind::Registries& registries;  // to add behaviours and sensors of its own
  std::vector<Diagnostic>& warnings;
};

class Experiment {
 public:
  virtual ~Experiment() = default;

  // What --set can change. By default, the parameters of world.sdf.
  virtual Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path& folder) const;
  // Makes the world. By default, reads world.sdf in the experiment's folder.
  virtual Result<model::WorldModel> init(Setup& setup);
  // From where a picture or a film of it is taken unless another camera is asked for; as --camera
  // names it (view/camera.h). For worlds where a look at the modules alone does not show what is done.
  virtual std::string camera() const { return "corner"; }
  // The simulation stands at tick 0.
  virtual void begin(const Simulation&) {}
  // Between two ticks: an experiment's script may act on the run here, as a hand would.
  virtual void before_tick(Simulation&) {}
  // After every tick; for measuring.
  virtual void observe(const Simulation&) {}
  // The run is over: report, and let go of everything.
  virtual void shutdown(const Simulation&, Metrics&) {}
  // Files of its own, after shutdown, into the folder of the run's results.
  virtual Result<void> write(const std::filesystem::path& /*folder*/) const { return {}; }
  // What it has measured so far, so that a restored run reports as if it had never stopped.
  virtual void archive_state(Archive&) {}
};

using ExperimentFactory = std::function<std::unique_ptr<Experiment>()>;

struct Library;

// Loads shared libraries that add to a library of factories (src/volvox/plugin has the one there is).
class PluginHost {
 public:
  virtual ~PluginHost() = default;
  // Its factories keep the shared library in memory. With `isolate`, its behaviours run in a process
  // of their own, which may take so many seconds for a call.
  virtual Result<void> load(const model::PluginSpec& plugin, std::optional<double> isolate, Library& into,
                            Log& log) = 0;
  // What became of its plugins, once a run is over: what isolation cost the runs that are still there; what was
  // said of plugins that are there for all runs, so that no run's own log has it; and whether an isolated plugin was
  // disabled for taking too long, which may go otherwise another time.
  virtual void add_metrics(Metrics&) const {}
  virtual std::vector<std::string> warnings() const { return {}; }
  virtual bool clock_decided() const { return false; }
};

// Everything that can be named on the command line, and that a user's program can add to.
struct Library {
  physics::EngineRegistry engines = physics::built_in_engines();
  mind::Registries minds;
  Registry<ExperimentFactory> experiments{"experiment"};
  ExtensionRegistry extensions{"extension"};
  std::shared_ptr<PluginHost> plugins{};  // null: none can be loaded
};

// An experiment as it is found by name or by file.
struct Located {
  std::string name;              // "remod3d/snake", or the file's
  std::filesystem::path folder;  // empty if it has none
  std::filesystem::path file;    // its world.sdf, if it has one
  bool registered = false;       // it has a class
};

// The experiments there are: those registered, and the folders under experiments/ along the
// resource path that hold a world.sdf. Sorted by name.
std::vector<Located> find_experiments(const Library& library);

// By name, or by the path of an SDF or URDF file.
Result<Located> locate_experiment(const std::string& name_or_file, const Library& library);
std::unique_ptr<Experiment> make_experiment(const Located& located, const Library& library);

}  // namespace volvox::sim
