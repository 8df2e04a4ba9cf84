// A hand from outside that holds a link, carries it and releases it: for experiment scripts that do what a person does
// to a robot. It pulls with forces at a limited speed, through a joint to the world (which takes the reaction); the
// link's pose never jumps.
// Poses in the world frame (m), speeds in m/s; a link turns at most 2 rad/s. The joint belongs to the world's engine,
// and a hand that is destroyed does not release it: let_go() does. To be called between two ticks, by the thread of the
// loop.
#pragma once

#include "volvox/world/world.h"

namespace volvox::world {

class Hand {
 public:
  // Holds a link and carries it to a pose of its frame in the world, or keeps it where it is if no pose is given. A
  // hand that holds another link releases that one first.
  void carry(World& world, LinkIndex link, const Pose& to, double speed = 0.3);
  void hold(World& world, LinkIndex link) { carry(world, link, world.link_pose(link)); }
  void let_go(World& world);

  bool holds() const { return link_ != nobody; }
  LinkIndex link() const { return link_; }  // nobody: the hand is empty
  const Pose& target() const { return target_; }
  bool arrived(const World& world) const;  // the link has reached its pose

  // For snapshots. The joint is part of the engine's state.
  template <class A>
  void archive(A& ar) {
    ar("link", link_);
    ar("joint", joint_);
    ar("target", target_);
  }

 private:
  LinkIndex link_ = nobody;
  physics::JointId joint_;
  Pose target_;
};

}  // namespace volvox::world
