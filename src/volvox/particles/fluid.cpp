#include "volvox/particles/fluid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/particles/fluid_kernels.h"

namespace volvox::particles {
namespace {

constexpr float far_away = 1e15f;
using Sums = DensitySums<float>;

VOLVOX_KERNEL void add_neighbours(const FluidNumbers& n, const Point* at, const std::uint32_t* list,
                                  std::uint32_t count, const Point& p, Sums& sums) {
  DensitySums<Lanes> all = {};
  const Lanes x = all_lanes(p.x), y = all_lanes(p.y), z = all_lanes(p.z);
  for (std::uint32_t k = 0; k < count; k += lanes) {
    PointLanes other;
    gather(other, at, list + k);
    add_neighbour<Lanes>(n, x - other.x, y - other.y, z - other.z, all);
  }
  sums = {sum(all.value), sum(all.slopes), sum(all.x), sum(all.y), sum(all.z)};
}

VOLVOX_KERNEL Vector weighted_slopes(const FluidNumbers& n, const Point* seen, const std::uint32_t* list,
                                     std::uint32_t count, const Point& p) {
  MoveSums<Lanes> all = {};
  const Lanes x = all_lanes(p.x), y = all_lanes(p.y), z = all_lanes(p.z), w = all_lanes(p.w);
  for (std::uint32_t k = 0; k < count; k += lanes) {
    PointLanes other;
    gather(other, seen, list + k);
    add_neighbour<Lanes>(n, x - other.x, y - other.y, z - other.z, other.w + w, all);
  }
  return {sum(all.x), sum(all.y), sum(all.z)};
}

struct FluidJob {
  const FluidNumbers* numbers;
  const Point *at, *seen;
  const Neighbours* fluids;
  Sums* sums;
  Vector* moves;
};
VOLVOX_FOR_EACH_ISA(void, sum_block, (const FluidJob& job, std::size_t begin, std::size_t end), (job, begin, end)) {
  const std::uint32_t* lists = job.fluids->blocks[begin / block_size].data();
  for (std::size_t i = begin; i < end; ++i)
    add_neighbours(*job.numbers, job.at, lists + job.fluids->first[i], job.fluids->count[i], job.at[i],
                   job.sums[i - begin]);
}
VOLVOX_FOR_EACH_ISA(void, move_block, (const FluidJob& job, std::size_t begin, std::size_t end), (job, begin, end)) {
  const std::uint32_t* lists = job.fluids->blocks[begin / block_size].data();
  for (std::size_t i = begin; i < end; ++i)
    job.moves[i - begin] =
        weighted_slopes(*job.numbers, job.seen, lists + job.fluids->first[i], job.fluids->count[i], job.seen[i]);
}

struct DiffusionJob {
  const FluidNumbers* numbers;
  const Point *position, *velocity;
  const Neighbours* fluids;
  float viscous, cohesion;
  Point* out;
};
VOLVOX_FOR_EACH_ISA(void, diffuse_block, (const DiffusionJob& job, std::size_t begin, std::size_t end),
                    (job, begin, end)) {
  const std::uint32_t* lists = job.fluids->blocks[begin / block_size].data();
  for (std::size_t i = begin; i < end; ++i) {
    const Point p = job.position[i], v = job.velocity[i];
    const Lanes x = all_lanes(p.x), y = all_lanes(p.y), z = all_lanes(p.z);
    const Lanes vx = all_lanes(v.x), vy = all_lanes(v.y), vz = all_lanes(v.z);
    MoveSums<Lanes> all = {};
    const std::uint32_t* list = lists + job.fluids->first[i];
    for (std::uint32_t k = 0; k < job.fluids->count[i]; k += lanes) {
      PointLanes other, moving;
      gather(other, job.position, list + k);
      gather(moving, job.velocity, list + k);
      add_neighbour<Lanes>(*job.numbers, job.viscous, job.cohesion, other.x - x, other.y - y, other.z - z,
                           moving.x - vx, moving.y - vy, moving.z - vz, all);
    }
    job.out[i] = {v.x + sum(all.x), v.y + sum(all.y), v.z + sum(all.z), 0};
  }
}

}  // namespace

Result<void> check(const FluidDesc& desc) {
  const auto bad = [](const char* name, double value, const char* fix) {
    return Error(fmt::format("fluid: the {} is {}", name, value), fix);
  };
  if (!(std::isfinite(desc.spacing) && desc.spacing >= 1e-5 && desc.spacing <= 1e3))
    return bad("spacing", desc.spacing, "give it in m, from 1e-5 to 1000");
  if (!(desc.density >= 1e-3 && desc.density <= 1e6))
    return bad("density", desc.density, "give kg/m^3, from 0.001 to 1e6");
  if (!(std::isfinite(desc.viscosity) && desc.viscosity >= 0))
    return bad("viscosity", desc.viscosity, "give Pa s, 0 or more (water: 1e-3)");
  if (!(std::isfinite(desc.surface_tension) && desc.surface_tension >= 0))
    return bad("surface tension", desc.surface_tension, "give N/m, 0 or more (water: 0.072)");
  return {};
}

FluidNumbers numbers_of(const FluidDesc& desc) {
  const double dx = desc.spacing, s = support_over_spacing * dx;
  // The sum of the kernel over a cubic grid is one: the volume of a particle in the sums is that.
  double grid = 0, along = 0;
  for (int x = -3; x <= 3; ++x) {
    for (int y = -3; y <= 3; ++y) {
      for (int z = -3; z <= 3; ++z) {
        const double q = std::sqrt(real(x * x + y * y + z * z)) / support_over_spacing, t = q < 1 ? 1 - q : 0;
        grid += t * t * t * t * (4 * q + 1);
        along += z * z * t * t * t;
      }
    }
  }
  FluidNumbers n;
  n.support = to_float(s);
  n.inverse_support = to_float(1 / s);
  n.mass = to_float(desc.density * dx * dx * dx);
  n.value = to_float(1 / grid);
  n.slope = to_float(20 / (grid * s * s));
  n.pressure = n.slope * along * dx * dx;
  n.floor = to_float(0.1 * dx);
  n.softness = to_float(0.02 / (dx * dx));
  n.stokes = to_float(6 * pi * desc.viscosity);
  n.inertial = to_float(0.5 * drag_coefficient * pi * desc.density);
  // Brookshaw's Laplacian: 2 V (v_j - v_i) W' / r. Of (1 - q)^3 the sum over neighbours is at most 28 / 40 s^2 slope.
  n.viscous = 2 * desc.viscosity / desc.density * n.slope;
  n.longest_diffusion = desc.viscosity > 0 ? 0.25 / (desc.viscosity / desc.density * 28 / (s * s)) : 1e300;
  // A force k r (1 - q)^3 between particles, n of them in a volume, gives the surface tension pi n^2 k s^6 / (8 * 504)
  // (Kirkwood and Buff 1949, particles taken as spread evenly).
  n.longest_ripple =
      desc.surface_tension > 0 ? 0.5 * std::sqrt(desc.density * dx * dx * dx / (2 * pi * desc.surface_tension)) : 1e300;
  const double per_volume = 1 / (dx * dx * dx);
  const double force = desc.surface_tension * 8 * 504 / (pi * per_volume * per_volume * s * s * s * s * s * s);
  n.cohesion = force / (desc.density * dx * dx * dx);
  return n;
}

void FluidArrays::resize(std::size_t size) {
  count = size;
  for (auto* array : {&position, &velocity, &at, &move, &seen}) array->resize(size + 1);
  position[size] = at[size] = seen[size] = {far_away, far_away, far_away, 0};
  velocity[size] = move[size] = {};
  id.resize(size);
}

void FluidArrays::reorder(const std::vector<std::uint32_t>& order, ThreadPool* threads) {
  particles::reorder(position, order, 1, threads);
  particles::reorder(velocity, order, 1, threads);
  particles::reorder(id, order, 0, threads);
  resize(order.size());
}

namespace {

std::span<const NearShape> shapes_near(const FluidNumbers& n, const Point* points, const ShapesView& shapes,
                                       std::size_t begin, std::size_t end) {
  return find_near({shapes.shapes, shapes.count}, {points + begin, end - begin}, wall_reach * n.support);
}

// Calls work(k, shape number, what it counts for) for the shapes near each particle of a block. Only particles that may
// be near two shapes or more need to know their walls first.
template <class Work>
void for_walls(const FluidNumbers& n, const Point* points, const ShapesView& shapes,
               std::span<const NearShape> near_shapes, const Work& work) {
  const auto covered = [&](const NearShape& near, std::size_t k) {
    return covered_by(shapes.shapes[near.shape], xyz(points[k]), n.support);
  };
  NearShape any, several;
  for (const NearShape& near : near_shapes)
    for (std::size_t word = 0; word < 2; ++word) {
      several.bits[word] |= any.bits[word] & near.bits[word];
      any.bits[word] |= near.bits[word];
    }
  if ((several.bits[0] | several.bits[1]) == 0) {
    for (const NearShape& near : near_shapes)
      near.for_points([&](std::size_t k) { work(k, near.shape, covered(near, k)); });
    return;
  }
  Walls walls[block_size];
  for (const NearShape& near : near_shapes) {
    const NearShape here{near.shape, {near.bits[0] & several.bits[0], near.bits[1] & several.bits[1]}};
    here.for_points([&](std::size_t k) { walls[k].see(near.shape, covered(near, k)); });
  }
  for (const NearShape& near : near_shapes)
    near.for_points([&](std::size_t k) { work(k, near.shape, walls[k].rest_of(near.shape, covered(near, k))); });
}

// Of all particles of a block, where `points` says that they are.
void densities_of(const FluidNumbers& n, const Point* points, const Neighbours& fluids, const Neighbours& solids,
                  const SolidsView& solid, const ShapesView& shapes, std::size_t begin, std::size_t end, Density* out) {
  Sums block[block_size];
  sum_block({&n, points, nullptr, &fluids, block, nullptr}, begin, end);
  for (std::size_t k = 0; k < end - begin; ++k) out[k] = density_of(n, block[k]);
  for_walls(n, points + begin, shapes, shapes_near(n, points, shapes, begin, end),
            [&](std::size_t k, std::uint32_t shape, const Covered& covered) {
              out[k].add(covered, n.mass * shapes.shapes[shape].inverse_mass);
            });
  if (solids.count.empty()) return;
  for (std::size_t i = begin; i < end; ++i)
    for (const std::uint32_t j : solids.of(i))
      out[i - begin].add(covered_by_sphere(xyz(points[i]) - xyz(solid.at[j]), solid.move[j].w, n.support),
                         n.mass * solid.at[j].w);
}

}  // namespace

void find_multipliers(const FluidNumbers& n, FluidArrays& fluid, const Neighbours& fluids, const Neighbours& solids,
                      const SolidsView& solid, const ShapesView& shapes, std::size_t begin, std::size_t end) {
  Density block[block_size];
  densities_of(n, fluid.at.data(), fluids, solids, solid, shapes, begin, end, block);
  for (std::size_t i = begin; i < end; ++i) {
    const Point& p = fluid.at[i];
    fluid.seen[i] = {p.x, p.y, p.z, multiplier_of(n, block[i - begin])};
  }
}

void find_densities(const FluidNumbers& n, const FluidArrays& fluid, const Neighbours& fluids, const Neighbours& solids,
                    const SolidsView& solid, const ShapesView& shapes, float* out, std::size_t begin, std::size_t end) {
  Density block[block_size];
  densities_of(n, fluid.position.data(), fluids, solids, solid, shapes, begin, end, block);
  for (std::size_t i = begin; i < end; ++i) out[i] = block[i - begin].density;
}

namespace {

// What shapes do to a block that was moved: they take part in the correction, and nothing goes into them, whatever the
// pressure.
void correct_at_shapes(const FluidNumbers& n, const FluidArrays& fluid, const ShapesView& shapes, std::size_t begin,
                       std::size_t end, Vector* moved) {
  const Point* seen = fluid.seen.data() + begin;
  ShapePart* parts = shapes.parts + begin / block_size * shapes.count;
  const auto near_shapes = shapes_near(n, fluid.seen.data(), shapes, begin, end);
  const auto push = [&](std::size_t k, std::uint32_t s, const Vector& got) {
    moved[k] = moved[k] + got;
    give(parts[s], shapes.shapes[s], xyz(seen[k]), got * n.mass);
  };
  for_walls(n, seen, shapes, near_shapes, [&](std::size_t k, std::uint32_t shape, const Covered& covered) {
    if (seen[k].w > 0) push(k, shape, covered.gradient * -seen[k].w);
  });
  for (const NearShape& near : near_shapes) {
    near.for_points([&](std::size_t k) {
      const Distance d = distance_to(shapes.shapes[near.shape], xyz(seen[k]) + moved[k]);
      if (d.distance < n.floor) push(k, near.shape, d.normal * (n.floor - d.distance));
    });
  }
}

}  // namespace

void correct_density(const FluidNumbers& n, FluidArrays& fluid, const Neighbours& fluids, const Neighbours& solids,
                     const SolidsView& solid, const ShapesView& shapes, float dt, std::size_t begin, std::size_t end) {
  Vector block[block_size];
  move_block({&n, nullptr, fluid.seen.data(), &fluids, nullptr, block}, begin, end);
  for (std::size_t i = begin; i < end; ++i) {
    const Point& seen = fluid.seen[i];
    Vector& moved = block[i - begin];
    moved = moved * n.slope;
    for (const std::uint32_t j : solids.of(i))
      meet_solid(n, seen, xyz(fluid.move[i]), solid.at[j], solid.move[j], dt, moved);
  }
  correct_at_shapes(n, fluid, shapes, begin, end, block);
  for (std::size_t i = begin; i < end; ++i) {
    const Point& seen = fluid.seen[i];
    const Vector& moved = block[i - begin];
    fluid.at[i] = {seen.x + moved.x, seen.y + moved.y, seen.z + moved.z, 0};
    Point& move = fluid.move[i];
    move.x += moved.x, move.y += moved.y, move.z += moved.z;
  }
}

void push_solids(const FluidNumbers& n, const FluidArrays& fluid, const Neighbours& fluids, const SolidsView& solid,
                 float dt, Point* push, std::size_t begin, std::size_t end) {
  for (std::size_t j = begin; j < end; ++j) {
    Vector got;
    for (const std::uint32_t i : fluids.of(j))
      meet_fluid(n, fluid.seen[i], xyz(fluid.move[i]), solid.at[j], solid.move[j], dt, got);
    const float share = n.mass * solid.at[j].w;
    push[j].x += got.x * share, push[j].y += got.y * share, push[j].z += got.z * share;
  }
}

void diffuse_velocities(const FluidNumbers& n, const FluidArrays& fluid, const Neighbours& fluids,
                        const ShapesView& shapes, float duration, float dt, Point* out, std::size_t begin,
                        std::size_t end) {
  const auto viscous = to_float(n.viscous * duration), cohesion = to_float(n.cohesion * duration);
  diffuse_block({&n, fluid.position.data(), fluid.velocity.data(), &fluids, viscous, cohesion, out}, begin, end);
  if (n.viscous == 0) return;
  for (const NearShape& near : shapes_near(n, fluid.position.data(), shapes, begin, end)) {
    const ShapeView& shape = shapes.shapes[near.shape];
    near.for_points([&](std::size_t k) {
      const std::size_t i = begin + k;
      const Vector p = xyz(fluid.position[i]);
      const float part = covered_by(shape, p, n.support).part;
      if (part <= 0) return;
      const float gain = held_by_wall(n, viscous, part);
      const Vector change = (velocity_at(shape, p) - xyz(fluid.velocity[i])) * gain;
      out[i].x += change.x, out[i].y += change.y, out[i].z += change.z;
      give(shapes.parts[begin / block_size * shapes.count + near.shape], shape, p, change * (n.mass * dt));
    });
  }
}

}  // namespace volvox::particles
