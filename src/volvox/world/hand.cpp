#include "volvox/world/hand.h"

#include <algorithm>

#include "volvox/base/check.h"

namespace volvox::world {

void Hand::carry(World& world, LinkIndex link, const Pose& to, double speed) {
  VOLVOX_ASSERT(link < world.links() && finite(to) && speed > 0);
  let_go(world);
  const Pose from = world.link_pose(link);
  const double way = length(to.position - from.position), turn = angle(from.rotation.conjugate() * to.rotation);
  const double time = std::max({way / speed, turn / 2, 0.05});  // s: no faster than 2 rad/s
  joint_ = world.hold(link, to, time, speed);
  VOLVOX_ASSERT(joint_.valid());
  link_ = link;
  target_ = to;
}

void Hand::let_go(World& world) {
  if (!holds()) return;
  VOLVOX_ASSERT(joint_.valid() && link_ < world.links());
  world.release(joint_);
  link_ = nobody;
  joint_ = {};
}

bool Hand::arrived(const World& world) const { return holds() && world.arrived(joint_); }

}  // namespace volvox::world
