// What every engine says of a state, compiled for the processor and for GPUs: the position of a joint, and which motion
// cannot be meant.
// SI units; pure functions: any thread, the same bits everywhere.
#pragma once

#include <cmath>
#include <limits>

#include "volvox/base/elementary.h"
#include "volvox/base/gpu.h"
#include "volvox/base/math.h"
#include "volvox/physics/engine.h"

namespace volvox::physics {

inline constexpr double fastest = 1e4, fastest_spin = 1e5, farthest = 1e6;  // m/s, rad/s, m

// By how much a body is beyond what can be meant: more than 1 is a runaway.
VOLVOX_ALSO_ON_GPU inline double excess(const Pose& pose, const Twist& velocity) {
  if (!finite(pose) || !finite(velocity)) return std::numeric_limits<double>::infinity();
  const double speed = length(velocity.linear) / fastest, spin = length(velocity.angular) / fastest_spin,
               distance = length(pose.position) / farthest;
  const double faster = speed < spin ? spin : speed;
  return faster < distance ? distance : faster;
}

// The angle of a rotation about z, unwrapped: the one nearest to `previous`.
VOLVOX_ALSO_ON_GPU inline double unwrapped_angle(const Quat& rotation, double previous) {
  const double angle = 2 * elementary::atan2(rotation.z, rotation.w);
  return angle + 2 * pi * std::round((previous - angle) / (2 * pi));
}

// The position of a joint between two links with these poses (the first is the identity where the joint hangs on the
// world); `previous` where it has none.
VOLVOX_ALSO_ON_GPU inline double joint_position(const JointDesc& desc, const Pose& link_a, const Pose& link_b,
                                                double previous) {
  if (desc.type == JointType::revolute) {
    const Quat a = desc.a.valid() ? link_a.rotation * desc.frame_a.rotation : desc.frame_a.rotation;
    const Quat b = link_b.rotation * desc.frame_b.rotation;
    return unwrapped_angle(a.conjugate() * b, previous);
  }
  if (desc.type == JointType::prismatic) {
    const Pose a = desc.a.valid() ? link_a * desc.frame_a : desc.frame_a;
    const Pose b = link_b * desc.frame_b;
    return dot(a.rotation * Vec3{0, 0, 1}, b.position - a.position);
  }
  return previous;
}

}  // namespace volvox::physics
