// What is in a world at the start: modules and obstacles with their poses, and which docks
// are engaged. Read from SDF, or put together in C++ with SceneBuilder; immutable afterwards.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/time.h"
#include "volvox/model/module_model.h"

namespace volvox::model {

// A module's own clock: what it believes the time to be.
struct Clock {
  double offset = 0;     // s
  double drift_ppm = 0;  // fast by so many parts in a million
};

// From what the clocks of modules are drawn that have been given none: whoever made and switched on
// the modules did it one by one, and quartzes differ. Each draws from its own random stream.
struct ClockSpread {
  double offset = 0;     // s: each offset lies between 0 and this
  double drift_ppm = 0;  // and each drift between minus and plus this
};

struct Placement {
  std::string name;  // unique in the world
  std::shared_ptr<const ModuleModel> model;
  Pose pose;                      // of the module's frame
  std::vector<double> positions;  // of its joints; empty: all zero
  Twist velocity;                 // of the whole, at the start; linear is that of the frame's origin
  std::optional<Mind> mind;       // instead of the model's
  std::optional<Clock> clock;     // nothing: drawn from the world's clocks
  bool posed = true;              // false until a connection gives the pose
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

// The air that the radios of one channel share. Channels that are not declared have the defaults.
enum class PropagationLaw { friis, log_distance, two_ray, terahertz };
struct Channel {
  std::string name;
  double frequency = 2.4e9;  // Hz
  PropagationLaw law = PropagationLaw::friis;
  double exponent = 3, reference_distance = 1;  // of log_distance; m
  double absorption = 0;                        // 1/m, of terahertz
  double shadowing_db = 0;                      // deviation of log-normal shadowing; 0: none
  bool fading = false;                          // Rayleigh
  double cull_radius = 0;                       // m; 0: exact, every radio hears every other
  // The fraction of the power that passes each body between two radios; 1: nothing is in the way.
  double passes_bodies = 1;
  // A law that a plugin brought, instead of `law`, and what it is told.
  std::string custom_law{};
  std::map<std::string, std::string> custom_parameters{};
  int line = 0;
};

struct RunSettings {
  Time duration = Time::seconds(10);
  TickLength dt{1, 60};
  double max_substep = 1.0 / 240;  // s, of the physics engine
  std::string engine{};            // where nobody asks for another; empty: the default one
  int line = 0;                    // where the world's file says all this; 0: nowhere
};

struct WorldModel {
  std::string name = "world";
  std::string file;
  Vec3 gravity{0, 0, -9.81};
  std::vector<Placement> placements;
  std::vector<Connection> connections;
  std::vector<Channel> channels;    // of radios
  ClockSpread clocks;               // by default all are exact
  std::vector<PluginSpec> plugins;  // in the order of the file; those of the models come after them
  RunSettings run;
};

// How far docks that are said to be engaged may be off, when nothing can move any more.
inline constexpr double connection_tolerance_m = 0.5e-3;
inline constexpr double connection_tolerance_rad = radians(0.5);

// Gives every placement that is not posed its pose, by following the connections from those
// that are, and checks that the connections which close loops agree to 0.5 mm and 0.5 degrees.
// The error says by how many mm and degrees a loop is off.
Result<void> resolve_connections(WorldModel& world);

}  // namespace volvox::model
