// How an open dock moves, for trees and loops.
// SI units, world frame. One thread, that of the island; changes this joint's latch and nothing else of the world.
#pragma once

#include "volvox/physics/native/island.h"
#include "volvox/physics/native/tree_kernel.h"

namespace volvox::physics::native {

// If the dock is still open, sets the motion of body b against body a, at b's centre of mass
// `centre`, and advances the latch: the latch's own speed, and a share of how far it is
// behind, at frame_b's origin, which both bodies share.
inline void load_latch(World& world, std::size_t joint, double step, const Vec3& centre, Spatial<double>& beta) {
  DockLatch& latch = world.system.latches[joint];
  if (latch.closed()) return;
  const JointDesc& desc = world.system.joint_descs[joint];
  const JointFrames& frames = world.frames[joint];
  const Pose a = support_pose(world, desc.a) * frames.a, b = support_pose(world, desc.b) * frames.b;
  const Pose offset = a.inverse() * b, wanted = latch.target();
  const Twist rate = latch.rate(step);
  const double back = joint_correction / step;
  const Vec3 behind = rotation_vector(wanted.rotation * offset.rotation.conjugate());
  const Vec3 turn = a.rotation * (rate.angular + behind * back);
  const Vec3 pull = a.rotation * (rate.linear + (wanted.position - offset.position) * back);
  beta = {lane(turn), lane(pull + cross(turn, centre - b.position))};
  latch.advance(step);
}

}  // namespace volvox::physics::native
