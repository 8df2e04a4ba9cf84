// A hand from outside that takes hold of a link, carries it and lets go: for experiment scripts that do what a person
// does to a robot. It is a placement of its own, a small body on three slides and three hinges whose motors have a
// stated force and torque: what loads it beyond that carries it away, and it comes back when the load is less. It has
// no weight but 0.6 kg of inertia, touches nothing but what it holds, and no pose jumps when it takes hold; it comes
// with some 0.3 m/s, which a fixed joint shares out at once. Poses in the world frame, SI units. To be called between
// two ticks, by the thread of the loop.
#pragma once

#include <array>

#include "volvox/world/world.h"

namespace volvox::world {

// To be placed without a mind, with its frame at that of the world. `force`: N along each axis of the world; `torque`:
// N m about each hinge.
model::ModuleModel hand_model(double force, double torque);

class Hand {
 public:
  // Lets go of what it holds, goes to where the link is, wherever that moves, and takes hold of it there.
  void reach(World& world, LinkIndex link);
  // Carries what it holds until the link's frame is at a pose, at `speed` (m/s) and 1 rad/s on average.
  void carry(const Pose& to, double speed = 0.3);
  void let_go(World& world);
  // Once before every tick. `hand`: its placement; `dt`: s, the length of the tick.
  void move(World& world, PlacementIndex hand, double dt);

  bool holds() const { return joint_.valid(); }
  bool arrived() const { return holds() && there_; }  // with what it carries
  LinkIndex link() const { return link_; }            // that it holds or reaches for; nobody: neither

  // For snapshots. The joints are part of the engine's state.
  template <class A>
  void archive(A& ar) {
    ar("link", link_);
    ar("joint", joint_);
    ar("held at", held_at_);
    ar("from", from_);
    ar("to", to_);
    ar("part", part_);
    ar("time", time_);
    ar("there", there_);
    if (ar.loading() && !(time_ > 0 && part_ >= 0 && part_ <= 1)) ar.fail("a hand is on a way that does not exist");
  }

 private:
  using Axes = std::array<double, 6>;  // x, y, z (m), yaw, pitch, roll (rad)
  Axes wanted() const;
  void chase(World& world, LinkIndex palm, const Axes& at);

  LinkIndex link_ = nobody;
  physics::JointId joint_;
  Pose held_at_;        // of the link, in the hand's frame
  Axes from_{}, to_{};  // its way
  double part_ = 1;     // of the way, by time
  double time_ = 1;     // s, that the way takes
  bool there_ = false;
};

}  // namespace volvox::world
