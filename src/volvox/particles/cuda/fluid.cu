#include "volvox/particles/cuda/fluid.cuh"

#include "volvox/particles/cuda/block.cuh"
#include "volvox/particles/fluid_kernels.h"

namespace volvox::particles::cuda {
namespace {

constexpr unsigned threads = 256;

__device__ bool is_near(const ShapeView& shape, const Vector& p, float support) {
  return may_be_near(shape, p.x, p.y, p.z, wall_reach * support);
}

// Where two shapes or more may be near a particle, they may be one wall. This is rare, and walls take many registers
// and a stack: kept out of line, they cost other particles nothing. Shapes before `first` are not near.
template <bool others>
__device__ __noinline__ void see_walls(const ShapeView* shapes, std::uint32_t first, std::uint32_t end, Vector p,
                                       float support, Walls& walls) {
  for (std::uint32_t k = first; k < end; ++k)
    if (is_near(shapes[k], p, support)) walls.see(k, covered_at<others>(shapes[k], p, support));
}
__device__ __noinline__ Covered rest_of(const Walls& walls, std::uint32_t number, Covered covered) {
  return walls.rest_of(number, covered);
}
template <bool others>
__device__ __noinline__ Density add_walls(const ShapeView* shapes, std::uint32_t first, std::uint32_t end, Vector p,
                                          float support, float mass, Density d) {
  Walls walls;
  see_walls<others>(shapes, first, end, p, support, walls);
  for (std::uint32_t k = first; k < end; ++k)
    if (is_near(shapes[k], p, support))
      d.add(walls.rest_of(k, covered_at<others>(shapes[k], p, support)), mass * shapes[k].inverse_mass);
  return d;
}

// The shapes that may be near a particle: none, one or several, of which `first` is the first.
struct NearOfAll {
  std::uint32_t first;
  int count;  // 2: or more
};
__device__ NearOfAll near_of_all(const ShapeView* shapes, std::uint32_t begin, std::uint32_t end, const Vector& p,
                                 float support) {
  NearOfAll near = {end, 0};
  for (std::uint32_t k = begin; k < end && near.count < 2; ++k)
    if (is_near(shapes[k], p, support) && ++near.count == 1) near.first = k;
  return near;
}

template <bool others>
__device__ Density density_at(const FluidView& f, const SubstepView& s, const Point* points, const Point* solids,
                              const Point* radii, const Lane& l) {
  const Point p = points[l.particle];
  const std::uint32_t* list = f.fluids.entry + std::size_t{l.particle} * f.fluids.stride;
  const std::uint32_t count = f.fluids.count[l.particle];
  DensitySums<float> sums = {};
#pragma unroll 4
  for (std::uint32_t k = l.lane; k < count; k += lanes) {
    const Point o = points[list[k]];
    add_neighbour<float>(f.numbers, p.x - o.x, p.y - o.y, p.z - o.z, sums);
  }
  sums = {sum_lanes(l.group, sums.value), sum_lanes(l.group, sums.slopes), sum_lanes(l.group, sums.x),
          sum_lanes(l.group, sums.y), sum_lanes(l.group, sums.z)};
  Density d = density_of(f.numbers, sums);
  if (l.lane == 0) {
    const NearOfAll near = near_of_all(s.shapes, 0, s.shape_count, xyz(p), f.numbers.support);
    if (near.count == 1) {
      const ShapeView& shape = s.shapes[near.first];
      d.add(covered_at<others>(shape, xyz(p), f.numbers.support), f.numbers.mass * shape.inverse_mass);
    } else if (near.count > 1) {
      d = add_walls<others>(s.shapes, near.first, s.shape_count, xyz(p), f.numbers.support, f.numbers.mass, d);
    }
    for (std::uint32_t k = 0; f.has_solids && k < f.solids.count[l.particle]; ++k) {
      const std::uint32_t j = f.solids.entry[std::size_t{l.particle} * f.solids.stride + k];
      const Point solid = solids[j];
      d.add(covered_by_sphere(xyz(p) - xyz(solid), radii[j].w, f.numbers.support), f.numbers.mass * solid.w);
    }
  }
  return d;
}

template <bool others>
__global__ void __launch_bounds__(threads, 8) find_multipliers(FluidView f, SubstepView s) {
  const Lane l = lane_of_thread();
  if (s.is_void(*f.control) || l.particle >= f.control->count[fluid_set]) return;
  const Density d = density_at<others>(f, s, f.at, f.solid_at, f.solid_move, l);
  if (l.lane != 0) return;
  const Point p = f.at[l.particle];
  f.seen[l.particle] = {p.x, p.y, p.z, multiplier_of(f.numbers, d)};
}

template <bool others>
__global__ void __launch_bounds__(threads)
    densities_now(FluidView f, SubstepView s, const Point* solids, const Point* radii, float* out) {
  const Lane l = lane_of_thread();
  if (l.particle >= f.control->count[fluid_set]) return;
  const Density d = density_at<others>(f, s, f.position, solids, radii, l);
  if (l.lane == 0) out[l.particle] = d.density;
}

__global__ void __launch_bounds__(threads) find_moves(FluidView f, SubstepView s) {
  const Lane l = lane_of_thread();
  if (s.is_void(*f.control) || l.particle >= f.control->count[fluid_set]) return;
  const Point p = f.seen[l.particle];
  const std::uint32_t* list = f.fluids.entry + std::size_t{l.particle} * f.fluids.stride;
  const std::uint32_t count = f.fluids.count[l.particle];
  MoveSums<float> sums = {};
#pragma unroll 4
  for (std::uint32_t k = l.lane; k < count; k += lanes) {
    const Point o = f.seen[list[k]];
    add_neighbour<float>(f.numbers, p.x - o.x, p.y - o.y, p.z - o.z, o.w + p.w, sums);
  }
  const float x = sum_lanes(l.group, sums.x), y = sum_lanes(l.group, sums.y), z = sum_lanes(l.group, sums.z);
  if (l.lane == 0) f.scratch[l.particle] = {x, y, z, 0};
}

__global__ void __launch_bounds__(threads) diffuse_lanes(FluidView f, SubstepView s, float viscous, float cohesion) {
  const Lane l = lane_of_thread();
  if (s.is_void(*f.control) || l.particle >= f.control->count[fluid_set]) return;
  const Point p = f.position[l.particle], v = f.velocity[l.particle];
  const std::uint32_t* list = f.fluids.entry + std::size_t{l.particle} * f.fluids.stride;
  const std::uint32_t count = f.fluids.count[l.particle];
  MoveSums<float> sums = {};
#pragma unroll 4
  for (std::uint32_t k = l.lane; k < count; k += lanes) {
    const Point o = f.position[list[k]], u = f.velocity[list[k]];
    add_neighbour<float>(f.numbers, viscous, cohesion, o.x - p.x, o.y - p.y, o.z - p.z, u.x - v.x, u.y - v.y, u.z - v.z,
                         sums);
  }
  const float x = sum_lanes(l.group, sums.x), y = sum_lanes(l.group, sums.y), z = sum_lanes(l.group, sums.z);
  if (l.lane == 0) f.scratch[l.particle] = {v.x + x, v.y + y, v.z + z, 0};
}

__device__ void predict_one(const FluidView& f, const SubstepView& s, std::uint32_t i, const Point& position,
                            const Point& velocity) {
  Point at, move;
  advance(position, velocity, s.gravity, s.dt, at, move);
  f.at[i] = at;
  f.move[i] = move;
}

__global__ void predict_all(FluidView f, SubstepView s) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (!s.is_void(*f.control) && i < f.control->count[fluid_set]) predict_one(f, s, i, f.position[i], f.velocity[i]);
}

template <bool others>
__global__ void __launch_bounds__(block) diffuse_at_shapes(FluidView f, SubstepView s, float viscous) {
  if (s.is_void(*f.control)) return;
  const std::uint32_t i = blockIdx.x * block + threadIdx.x;
  const bool active = i < f.control->count[fluid_set];
  const FluidNumbers& n = f.numbers;
  const Point position = active ? f.position[i] : Point{}, before = active ? f.velocity[i] : Point{};
  Point out = active ? f.scratch[i] : Point{};
  if (s.shape_count > 0 && n.viscous != 0) {
    const BlockBox box = box_of_block(position, active);
    const float reach = wall_reach * n.support;
    const Vector p = xyz(position);
    for (std::uint32_t k = 0; k < s.shape_count; ++k) {
      const ShapeView& shape = s.shapes[k];
      if (!near_block<others>(shape, box, reach)) continue;
      bool gives = active && may_be_near(shape, p.x, p.y, p.z, reach);
      Vector change;
      if (gives) {
        const float part = covered_at<others>(shape, p, n.support).part;
        gives = part > 0;
        if (gives) {
          change = (velocity_at(shape, p) - xyz(before)) * held_by_wall(n, viscous, part);
          out.x += change.x, out.y += change.y, out.z += change.z;
        }
      }
      if (__syncthreads_or(gives) == 0) continue;
      give_in_order(s.parts[blockIdx.x * s.shape_count + k], shape, p, change * (n.mass * s.dt), gives);
    }
  }
  if (!active) return;
  f.velocity[i] = out;
  predict_one(f, s, i, position, out);
}

template <bool others>
__global__ void __launch_bounds__(block, 10) finish(FluidView f, SubstepView s, Then then) {
  if (s.is_void(*f.control)) return;
  const std::uint32_t i = blockIdx.x * block + threadIdx.x;
  const bool active = i < f.control->count[fluid_set];
  const FluidNumbers& n = f.numbers;
  const Point seen = active ? f.seen[i] : Point{};
  Vector moved = active ? xyz(f.scratch[i]) * n.slope : Vector{};
  if (f.has_solids && active) {
    const Vector goes = xyz(f.move[i]);
    for (std::uint32_t k = 0; k < f.solids.count[i]; ++k) {
      const std::uint32_t j = f.solids.entry[std::size_t{i} * f.solids.stride + k];
      meet_solid(n, seen, goes, f.solid_at[j], f.solid_move[j], s.dt, moved);
    }
  }
  if (s.shape_count > 0) {
    const BlockBox box = box_of_block(seen, active);
    const float reach = wall_reach * n.support;
    const Vector p = xyz(seen);
    // Of the shapes near the block: the first, the one behind the last, how many.
    std::uint32_t first = 0, end = 0, count = 0;
    for (std::uint32_t k = 0; k < s.shape_count; ++k) {
      if (!near_block<others>(s.shapes[k], box, reach)) continue;
      if (count++ == 0) first = k;
      end = k + 1;
    }
    Walls walls;
    if (count > 1 && active && seen.w > 0) {
      const NearOfAll near = near_of_all(s.shapes, first, end, p, n.support);
      if (near.count > 1) see_walls<others>(s.shapes, near.first, end, p, n.support, walls);
    }
    // The first time shapes take part in the correction; the second nothing goes into them.
    for (int pass = 0; pass < 2; ++pass) {
      for (std::uint32_t k = first; k < end; ++k) {
        const ShapeView& shape = s.shapes[k];
        if (count < end - first && !near_block<others>(shape, box, reach)) continue;
        bool gives = active && may_be_near(shape, p.x, p.y, p.z, reach);
        Vector got;
        if (gives && pass == 0) {
          gives = seen.w > 0;
          if (gives) {
            Covered covered = covered_at<others>(shape, p, n.support);
            if (walls.count > 1) covered = rest_of(walls, k, covered);
            got = covered.gradient * -seen.w;
          }
        } else if (gives) {
          const Distance d = distance_at<others>(shape, p + moved);
          gives = d.distance < n.floor;
          if (gives) got = d.normal * (n.floor - d.distance);
        }
        if (gives) moved = moved + got;
        if (__syncthreads_or(gives) == 0) continue;
        give_in_order(s.parts[blockIdx.x * s.shape_count + k], shape, p, got * n.mass, gives);
      }
    }
  }
  if (!active) return;
  const Point at{seen.x + moved.x, seen.y + moved.y, seen.z + moved.z, 0};
  Point move = f.move[i];
  move.x += moved.x, move.y += moved.y, move.z += moved.z;
  Point position, velocity;  // w of the fluid's is 0
  land(at, move, 1 / s.dt, position, velocity);
  f.position[i] = position;
  f.velocity[i] = velocity;
  if (then == Then::predict) predict_one(f, s, i, position, velocity);
}

// Tiles of parts come to shared memory, and six threads add them in their order.
constexpr unsigned tile = 512;
__global__ void __launch_bounds__(threads)
    sum_blocks(const ShapePart* parts, ShapePart* sums, std::uint32_t most_blocks, std::uint32_t shapes,
               const Control* control, Control* control_here) {
  constexpr unsigned numbers = sizeof(ShapePart) / sizeof(double);
  __shared__ double some[numbers][tile + 1];
  const std::uint32_t substep = blockIdx.x, shape = blockIdx.y;
  if (substep == 0 && shape == 0 && threadIdx.x == 0) *control_here = *control;
  if (shapes == 0) return;
  const std::uint32_t blocks = (max(control->count[fluid_set], control->count[solid_set]) + block - 1) / block;
  const ShapePart* from = parts + std::size_t{substep} * most_blocks * shapes + shape;
  double sum = 0;
  for (std::uint32_t first = 0; first < blocks; first += tile) {
    const std::uint32_t count = min(tile, blocks - first);
    double any = 0;
    for (std::uint32_t k = threadIdx.x; k < tile * numbers; k += threads) {
      const std::uint32_t part = k / numbers, number = k % numbers;
      const double value =
          part < count ? reinterpret_cast<const double*>(from + std::size_t{first + part} * shapes)[number] : 0;
      some[number][part] = value;
      any = value != 0 ? 1 : any;
    }
    if (__syncthreads_or(any != 0) != 0 && threadIdx.x < numbers) {
#pragma unroll 32
      for (unsigned k = 0; k < tile; ++k) sum += some[threadIdx.x][k];
    }
    __syncthreads();
  }
  if (threadIdx.x < numbers) reinterpret_cast<double*>(sums + substep * shapes + shape)[threadIdx.x] = sum;
}

}  // namespace

