#include "volvox/particles/cuda/lists.cuh"

#include <cub/device/device_scan.cuh>

#include "volvox/particles/solid_kernels.h"

namespace volvox::particles::cuda {
namespace {

constexpr unsigned threads = 256;

__device__ std::int32_t ordered(float value) {
  const std::int32_t bits = __float_as_int(value);
  return bits >= 0 ? bits : bits ^ 0x7fffffff;
}
__device__ float unordered(std::int32_t bits) { return __int_as_float(bits >= 0 ? bits : bits ^ 0x7fffffff); }

__device__ bool outside(const ListSettings& s, const Point& p) {
  const double x = p.x, y = p.y, z = p.z;
  if (!(x >= s.low[0] && y >= s.low[1] && z >= s.low[2] && x <= s.high[0] && y <= s.high[1] && z <= s.high[2]))
    return true;
  for (std::uint32_t k = 0; k < s.drain_count; ++k)
    if (has(s.drains[k], {x, y, z})) return true;
  return false;
}

__global__ void begin_bounds(Control* control) {
  for (int axis = 0; axis < 3; ++axis) {
    control->low[axis] = ordered(1e30f);
    control->high[axis] = ordered(-1e30f);
    control->slow[axis] = control->low[axis], control->fast[axis] = control->high[axis];
    control->drift_units[axis] = 0;
  }
  control->leaving[0] = control->leaving[1] = 0;
}

// The box around points; NaN is nowhere.
struct Bounds {
  std::int32_t low[3], high[3];

  __device__ Bounds() {
    for (int axis = 0; axis < 3; ++axis) low[axis] = ordered(1e30f), high[axis] = ordered(-1e30f);
  }
  __device__ void widen(const Point& p) {
    const float at[3] = {p.x, p.y, p.z};
    for (int axis = 0; axis < 3; ++axis) {
      if (isnan(at[axis])) continue;
      low[axis] = min(low[axis], ordered(at[axis]));
      high[axis] = max(high[axis], ordered(at[axis]));
    }
  }
  // All threads of a block call it.
  __device__ void join(std::int32_t (&lowest)[3], std::int32_t (&highest)[3]) {
    __shared__ std::int32_t warps[6][threads / 32];
    for (int axis = 0; axis < 3; ++axis) {
      const std::int32_t least = __reduce_min_sync(~0u, low[axis]), most = __reduce_max_sync(~0u, high[axis]);
      if (threadIdx.x % 32 == 0) warps[axis][threadIdx.x / 32] = least, warps[3 + axis][threadIdx.x / 32] = most;
    }
    __syncthreads();
    if (threadIdx.x < 6) {
      std::int32_t found = warps[threadIdx.x][0];
      for (unsigned w = 1; w < threads / 32; ++w)
        found = threadIdx.x < 3 ? min(found, warps[threadIdx.x][w]) : max(found, warps[threadIdx.x][w]);
      if (threadIdx.x < 3) atomicMin(&lowest[threadIdx.x], found);
      else atomicMax(&highest[threadIdx.x - 3], found);
    }
    __syncthreads();
  }
};

__global__ void find_bounds(Points points, ListSettings settings, Control* control, bool drains) {
  const std::uint32_t count = control->count[points.set];
  Bounds bounds, speeds;
  std::int64_t drift[3] = {};
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const Point p = points.position[i];
    if (drains) {
      if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z)) control->not_finite = 1;
      if (outside(settings, p)) {
        atomicAdd(&control->leaving[points.set], 1u);
        continue;
      }
    }
    bounds.widen(p);
    if (points.set == fluid_set) continue;
    const Point v = points.velocity[i];
    speeds.widen(v);
    drift[0] += drift_units(v.x), drift[1] += drift_units(v.y), drift[2] += drift_units(v.z);
  }
  bounds.join(control->low, control->high);
  if (points.set == fluid_set) return;
  speeds.join(control->slow, control->fast);
  __shared__ std::int64_t warps[3][threads / 32];
  for (int axis = 0; axis < 3; ++axis) {
    for (int offset = 16; offset > 0; offset /= 2) drift[axis] += __shfl_xor_sync(~0u, drift[axis], offset);
    if (threadIdx.x % 32 == 0) warps[axis][threadIdx.x / 32] = drift[axis];
  }
  __syncthreads();
  if (threadIdx.x < 3) {
    std::int64_t sum = 0;
    for (unsigned w = 0; w < threads / 32; ++w) sum += warps[threadIdx.x][w];
    atomicAdd(&control->drift_units[threadIdx.x], static_cast<unsigned long long>(sum));
  }
}

