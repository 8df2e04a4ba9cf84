// The arithmetic of the fluid, once for the processor and for a GPU. `Number` is `Lanes` on the processor (eight
// neighbours side by side) and float on a GPU, where eight threads have a particle: neighbour k of a list is in lane
// k % 8 of both, and lanes are added in one order, so both have the same bits. Neighbours beyond the support add zeros.
#pragma once

#include "volvox/particles/fluid.h"
#include "volvox/particles/shape_kernels.h"

namespace volvox::particles {

// Each particle makes this share of the correction that would mend its density if it moved alone. They all move at
// once, and so add up: on a grid, the shortest wave of density is corrected by 3.03 times the share. By more than
// twice, it would grow; 3.03 x 0.41 = 1.24 leaves a margin for particles that are not on a grid.
inline constexpr float share_of_correction = 0.41f;

// Over the neighbours at minus (dx, dy, dz).
template <class Number>
struct DensitySums {
  Number value, slopes, x, y, z;
};
template <class Number>
VOLVOX_KERNEL void add_neighbour(const FluidNumbers& n, const Number& dx, const Number& dy, const Number& dz,
                                 DensitySums<Number>& sums) {
  const Number r2 = dx * dx + dy * dy + dz * dz, q = square_root(r2) * n.inverse_support;
  const Number slope = kernel_slope<Number>(q);
  sums.value += slope * positive(1 - q) * (4 * q + 1);
  sums.slopes += slope * slope * r2;
  sums.x += slope * dx, sums.y += slope * dy, sums.z += slope * dz;
}

// What the multipliers of both sides, w together, move a particle.
template <class Number>
struct MoveSums {
  Number x, y, z;
};
template <class Number>
VOLVOX_KERNEL void add_neighbour(const FluidNumbers& n, const Number& dx, const Number& dy, const Number& dz,
                                 const Number& w, MoveSums<Number>& sums) {
  const Number q = square_root(dx * dx + dy * dy + dz * dz) * n.inverse_support;
  const Number weight = kernel_slope<Number>(q) * w;
  sums.x += weight * dx, sums.y += weight * dy, sums.z += weight * dz;
}

// Viscosity and surface tension, of a neighbour at (dx, dy, dz) that is faster by v.
template <class Number>
VOLVOX_KERNEL void add_neighbour(const FluidNumbers& n, float viscosity, float cohesion, const Number& dx,
                                 const Number& dy, const Number& dz, const Number& vx, const Number& vy,
                                 const Number& vz, MoveSums<Number>& sums) {
  const Number slope = kernel_slope<Number>(square_root(dx * dx + dy * dy + dz * dz) * n.inverse_support);
  const Number viscous = slope * viscosity, cohesive = slope * cohesion;
  sums.x += viscous * vx + cohesive * dx;
  sums.y += viscous * vy + cohesive * dy;
  sums.z += viscous * vz + cohesive * dz;
}

// A sphere that is smaller than the kernel counts with its volume, a larger one by what it covers.
VOLVOX_KERNEL Covered covered_by_sphere(const Vector& offset, float radius, float support) {
  const float d = length(offset);
  if (d == 0) return {};
  if (radius > 0.5f * support) {
    const Behind behind = behind_wall((d - radius) / support + gap_at_round(radius, support));
    return {behind.part, offset * (-behind.slope / (support * d))};
  }
  const float q = d / support, ratio = radius / support;
  const float value = 14 * ratio * ratio * ratio;  // its volume times W(0)
  return {value * kernel_value(q), offset * (-20 * value * kernel_slope(q) / (support * support))};
}

// Drag, by which a solid goes with the fluid: Stokes' law and, for fast ones, the drag of a sphere. `relative`: how
// much farther the fluid goes in a substep. Returns what the solid gets of one fluid particle, kg m, over the mass of
// that particle. Each has a share by the kernel: those around a small sphere add up to about 0.7, those around a large
// one to less, which must push whole particles aside anyway. Implicit for the two, so that their difference is never
// overshot.
inline constexpr double drag_coefficient = 0.44;  // of a sphere at Reynolds numbers of 1e3 to 1e5
VOLVOX_KERNEL Vector drag_of(const FluidNumbers& n, const Vector& offset, float radius, float inverse_mass,
                             const Vector& relative, float dt) {
  const float q = length(offset) * n.inverse_support;
  if (q >= 1) return {};
  const float pull = (n.stokes * dt + n.inertial * radius * length(relative)) * radius;  // kg
  return relative * (n.value * kernel_value(q) * pull / (n.mass + pull * (n.mass * inverse_mass + 1)));
}

// A pair of a fluid particle (`seen`, and how far it goes) and a solid (w of `solid`: 1 / mass; of `moved`: radius), as
// they were predicted. What the fluid particle is moved by is added to `got`.
VOLVOX_KERNEL void meet_solid(const FluidNumbers& n, const Point& seen, const Vector& goes, const Point& solid,
                              const Point& moved, float dt, Vector& got) {
  const Vector offset = xyz(seen) - xyz(solid);
  if (seen.w > 0) got = got + covered_by_sphere(offset, moved.w, n.support).gradient * -seen.w;
  got = got - drag_of(n, offset, moved.w, solid.w, goes - xyz(moved), dt);
}
// The other side of it: what the solid gets, over the mass of a fluid particle.
VOLVOX_KERNEL void meet_fluid(const FluidNumbers& n, const Point& seen, const Vector& goes, const Point& solid,
                              const Point& moved, float dt, Vector& got) {
  const Vector offset = xyz(seen) - xyz(solid);
  if (seen.w > 0) got = got + covered_by_sphere(offset, moved.w, n.support).gradient * seen.w;
  got = got + drag_of(n, offset, moved.w, solid.w, goes - xyz(moved), dt);
}

// Shapes side by side are one wall; those that meet in a corner are two. A shape counts by how far its normal is from
// those of shapes that cover more of the particle, so that links which are smaller than a particle do not add up.
struct Walls {
  static constexpr int most = 4;                // that are remembered for a particle: those that cover most of it
  float part[most], x[most], y[most], z[most];  // where they face
  std::uint32_t shape[most];
  int count = 0;  // Nothing else is set before a wall is seen: most particles see none.

