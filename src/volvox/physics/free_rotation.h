// The rotation of a free body, for engines whose integrator does not conserve angular momentum. World axes, SI units.
// Pure functions, with the same bits on every machine.
#pragma once

#include "volvox/base/math.h"

namespace volvox::physics {

struct Spin {
  Quat rotation;  // of the principal axes
  Vec3 velocity;
};

// Rotates a free body for one step by the implicit midpoint rule with constant angular momentum: exact in momentum,
// second order in energy, stable at any speed.
inline Spin turned(const Spin& spin, const Vec3& moments, double step) {
  const auto divide = [](const Vec3& a, const Vec3& b) { return Vec3{a.x / b.x, a.y / b.y, a.z / b.z}; };
  const Vec3 momentum = spin.rotation * multiply(moments, spin.rotation.conjugate() * spin.velocity);
  const auto velocity_at = [&](const Quat& q) { return q * divide(q.conjugate() * momentum, moments); };
  Vec3 middle = spin.velocity;
  for (int i = 0; i < 8; ++i) {
    const Vec3 next = velocity_at(from_rotation_vector(middle * (step / 2)) * spin.rotation);
    const double change = length_squared(next - middle);
    middle = next;
    if (change <= 1e-26 * length_squared(middle)) break;
  }
  const Quat rotation = normalized(from_rotation_vector(middle * step) * spin.rotation);
  return {rotation, velocity_at(rotation)};
}

}  // namespace volvox::physics
