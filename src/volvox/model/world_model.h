// The initial state of a world: modules and obstacles with their poses, and the engaged docks. It is read
// from SDF or built in C++ with WorldBuilder, and immutable afterwards. SI units, poses in the world frame.
// Any thread may read it. Placements and connections keep the order of the file or of the calls, and numbers count them
// from 0.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/time.h"
#include "volvox/model/module_model.h"

namespace volvox::model {

// A module's own clock, relative to the simulated time.
struct Clock {
  double offset = 0;     // s
  double drift_ppm = 0;  // parts per million; positive: the clock is fast
};

// The uniform distribution of the clocks of modules without a given clock: real modules are switched on one by one,
// and their quartzes differ. Each module draws from its own random stream.
struct ClockSpread {
  double offset = 0;     // s: offsets lie between 0 and this
  double drift_ppm = 0;  // drifts lie between minus and plus this
};

struct Placement {
  std::string name;  // unique in the world
  std::shared_ptr<const ModuleModel> model;
  Pose pose;                      // of the module's frame
  std::vector<double> positions;  // of its joints; empty: all zero
  Twist velocity;                 // initial velocity of the whole; linear is that of the frame's origin
  std::optional<Mind> mind;       // replaces the model's
  std::optional<Clock> clock;     // nullopt: drawn from the world's clocks
  bool posed = true;              // false until resolve_connections sets the pose
  std::string file;
  int line = 0;

  bool is_module() const { return mind.has_value() || model->mind.has_value(); }
  const Mind* effective_mind() const { return mind ? &*mind : model->mind ? &*model->mind : nullptr; }
};

// Two docks that are engaged at the start.
struct Connection {
  int a = 0, dock_a = 0;  // indices of the placement and of its dock
  int b = 0, dock_b = 0;
  int turn = 0;
  std::string file;
  int line = 0;
};

// The radio channel that radios share. A channel that is not declared has the defaults.
enum class PropagationLaw { friis, log_distance, two_ray, terahertz };
struct Channel {
  std::string name;
  double frequency = 2.4e9;  // Hz
  PropagationLaw law = PropagationLaw::friis;
  double exponent = 3, reference_distance = 1;  // of log_distance; m
  double absorption = 0;                        // 1/m, of terahertz
  double shadowing_db = 0;                      // standard deviation of log-normal shadowing; 0: none
  bool fading = false;                          // Rayleigh
  double cull_radius = 0;                       // m, farther radios are ignored; 0: every radio hears every other
  // The fraction of the power that passes each body between two radios; 1: bodies do not attenuate.
  double passes_bodies = 1;
  // A law of a plugin, which replaces `law`, and its parameters.
  std::string custom_law{};
  std::map<std::string, std::string> custom_parameters{};
  int line = 0;
};

struct RunSettings {
  Time duration = Time::seconds(10);
  TickLength dt{1, 60};
  double max_substep = 1.0 / 240;  // s, of the physics engine
  std::string engine{};            // used unless the command line names another; empty: the default engine
  int line = 0;                    // of these settings in the world's file; 0: not given there
};

struct Matter;  // model/matter.h

struct WorldModel {
  std::string name = "world";
  std::string file;
  Vec3 gravity{0, 0, -9.81};
  std::vector<Placement> placements;
  std::vector<Connection> connections;
  std::vector<Channel> channels;    // of radios
  ClockSpread clocks;               // by default all clocks are exact
  std::vector<PluginSpec> plugins;  // in the order of the file, loaded before the plugins of the models
  RunSettings run;
  std::shared_ptr<const Matter> matter{};  // water, rubble and cloth; null: none
};

// The largest allowed misalignment of docks that a file declares as engaged.
inline constexpr double connection_tolerance_m = 0.5e-3;
inline constexpr double connection_tolerance_rad = radians(0.5);

// Computes the poses of the placements without one, by following the connections from placements with a
// pose, and checks that connections which close loops agree to 0.5 mm and 0.5 degrees. The error
// says how many mm and degrees are missing.
Result<void> resolve_connections(WorldModel& world);

}  // namespace volvox::model
