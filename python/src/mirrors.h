// The state of a world as arrays whose memory never moves: what Python sees through NumPy.
//
// An engine's own arrays grow and move when docks join, and end with their world; a NumPy array that looked at them
// would then read freed memory. A mirror is allocated once, is filled again after every step (only where somebody
// looks), and lives as long as the last array on it. docs/decisions/0090 has what the copy costs. SI units, world
// frame. The thread that steps the world fills them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "volvox/sim/simulation.h"

namespace volvox::python {

class Mirrors {
 public:
  explicit Mirrors(const sim::Simulation& simulation);

  // Each makes its array and fills it, if nobody has asked for it before.
  const std::vector<Pose>& poses(const sim::Simulation& simulation);                  // by link
  const std::vector<Twist>& velocities(const sim::Simulation& simulation);            // by link
  const std::vector<physics::JointState>& joints(const sim::Simulation& simulation);  // by joint
  struct Docks {
    std::vector<world::DockLoad> loads;
    std::vector<std::uint8_t> phases, enabled, broken;  // world::DockPhase; 0 or 1
    std::vector<std::int32_t> partners;                 // -1: free
  };
  const Docks& docks(const sim::Simulation& simulation);

  // Water, grains and points of cloth, by their numbers, which never change: NaN and -1 for those that are not there.
  struct Particles {
    std::vector<Vec3> positions, velocities;
    std::vector<std::int32_t> kinds;  // index into particle_kinds()
  };
  const Particles& particles(const sim::Simulation& simulation);
  static std::vector<std::string> particle_kinds(const sim::Simulation& simulation);  // "fluid", "debris 0", "cloth 0"

  // The floating-point numbers of a percept: a row a module, NaN where a module does not have it. Of a dock: whether it
  // is enabled, engaged, latching and broken, as 0 or 1.
  struct Percept {
    std::string name;
    std::size_t width = 0;
    std::vector<int> index;  // by agent; negative: it has none
    std::vector<double> numbers;
  };
  const Percept* percept(const sim::Simulation& simulation, const std::string& name);  // null: no module has it

  void refresh(const sim::Simulation& simulation);  // all that somebody has asked for

 private:
  void fill_poses(const world::World& world);
  void fill_velocities(const world::World& world);
  void fill_joints(const world::World& world);
  void fill_docks(const world::World& world);
  void fill_particles(const world::World& world);
  static void fill(Percept& percept, const mind::Minds& minds);

  std::size_t joint_count_ = 0;
  std::vector<Pose> poses_;
  std::vector<Twist> velocities_;
  std::vector<physics::JointState> joints_;
  Docks docks_;
  Particles particles_;
  bool wants_poses_ = false, wants_velocities_ = false, wants_joints_ = false, wants_docks_ = false,
       wants_particles_ = false;
  std::vector<std::unique_ptr<Percept>> percepts_;
};

}  // namespace volvox::python
