// The smoothing kernel: Wendland's C2 (W = a (1 - q)^4 (4 q + 1), q = distance / support), whose gradient needs no
// division and under which particles do not pair; and what a wall adds to it.
// Pure functions of numbers, for floats, lanes and device code. (Wendland 1995; Dehnen and Aly 2012.)
#pragma once

#include "volvox/particles/lanes.h"

namespace volvox::particles {

// About 44 neighbours. With this support grids of all kinds have the same density, so that a grid of particles that is
// sheared does not push back; with 2 it did, and bodies hung in the fluid (decision 0060).
inline constexpr double support_over_spacing = 2.2;
inline constexpr double kernel_at_zero = 21 / (2 * 3.14159265358979323846);  // W(0) s^3

// W and -W' / r, both without their constant factors: multiply by kernel_at_zero / s^3, and 20 kernel_at_zero / s^5.
template <class Number>
VOLVOX_KERNEL Number kernel_value(const Number& q) {
  const Number t = positive(1 - q), t2 = t * t;
  return t2 * t2 * (4 * q + 1);
}
template <class Number>
VOLVOX_KERNEL Number kernel_slope(const Number& q) {
  const Number t = positive(1 - q);
  return t * t * t;
}

// What a wall adds to the density of a particle at a distance (in supports): `part` of the density at rest, and
// `slope`, how much that falls with the distance. It stands for the layers of fluid that the wall displaces. The
// integral of the kernel over the wall would have the right density half a spacing away but only half of the slope, and
// pressure would drive particles into the wall. The fourth power below has both: on a grid that begins half a spacing
// from the wall, a particle of the first layer has the density of one within the fluid, and is pushed as strongly.
struct Behind {
  float part = 0, slope = 0;
};
inline constexpr float wall_part = 0.1582f;   // half a spacing away: the layers of the grid that are not there
inline constexpr float wall_steep = 3.3846f;  // with this fourth power, twice the slope of these layers
inline constexpr float wall_reach = 0.5f / static_cast<float>(support_over_spacing) + 1 / wall_steep;  // in supports
// Around what is round, particles see more of each other than along a flat wall, and stay farther away. So a ball is
// taken as smaller by this over its radius, all in supports, and a cylinder by half of that (measured: decision 0065).
inline constexpr float round_gap = 0.0124f;
VOLVOX_KERNEL float gap_at_round(float radius, float support) {
  return round_gap * smaller(support / radius, static_cast<float>(support_over_spacing));
}
VOLVOX_KERNEL Behind behind_wall(float d) {
  if (d >= wall_reach) return {};
  const float t = (wall_reach - (d > 0 ? d : 0)) * wall_steep, t3 = t * t * t;
  return {wall_part * t3 * t, 4 * wall_steep * wall_part * t3};
}

}  // namespace volvox::particles