__device__ Vector drift_now(const Control& control) {
  const std::uint32_t count = control.count[solid_set] - control.leaving[solid_set];
  if (count == 0) return {};
  const auto drift = [&](int axis) { return drift_of(static_cast<std::int64_t>(control.drift_units[axis]), count); };
  return {drift(0), drift(1), drift(2)};
}

__device__ Cells cells_over(const ListSettings& s, const Control& control, float& most_reach) {
  Vec3 low, high;
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = clamp(static_cast<double>(unordered(control.low[axis])), s.low[axis], s.high[axis]);
    high[axis] = clamp(static_cast<double>(unordered(control.high[axis])), low[axis], s.high[axis]);
  }
  const std::uint32_t fluids = control.count[fluid_set] - control.leaving[fluid_set],
                      solids = control.count[solid_set] - control.leaving[solid_set];
  const auto vector = [](const std::int32_t(&v)[3]) {
    return Vector{unordered(v[0]), unordered(v[1]), unordered(v[2])};
  };
  const float skin = largest_skin(s.skins, vector(control.slow), vector(control.fast), drift_now(control));
  most_reach = s.largest_radius + skin;
  const double size = size_of_cells(fluids > 0, solids > 0, s.support + s.fluid_skin, s.largest_radius, skin);
  return Cells::over(low, high, size, std::size_t{fluids} + solids);
}

__global__ void count_cells(Points points, ListSettings settings, Control* control, bool drains) {
  __shared__ Cells cells;
  if (threadIdx.x == 0) {
    float most_reach;
    cells = cells_over(settings, *control, most_reach);
    if (blockIdx.x == 0) {
      control->cells = cells;
      control->most_reach = most_reach;
      control->drift = drift_now(*control);
    }
  }
  __syncthreads();
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= control->count[points.set]) return;
  const Point p = points.position[i];
  // Those that leave are behind all others.
  const std::uint32_t cell =
      drains && outside(settings, p) ? static_cast<std::uint32_t>(cells.total()) : cell_of(cells, p);
  points.cell[i] = cell;
  points.slot[i] = atomicAdd(points.count_of_cell + cell, 1u);
}

__global__ void place(Points points, const Control* control) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= control->count[points.set]) return;
  points.unsorted[points.first[points.cell[i]] + points.slot[i]] = i;
}

// The points of a cell lie as their threads came: each counts those that are to be before it.
template <Set which>
__global__ void sort_cells(Points points, SolidPoints solid, SkinRule skins, const Control* control) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= control->count[which]) return;
  const std::uint32_t cell = points.cell[i], begin = points.first[cell], end = points.first[cell + 1];
  if (cell == control->cells.total()) {  // leaves
    if (which == solid_set) solid.index[points.id[i]] = ~0u;
    return;
  }
  std::uint32_t to = begin;
  for (std::uint32_t k = begin; k < end; ++k) to += points.unsorted[k] < i;
  const Point velocity = points.velocity[i];
  points.sorted_position[to] = points.position[i];
  points.sorted_velocity[to] = velocity;
  points.sorted_id[to] = points.id[i];
  points.sorted_cell[to] = cell;
  if (which == solid_set) {
    const float skin = skin_of(skins, velocity, control->drift);
    solid.skin[to] = skin;
    const Point position = points.position[i];
    solid.sought[to] = {position.x, position.y, position.z, velocity.w + skin};
    solid.index[points.id[i]] = to;
    solid.sorted_spin[to] = solid.spin[i];
    solid.sorted_grain[to] = solid.grain[i];
    solid.sorted_on_shapes[to] = solid.on_shapes[i];
    solid.from[to] = i;
  }
}