  VOLVOX_KERNEL void see(std::uint32_t number, const Covered& covered) {
    const float steep = length(covered.gradient);
    if (!(covered.part > 0) || !(steep > 0)) return;
    int place = count;
    if (count == most) {
      place = 0;
      for (int k = 1; k < most; ++k)
        if (part[k] < part[place]) place = k;
      if (!(covered.part > part[place])) return;
    } else {
      ++count;
    }
    const Vector facing = covered.gradient * (1 / steep);
    part[place] = covered.part, shape[place] = number;
    x[place] = facing.x, y[place] = facing.y, z[place] = facing.z;
  }
  // What it counts for, once all have been seen.
  VOLVOX_KERNEL Covered rest_of(std::uint32_t number, const Covered& covered) const {
    if (count < 2) return covered;
    const float steep = length(covered.gradient);
    if (!(covered.part > 0) || !(steep > 0)) return covered;
    const Vector own = covered.gradient * (1 / steep);
    float same = 0;
    for (int k = 0; k < count; ++k)
      if (part[k] > covered.part || (part[k] == covered.part && shape[k] < number))
        same = larger(same, smaller(1, 2 * dot(own, {x[k], y[k], z[k]})));  // within 60 degrees: one wall
    return {covered.part * (1 - same), covered.gradient * (1 - same)};
  }
};

struct Density {
  float density, slopes;  // as a part of that at rest; what a correction of all but the particle itself would do
  Vector own;             // gradient by its own position

  VOLVOX_KERNEL void add(const Covered& covered, float inverse_mass_ratio) {
    density += covered.part;
    own = own + covered.gradient;
    slopes += inverse_mass_ratio * dot(covered.gradient, covered.gradient);
  }
};
VOLVOX_KERNEL Density density_of(const FluidNumbers& n, const DensitySums<float>& sums) {
  return {n.value * (1 + sums.value), n.slope * n.slope * sums.slopes, Vector{sums.x, sums.y, sums.z} * -n.slope};
}
VOLVOX_KERNEL float multiplier_of(const FluidNumbers& n, const Density& d) {
  return share_of_correction * positive(d.density - 1) / (d.slopes + dot(d.own, d.own) + n.softness);
}

// How much of the velocity of a wall a particle takes over. A wall holds the fluid: as fluid that moves with it would,
// twice as strongly, because the velocity goes on falling behind it. The integral of (1 - q)^3 is 1/14 of that of W, of
// which the wall covers a part. Of the sum over all neighbours, 28 / 40 s^2 slope; capped, so that it never overshoots.
VOLVOX_KERNEL float held_by_wall(const FluidNumbers& n, float viscous, float part) {
  return smaller(2 * viscous / n.slope * 14 * n.inverse_support * n.inverse_support * part, 0.5f);
}

// A particle goes ahead by its velocity (w of move: that of velocity; w of at: that of from).
VOLVOX_KERNEL void advance(const Point& from, const Point& velocity, const Vector& g, float time, Point& at,
                           Point& move) {
  move = {(velocity.x + g.x) * time, (velocity.y + g.y) * time, (velocity.z + g.z) * time, velocity.w};
  at = {from.x + move.x, from.y + move.y, from.z + move.z, from.w};
}
// And its velocity follows from how far it went.
VOLVOX_KERNEL void land(const Point& at, const Point& move, float per_s, Point& position, Point& velocity) {
  position = {at.x, at.y, at.z, position.w};
  velocity = {move.x * per_s, move.y * per_s, move.z * per_s, velocity.w};
}

}  // namespace volvox::particles