void predict(const FluidView& fluid, const SubstepView& substep, std::size_t room, cudaStream_t stream) {
  predict_all<<<blocks_for(room, threads), threads, 0, stream>>>(fluid, substep);
}

void diffuse(const FluidView& fluid, const SubstepView& substep, float duration, std::size_t room,
             cudaStream_t stream) {
  const FluidNumbers& n = fluid.numbers;
  const auto viscous = static_cast<float>(n.viscous * duration), cohesion = static_cast<float>(n.cohesion * duration);
  diffuse_lanes<<<blocks_for(room * lanes, threads), threads, 0, stream>>>(fluid, substep, viscous, cohesion);
  const auto at_shapes = substep.others ? diffuse_at_shapes<true> : diffuse_at_shapes<false>;
  at_shapes<<<blocks_for(room, block), block, 0, stream>>>(fluid, substep, viscous);
}

void correct(const FluidView& fluid, const SubstepView& substep, Then then, std::size_t room, cudaStream_t stream) {
  const auto multipliers = substep.others ? find_multipliers<true> : find_multipliers<false>;
  multipliers<<<blocks_for(room * lanes, threads), threads, 0, stream>>>(fluid, substep);
  find_moves<<<blocks_for(room * lanes, threads), threads, 0, stream>>>(fluid, substep);
  const auto end = substep.others ? finish<true> : finish<false>;
  end<<<blocks_for(room, block), block, 0, stream>>>(fluid, substep, then);
}

void find_densities(const FluidView& fluid, const SubstepView& substep, const Point* solids, const Point* radii,
                    float* out, std::size_t room, cudaStream_t stream) {
  const auto now = substep.others ? densities_now<true> : densities_now<false>;
  now<<<blocks_for(room * lanes, threads), threads, 0, stream>>>(fluid, substep, solids, radii, out);
}

void sum_parts(const ShapePart* parts, ShapePart* sums, std::uint32_t blocks, std::uint32_t shapes,
               std::uint32_t substeps, const Control* control, Control* control_here, cudaStream_t stream) {
  const dim3 grid(substeps, shapes > 0 ? shapes : 1);
  sum_blocks<<<grid, threads, 0, stream>>>(parts, sums, blocks, shapes, control, control_here);
}

}  // namespace volvox::particles::cuda