__global__ void end_sorting(Points fluid, Points solid, Control* control) {
  const Points* both[2] = {&fluid, &solid};
  for (int k = 0; k < 2; ++k) {
    const Points& points = *both[k];
    if (points.room == 0) continue;
    const std::uint32_t count = points.first[control->cells.total()];
    control->drained += control->count[points.set] - count;
    control->count[points.set] = count;
  }
  ++control->lists_made;
  control->age = 0;
}

// Who looks for whom: w of the points is their reach, or all of a set have one.
struct Search {
  const Point *who, *whom;
  float who_reach, whom_reach;  // 0: in w
  float skin;
  Lists lists;
  std::uint32_t number;  // of longest_list
};

// Eight threads have a point and test eight candidates at a time. (A warp a point took 0.14 longer with the fluid.)
template <bool same>
__global__ void __launch_bounds__(threads) find_lists(Points who, Points whom, Search search, Control* control) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, i = thread / lanes, lane = thread % lanes;
  if (i >= control->count[who.set]) return;
  const unsigned shift = threadIdx.x % 32 / lanes * lanes, group = 0xffu << shift, before = (1u << lane) - 1;
  const Point p = search.who[i];
  const std::uint32_t cell = who.sorted_cell[i];
  const float own = (search.who_reach > 0 ? search.who_reach : p.w) + search.skin;
  const Cells cells = control->cells;
  // Where each has a reach of its own, many need fewer rows than the farthest-reaching.
  const float far = own + control->most_reach;
  const bool each = search.who_reach == 0 && search.whom_reach == 0 && far * cells.scale[1] < 0.9f;
  const unsigned near = each ? rows_within(cells, cell, p.y, p.z, far) : all_rows;
  Row own_row = row_about(cells, whom.first, cell, static_cast<int>(lane));
  Row last_row = row_about(cells, whom.first, cell, rows_about - 1);
  if ((near >> lane & 1) == 0) own_row.end = own_row.begin;
  if ((near >> (rows_about - 1) & 1) == 0) last_row.end = last_row.begin;
  std::uint32_t* list = search.lists.entry + std::size_t{i} * search.lists.stride;
  std::uint32_t size = 0;
  for (int row = 0; row < rows_about; ++row) {
    std::uint32_t begin = __shfl_sync(group, own_row.begin, row % lanes, lanes);
    std::uint32_t end = __shfl_sync(group, own_row.end, row % lanes, lanes);
    if (row == rows_about - 1) begin = last_row.begin, end = last_row.end;
    for (std::uint32_t first = begin; first < end; first += lanes) {
      const std::uint32_t j = first + lane;
      bool near = j < end && !(same && j == i);
      if (near) {
        const Point o = search.whom[j];
        const float dx = o.x - p.x, dy = o.y - p.y, dz = o.z - p.z;
        const float far = (search.whom_reach > 0 ? search.whom_reach : o.w) + own;
        near = dx * dx + dy * dy + dz * dz < far * far;
      }
      const unsigned bits = __ballot_sync(group, near) >> shift & 0xffu;
      const std::uint32_t to = size + __popc(bits & before);
      if (near && to < search.lists.stride) list[to] = j;
      size += __popc(bits);
    }
  }
  if (lane != 0) return;
  if (size > search.lists.stride) atomicMax(&control->longest_list[search.number], size);
  search.lists.count[i] = min(size, search.lists.stride);
  if (!same) return;
  who.position[i] = who.sorted_position[i];
  who.velocity[i] = who.sorted_velocity[i];
  who.id[i] = who.sorted_id[i];
}

