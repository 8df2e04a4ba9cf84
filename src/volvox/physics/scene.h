// What every engine keeps: the descriptions it was given, and the arrays of its interface.
// An engine holds one Scene, moves what is in it, and adds only what is its own.
#pragma once

#include <optional>
#include <vector>

#include "volvox/physics/dock_latch.h"
#include "volvox/physics/engine.h"

namespace volvox::physics {

struct Scene {
  explicit Scene(const Vec3& world_gravity) : gravity(world_gravity) {}

  IdPool<BodyTag> body_ids;
  std::vector<BodyDesc> bodies;  // pose and velocity here are those at the start
  std::vector<Pose> poses;
  std::vector<Twist> velocities;
  std::vector<Wrench> forces;
  std::vector<std::vector<JointId>> joints_of;  // by body index, in the order they were made

  IdPool<JointTag> joint_ids;
  std::vector<JointDesc> joint_descs;
  std::vector<MotorCommand> motors;
  std::vector<JointState> joints;
  std::vector<Wrench> loads;
  std::vector<std::uint8_t> latched;
  std::vector<DockLatch> latches;

  std::vector<Contact> contacts;  // as they were in the last substep
  Vec3 gravity;

  BodyId add(const BodyDesc& desc);
  JointId add(const JointDesc& desc);
  void remove(BodyId id);  // its joints must have been removed
  void remove(JointId id);

  // Whether two bodies may collide: one moves freely, no quiet owner has both, no joint connects them.
  bool may_touch(std::size_t a, std::size_t b) const;
  bool moves(BodyId id) const { return id.valid() && bodies[id.index].motion == Motion::dynamic; }
  // The pose of a joint's frame_b in its frame_a.
  Pose relative_pose(std::size_t joint) const;
  // Position and velocity of a joint from the poses and velocities of its bodies; the turn is
  // the one nearest to the position it had.
  void measure_joint(std::size_t joint);

  // Every field that the next step depends on, joints included. The bodies must be the same: a
  // snapshot of others is refused.
  void archive(Archive& ar);
  void archive_topology(Archive& ar);
};

// What no engine can hold: a mass of zero, a mesh that moves, a hull with three points.
std::optional<Error> problem_with(const BodyDesc& desc);

// The first command or force that is not a number, if there is one.
StepStatus problem_with_inputs(const Scene& scene);
// The first body that is not a number, runs away (1e4 m/s) or has left the world (1e6 m).
StepStatus problem_with_state(const Scene& scene);

// For checks: every array of an engine has its length, and poses are finite with rotations of length 1.
bool in_order(const Engine& engine);

// The fewest equal parts of a tick that are no longer than max_substep.
int substep_count(double tick, double max_substep);

// The angle of a rotation about z, on the turn nearest to `previous`.
double unwrapped_angle(const Quat& rotation, double previous);

}  // namespace volvox::physics
