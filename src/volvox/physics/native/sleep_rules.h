// When bodies come to rest. Compiled for the processor and for GPUs.
// SI units; pure functions: any thread, the same bits everywhere.
#pragma once

#include "volvox/base/gpu.h"
#include "volvox/base/math.h"

namespace volvox::physics::native {

inline constexpr double still_speed = 2e-3;   // m/s
inline constexpr double still_turn = 1e-2;    // rad/s
inline constexpr double time_to_sleep = 0.5;  // s

VOLVOX_ALSO_ON_GPU inline bool lies_still(const Vec3& linear, const Vec3& angular) {
  return length_squared(linear) < still_speed * still_speed && length_squared(angular) < still_turn * still_turn;
}
// For how long it has lain still, after a tick at whose end it has these velocities.
VOLVOX_ALSO_ON_GPU inline double still_after(double still, const Vec3& linear, const Vec3& angular, double tick) {
  if (!lies_still(linear, angular)) return 0;
  const double longer = still + tick;
  return 2 * time_to_sleep < longer ? 2 * time_to_sleep : longer;
}

}  // namespace volvox::physics::native