__global__ void __launch_bounds__(threads) keep(Points points, SolidPoints solid, Lists lists, Control* control) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, i = thread / lanes, lane = thread % lanes;
  if (control->touches_kept != 0 || i >= control->count[solid_set]) return;
  const std::size_t first = std::size_t{i} * lists.stride, kept = std::size_t{i} * solid.touch_room;
  const std::uint32_t count = lists.count[i];
  std::uint32_t size = 0;
  for (std::uint32_t k = 0; k < count; k += lanes) {
    const unsigned bits = solid.shifted[(first + k) / lanes];
    const std::uint32_t to = size + __popc(bits & ((1u << lane) - 1));
    if ((bits >> lane & 1) != 0 && to < solid.touch_room) {
      const Point moved = solid.shift[first + k + lane];
      solid.touch_id[kept + to] = points.id[lists.entry[first + k + lane]];
      solid.touch_shift[kept + to] = xyz(moved);
    }
    size += __popc(bits);
  }
  if (lane != 0) return;
  if (size > solid.touch_room) atomicMax(&control->most_touches, size);
  solid.touch_count[i] = min(size, solid.touch_room);
}

// Eight threads look for the touches of a solid in its new list, whose numbers rise, and bring back what else it has.
// No bit is set before.
__global__ void __launch_bounds__(threads) restore(Points points, SolidPoints solid, Lists lists, Control* control) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, i = thread / lanes, lane = thread % lanes;
  if (thread == 0) control->touches_kept = 0;
  if (i >= control->count[solid_set]) return;
  const std::size_t first = std::size_t{i} * lists.stride, kept = std::size_t{solid.from[i]} * solid.touch_room;
  const std::uint32_t count = lists.count[i], touches = solid.touch_count[solid.from[i]];
  const std::uint32_t* list = lists.entry + first;
  for (std::uint32_t t = lane; t < touches; t += lanes) {
    const std::uint32_t other = solid.index[solid.touch_id[kept + t]];  // ~0: it is gone
    std::uint32_t place = 0;
    for (std::uint32_t end = count; place < end;) {
      const std::uint32_t middle = (place + end) / 2;
      if (list[middle] < other) place = middle + 1;
      else end = middle;
    }
    if (place == count || list[place] != other) continue;
    const Vector moved = solid.touch_shift[kept + t];
    solid.shift[first + place] = {moved.x, moved.y, moved.z, 0};
    const std::size_t byte = (first + place) / lanes;
    atomicOr(reinterpret_cast<unsigned*>(solid.shifted) + byte / 4, 1u << (byte % 4 * 8 + place % lanes));
  }
  if (lane != 0) return;
  solid.spin[i] = solid.sorted_spin[i];
  solid.grain[i] = solid.sorted_grain[i];
  solid.on_shapes[i] = solid.sorted_on_shapes[i];
}

// Fluid and solids look for each other without skins.
__global__ void seek_radius(Points points, SolidPoints solid, const Control* control) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < control->count[solid_set]) solid.sought[i].w = points.sorted_velocity[i].w;
}

__global__ void look_for_strays(Points points, SolidPoints solid, Control* control, double dt) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= control->count[solid_set]) return;
  const double age = control->age * dt;
  if (strays(points.position[i], points.velocity[i], xyz(points.sorted_position[i]), control->drift, solid.skin[i],
             static_cast<float>(age + dt), static_cast<float>(dt)))
    control->last_substep = -1;
}

}  // namespace

std::size_t scan_bytes(std::size_t cells) {
  std::size_t bytes = 0;
  check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, static_cast<std::uint32_t*>(nullptr),
                                      static_cast<std::uint32_t*>(nullptr), static_cast<int>(cells)),
        "sums over cells");
  return bytes;
}

