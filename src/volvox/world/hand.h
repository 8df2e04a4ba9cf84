// A hand from outside that holds a link, carries it and lets go: for experiment scripts that do what a
// person does to a robot. It pulls by forces with a limited speed, through a joint to the world (which takes
// the reaction), never by a jump of pose.
#pragma once

#include "volvox/world/world.h"

namespace volvox::world {

class Hand {
 public:
  // Takes hold of a link and carries it to a pose (of the link's frame), or, with none, holds it where it is.
  // Who holds something else lets go of it first.
  void carry(World& world, std::uint32_t link, const Pose& to, double speed = 0.3);
  void hold(World& world, std::uint32_t link) { carry(world, link, world.link_pose(link)); }
  void let_go(World& world);

  bool holds() const { return link_ != nobody; }
  std::uint32_t link() const { return link_; }  // nobody: it is empty
  const Pose& target() const { return target_; }
  bool arrived(const World& world) const;  // the link is where it was to be carried

  // A snapshot of the run holds the joint (the engine's) and this.
  template <class A>
  void archive(A& ar) {
    ar("link", link_);
    ar("joint", joint_);
    ar("target", target_);
  }

 private:
  std::uint32_t link_ = nobody;
  physics::JointId joint_;
  Pose target_;
};

}  // namespace volvox::world
