#include "volvox/world/hand.h"

#include <algorithm>

namespace volvox::world {

void Hand::carry(World& world, std::uint32_t link, const Pose& to, double speed) {
  let_go(world);
  const Pose from = world.link_pose(link);
  const double way = length(to.position - from.position), turn = angle(from.rotation.conjugate() * to.rotation);
  physics::JointDesc desc;
  desc.type = physics::JointType::dock;  // what pulls docks together, pulls a link into the hand
  desc.b = world.body(link);
  desc.frame_a = to;
  desc.latch_time = std::max({way / speed, turn / 2, 0.05});  // s: no faster than 2 rad/s
  desc.pull_speed = speed;
  joint_ = world.engine().add_joint(desc);
  link_ = link;
  target_ = to;
}

void Hand::let_go(World& world) {
  if (!holds()) return;
  if (world.engine().has(joint_)) world.engine().remove_joint(joint_);
  link_ = nobody;
  joint_ = {};
}

bool Hand::arrived(const World& world) const { return holds() && world.engine().latched()[joint_.index] != 0; }

}  // namespace volvox::world