void sort_and_list(const AllPoints& all, bool drains, cudaStream_t stream) {
  const ListSettings& settings = all.settings;
  Control* control = all.control;
  const auto blocks = [](const Points& p) { return blocks_for(p.room, threads); };
  const auto in_use = [&](const auto& work) {
    for (const Points& points : all.set)
      if (points.room > 0) work(points);
  };
  begin_bounds<<<1, 1, 0, stream>>>(control);
  in_use([&](const Points& p) {
    check(cudaMemsetAsync(p.count_of_cell, 0, all.cells * sizeof(std::uint32_t), stream), "cells");
    find_bounds<<<blocks(p) < 264 ? blocks(p) : 264, threads, 0, stream>>>(p, settings, control, drains);
  });
  in_use([&](const Points& p) { count_cells<<<blocks(p), threads, 0, stream>>>(p, settings, control, drains); });
  in_use([&](const Points& p) {
    std::size_t bytes = all.scan_size;
    check(cub::DeviceScan::ExclusiveSum(all.scan, bytes, p.count_of_cell, p.first, static_cast<int>(all.cells), stream),
          "sums over cells");
    place<<<blocks(p), threads, 0, stream>>>(p, control);
    if (p.set == fluid_set)
      sort_cells<fluid_set><<<blocks(p), threads, 0, stream>>>(p, all.solid, settings.skins, control);
    else sort_cells<solid_set><<<blocks(p), threads, 0, stream>>>(p, all.solid, settings.skins, control);
  });
  const Points &fluid = all.set[fluid_set], &solid = all.set[solid_set];
  end_sorting<<<1, 1, 0, stream>>>(fluid, solid, control);
  const auto wide = [](const Points& p) { return blocks_for(p.room * lanes, threads); };
  const float water = settings.fluid_reach;
  if (fluid.room > 0)
    find_lists<true><<<wide(fluid), threads, 0, stream>>>(
        fluid, fluid,
        {fluid.sorted_position, fluid.sorted_position, water, water, settings.fluid_skin, all.fluid_of_fluid, 0},
        control);
  if (solid.room > 0) {
    find_lists<true><<<wide(solid), threads, 0, stream>>>(
        solid, solid, {all.solid.sought, all.solid.sought, 0, 0, 0, all.solid_of_solid, 1}, control);
    const std::size_t eights = solid.room * all.solid_of_solid.stride / lanes;
    check(cudaMemsetAsync(all.solid.shifted, 0, eights, stream), "touches");
    restore<<<blocks_for(solid.room * lanes, threads), threads, 0, stream>>>(solid, all.solid, all.solid_of_solid,
                                                                             control);
  }
  if (fluid.room > 0 && solid.room > 0) {
    seek_radius<<<blocks(solid), threads, 0, stream>>>(solid, all.solid, control);
    find_lists<false><<<wide(fluid), threads, 0, stream>>>(
        fluid, solid, {fluid.sorted_position, all.solid.sought, water, 0, settings.wet, all.solid_of_fluid, 2},
        control);
    find_lists<false><<<wide(solid), threads, 0, stream>>>(
        solid, fluid, {all.solid.sought, fluid.sorted_position, 0, water, settings.wet, all.fluid_of_solid, 3},
        control);
  }
  check(cudaGetLastError(), "lists");
}

void keep_touches(const AllPoints& all, cudaStream_t stream) {
  const Points& solid = all.set[solid_set];
  if (solid.room == 0) return;
  keep<<<blocks_for(solid.room * lanes, threads), threads, 0, stream>>>(solid, all.solid, all.solid_of_solid,
                                                                        all.control);
}

void begin_substeps(Control* control, cudaStream_t stream) {
  check(cudaMemsetAsync(&control->last_substep, 0x7f, sizeof control->last_substep, stream), "substeps");
}

void find_strays(const AllPoints& all, double dt, cudaStream_t stream) {
  const Points& solid = all.set[solid_set];
  look_for_strays<<<blocks_for(solid.room, threads), threads, 0, stream>>>(solid, all.solid, all.control, dt);
}

}  // namespace volvox::particles::cuda
