// What every engine keeps: the descriptions it was given, and the arrays of its interface.
// An engine holds one Scene, moves what is in it, and adds only what is its own.
#pragma once

#include <optional>
#include <vector>

#include "volvox/physics/dock_latch.h"
#include "volvox/physics/engine.h"

namespace volvox::physics {

struct Scene : StateArrays {
  explicit Scene(const Vec3& world_gravity) : gravity(world_gravity) {}

  IdPool<BodyTag> body_ids;
  std::vector<BodyDesc> bodies;                 // pose and velocity here are those at the start
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

  // The rule for all engines: whether two bodies may collide. One moves freely, no quiet owner has both, no joint
  // connects them.
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

// What engines that hold a Scene have in common.
class SceneEngine : public Engine {
 public:
  const EngineInfo& info() const final { return info_; }
  bool has(JointId id) const final { return scene_.joint_ids.alive(id); }
  void contacts(std::vector<Contact>& out) const final {
    if (contacts_kept_) out = scene_.contacts;
    else read_contacts(out);
  }

 protected:
  explicit SceneEngine(const Vec3& gravity) : Engine(scene_), scene_(gravity) {}

  // Replaces `out` by the contacts of the last substep.
  virtual void read_contacts(std::vector<Contact>& out) const = 0;
  void contacts_changed() { contacts_kept_ = false; }  // by an advance
  // Before the next advance, wherever what read_contacts() looks at is changed from outside or saved.
  void keep_contacts() {
    if (!contacts_kept_) read_contacts(scene_.contacts);
    contacts_kept_ = true;
  }

  EngineInfo info_;
  Scene scene_;

 private:
  bool contacts_kept_ = true;
};

// Bodies of one owner that are both quiet do not collide with each other. For whatever has an owner and is quiet.
template <class A, class B>
bool quiet_together(const A& a, const B& b) {
  return a.quiet && b.quiet && a.owner != 0 && a.owner == b.owner;
}

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
