// The fluid: smoothed particles whose density is corrected by position (Macklin and Mueller, "Position Based Fluids",
// 2013), with the bodies around them as parts of the density. Kernels over plain arrays, which their caller owns. SI
// units, world frame. Threads may work on different blocks of particles side by side; sums have a fixed order, so that
// the bits depend neither on threads nor on the instruction set.
#pragma once

#include <cstdint>
#include <vector>

#include "volvox/base/math.h"
#include "volvox/base/result.h"
#include "volvox/particles/neighbours.h"
#include "volvox/particles/shapes.h"

namespace volvox::particles {

struct FluidDesc {
  double spacing = 0.02;       // m: each particle is a cube of it at rest
  double density = 1000;       // kg/m^3
  double viscosity = 1e-3;     // Pa s
  double surface_tension = 0;  // N/m
};
Result<void> check(const FluidDesc& desc);

// What the kernels need of it.
struct FluidNumbers {
  float support = 0;  // m
  float inverse_support = 0;
  float mass = 0;   // kg, of a particle
  float value = 0;  // of the kernel at no distance, times the volume of a particle
  float slope = 0;  // 1/m^2, times (1 - q)^3 and the distance: the gradient of the density, as a part of that at rest
  float floor = 0;  // m: a particle's middle is never closer to a shape than this
  float softness = 0;            // added to the denominator of the correction, 1/m^2
  float stokes = 0;              // kg/(m s): drag of a sphere that moves slowly, over radius and velocity
  float inertial = 0;            // kg/m^3: and of a fast one, over the squares of both
  double viscous = 0;            // 1/s: how fast a neighbour's velocity is taken over, times (1 - q)^3
  double cohesion = 0;           // 1/s^2: acceleration towards a neighbour, times (1 - q)^3 and the distance
  double pressure = 1;           // of a gradient of multipliers, what the sum over a grid of neighbours gives
  double longest_diffusion = 0;  // s; longer steps of viscosity would overshoot
  double longest_ripple = 0;     // s; and longer ones of surface tension (Brackbill et al. 1992)
};
FluidNumbers numbers_of(const FluidDesc& desc);

// One entry more than `count` in the arrays of points: a particle far away, which fills up lists.
struct FluidArrays {
  std::size_t count = 0;
  std::vector<Point> position, velocity;
  std::vector<std::uint32_t> id;
  std::uint32_t next_id = 0;
  // Within a substep.
  std::vector<Point> at;    // predicted position
  std::vector<Point> move;  // displacement in the substep
  std::vector<Point> seen;  // `at` with the multiplier of the correction
  void resize(std::size_t count);
  void reorder(const std::vector<std::uint32_t>& order, ThreadPool* threads);  // order: old numbers
};

// What a block of particles gave a shape, kg m and kg m^2 (an impulse times the substep).
struct ShapePart {
  double push[3] = {}, turn[3] = {};
};
struct ShapesView {
  const ShapeView* shapes = nullptr;
  std::size_t count = 0;
  ShapePart* parts = nullptr;  // by block and shape
};
// Adds an impulse to what the shape gets: minus what a particle at `point` got.
VOLVOX_KERNEL void give(ShapePart& part, const ShapeView& shape, const Vector& point, const Vector& got) {
  const double j[3] = {-got.x, -got.y, -got.z};
  const double arm[3] = {point.x - shape.center[0], point.y - shape.center[1], point.z - shape.center[2]};
  for (int k = 0; k < 3; ++k) part.push[k] += j[k];
  part.turn[0] += arm[1] * j[2] - arm[2] * j[1];
  part.turn[1] += arm[2] * j[0] - arm[0] * j[2];
  part.turn[2] += arm[0] * j[1] - arm[1] * j[0];
}

// Solid particles in the fluid, as the fluid sees them.
struct SolidsView {
  const Point* at = nullptr;    // w: 1 / mass
  const Point* move = nullptr;  // w: radius
};

// Densities and multipliers of [begin, end), into `seen`.
void find_multipliers(const FluidNumbers& numbers, FluidArrays& fluid, const Neighbours& fluids,
                      const Neighbours& solids, const SolidsView& solid, const ShapesView& shapes, std::size_t begin,
                      std::size_t end);
// Densities where the particles are, as parts of that at rest.
void find_densities(const FluidNumbers& numbers, const FluidArrays& fluid, const Neighbours& fluids,
                    const Neighbours& solids, const SolidsView& solid, const ShapesView& shapes, float* out,
                    std::size_t begin, std::size_t end);
// The corrections that follow; shapes get theirs.
void correct_density(const FluidNumbers& numbers, FluidArrays& fluid, const Neighbours& fluids,
                     const Neighbours& solids, const SolidsView& solid, const ShapesView& shapes, float dt,
                     std::size_t begin, std::size_t end);
// What the fluid gives to solids: into `push` (x, y, z added). After the multipliers were found, and before the
// corrections: both sides of a pair must see it as it was predicted.
void push_solids(const FluidNumbers& numbers, const FluidArrays& fluid, const Neighbours& fluids,
                 const SolidsView& solid, float dt, Point* push, std::size_t begin, std::size_t end);
// Viscosity and surface tension over `duration`: new velocities, into `out`. `dt`: the substep by which shapes' parts
// count.
void diffuse_velocities(const FluidNumbers& numbers, const FluidArrays& fluid, const Neighbours& fluids,
                        const ShapesView& shapes, float duration, float dt, Point* out, std::size_t begin,
                        std::size_t end);

}  // namespace volvox::particles
