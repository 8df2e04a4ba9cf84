// The data that every engine needs: the descriptions of bodies and joints, and the arrays of the interface (units and
// frames as in engine.h). An engine owns one System, moves its bodies, and adds the data of its own method.
// Threads and determinism as in engine.h. Shapes are shared with the models; all else is owned.
#pragma once

#include <optional>
#include <vector>

#include "volvox/physics/dock_latch.h"
#include "volvox/physics/engine.h"
#include "volvox/physics/state_rules.h"

namespace volvox::physics {

struct System : StateArrays {
  explicit System(const Vec3& world_gravity) : gravity(world_gravity) {}

  IdPool<BodyTag> body_ids;
  std::vector<BodyDesc> bodies;  // pose and velocity here are those at the start; moments are at least least_moments()
  std::vector<std::vector<JointId>> joints_of;  // by body index, in the order they were made

  IdPool<JointTag> joint_ids;
  std::vector<JointDesc> joint_descs;
  std::vector<DockLatch> latches;

  std::vector<Contact> contacts;  // of the last substep, once an engine has been asked for them
  Vec3 gravity;

  BodyId add(const BodyDesc& desc);
  JointId add(const JointDesc& desc);
  void remove(BodyId id);  // its joints must have been removed
  void remove(JointId id);

  // The rule for all engines: two bodies may collide if at least one is dynamic, they do not belong to the same quiet
  // owner, and no joint connects them.
  bool may_touch(std::size_t a, std::size_t b) const;
  bool moves(BodyId id) const { return id.valid() && bodies[id.index].motion == Motion::dynamic; }
  // The pose of a joint's frame_b in its frame_a.
  Pose relative_pose(std::size_t joint) const;
  // Position and velocity of a joint from the poses and velocities of its bodies. The angle is unwrapped: it is the one
  // nearest to the position before.
  void measure_joint(std::size_t joint);
  void measure_position(std::size_t joint);

  // Every field that the next step depends on, joints included. A snapshot of other bodies is refused.
  void archive(Archive& ar);
  void archive_topology(Archive& ar);
};

// Holds the system as a base, so that it is there before the Engine that refers to its arrays.
struct SystemHolder {
  explicit SystemHolder(const Vec3& gravity) : system_(gravity) {}
  System system_;
};

// The common part of all engines that own a System.
class SystemEngine : protected SystemHolder, public Engine {
 public:
  const EngineInfo& info() const final { return info_; }
  bool has(JointId id) const final { return system_.joint_ids.alive(id); }
  void contacts(std::vector<Contact>& out) const final {
    if (contacts_kept_) out = system_.contacts;
    else read_contacts(out);
  }

 protected:
  explicit SystemEngine(const Vec3& gravity) : SystemHolder(gravity), Engine(system_) {}

  // Replaces `out` by the contacts of the last substep.
  virtual void read_contacts(std::vector<Contact>& out) const = 0;
  void contacts_changed() { contacts_kept_ = false; }  // by an advance
  // Called before a change from outside, or a snapshot, makes the input of read_contacts() invalid.
  void keep_contacts() {
    if (!contacts_kept_) read_contacts(system_.contacts);
    contacts_kept_ = true;
  }

  EngineInfo info_;

 private:
  bool contacts_kept_ = true;
};

// Two quiet bodies of the same owner do not collide. For any types with `owner` and `quiet`.
template <class A, class B>
bool quiet_together(const A& a, const B& b) {
  return a.quiet && b.quiet && a.owner != 0 && a.owner == b.owner;
}

// Descriptions that no engine supports: a mass of zero, a mesh that moves, a hull with three points.
std::optional<Error> problem_with(const BodyDesc& desc);

// The least moments of inertia that a body of this mass and these colliders is given: those of a core of a fiftieth of
// its extents. With less, a touch spins it so fast that no substep can follow. Zero for a body without colliders.
Vec3 least_moments(const BodyDesc& desc);

// The first command or force that is not a number, if there is one.
StepStatus problem_with_inputs(const System& system);
// The body that is not a number, runs away (1e4 m/s, 1e5 rad/s) or has left the world (1e6 m); of several, the worst.
StepStatus problem_with_state(const System& system);

// Whether it is finite and of unit length, as every rotation of an engine is.
bool is_rotation(const Quat& q);

// For assertions: every array of an engine has its length, and poses are finite with unit quaternions.
bool in_order(const Engine& engine);

// The fewest equal parts of a tick that are no longer than max_substep.
int substep_count(double tick, double max_substep);
}  // namespace volvox::physics
