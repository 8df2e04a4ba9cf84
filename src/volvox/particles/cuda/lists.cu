#include "volvox/particles/cuda/lists.cuh"

#include <cub/device/device_scan.cuh>

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
  return !(x >= s.low[0] && y >= s.low[1] && z >= s.low[2] && x <= s.high[0] && y <= s.high[1] && z <= s.high[2]);
}

__global__ void begin_bounds(Control* control) {
  for (int axis = 0; axis < 3; ++axis) {
    control->low[axis] = ordered(1e30f);
    control->high[axis] = ordered(-1e30f);
  }
  control->leaving = 0;
}

__global__ void find_bounds(Sorting points, ListSettings settings, Control* control, bool drains) {
  const std::uint32_t count = control->fluids;
  std::int32_t low[3], high[3];
  for (int axis = 0; axis < 3; ++axis) low[axis] = ordered(1e30f), high[axis] = ordered(-1e30f);
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const Point p = points.position[i];
    if (drains) {
      if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z)) control->not_finite = 1;
      if (outside(settings, p)) {
        atomicAdd(&control->leaving, 1u);
        continue;
      }
    }
    const float at[3] = {p.x, p.y, p.z};
    for (int axis = 0; axis < 3; ++axis) {
      if (isnan(at[axis])) continue;
      low[axis] = min(low[axis], ordered(at[axis]));
      high[axis] = max(high[axis], ordered(at[axis]));
    }
  }
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = __reduce_min_sync(~0u, low[axis]);
    high[axis] = __reduce_max_sync(~0u, high[axis]);
    if (threadIdx.x % 32 != 0) continue;
    atomicMin(&control->low[axis], low[axis]);
    atomicMax(&control->high[axis], high[axis]);
  }
}

__device__ Cells cells_over(const ListSettings& s, const Control& control) {
  Vec3 low, high;
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = clamp(static_cast<double>(unordered(control.low[axis])), s.low[axis], s.high[axis]);
    high[axis] = clamp(static_cast<double>(unordered(control.high[axis])), low[axis], s.high[axis]);
  }
  return Cells::over(low, high, s.cell_size, control.fluids - control.leaving);
}

__global__ void count_cells(Sorting points, ListSettings settings, Control* control, bool drains) {
  __shared__ Cells cells;
  if (threadIdx.x == 0) {
    cells = cells_over(settings, *control);
    if (blockIdx.x == 0) control->cells = cells;
  }
  __syncthreads();
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= control->fluids) return;
  const Point p = points.position[i];
  // Those that leave are behind all others.
  const std::uint32_t cell =
      drains && outside(settings, p) ? static_cast<std::uint32_t>(cells.total()) : cell_of(cells, p);
  points.cell[i] = cell;
  points.slot[i] = atomicAdd(points.count_of_cell + cell, 1u);
}

__global__ void place(Sorting points, const Control* control) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= control->fluids) return;
  points.unsorted[points.first[points.cell[i]] + points.slot[i]] = i;
}

// The points of a cell lie as their threads came: each counts those that are to be before it.
__global__ void sort_cells(Sorting points, const Control* control) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= control->fluids) return;
  const std::uint32_t cell = points.cell[i], begin = points.first[cell], end = points.first[cell + 1];
  if (cell == control->cells.total()) return;  // leaves
  std::uint32_t to = begin;
  for (std::uint32_t k = begin; k < end; ++k) to += points.unsorted[k] < i;
  points.sorted_position[to] = points.position[i];
  points.sorted_velocity[to] = points.velocity[i];
  points.sorted_id[to] = points.id[i];
  points.sorted_cell[to] = cell;
}

// Eight threads have a point and test eight candidates at a time.
__global__ void __launch_bounds__(threads) find_lists(Sorting points, ListSettings settings, Control* control) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, i = thread / lanes, lane = thread % lanes;
  const std::uint32_t count = points.first[control->cells.total()];
  if (thread == 0) {
    control->drained += control->fluids - count;
    ++control->lists_made;
  }
  if (i >= count) return;
  const unsigned shift = threadIdx.x % 32 / lanes * lanes, group = 0xffu << shift, before = (1u << lane) - 1;
  const Point p = points.sorted_position[i];
  const std::uint32_t cell = points.sorted_cell[i];
  const float far = settings.reach + (settings.reach + settings.skin), far2 = far * far;
  const Cells cells = control->cells;
  const Row own_row = row_about(cells, points.first, cell, static_cast<int>(lane));
  const Row last_row = row_about(cells, points.first, cell, rows_about - 1);
  std::uint32_t* list = points.list + std::size_t{i} * points.stride;
  std::uint32_t size = 0;
  for (int row = 0; row < rows_about; ++row) {
    std::uint32_t begin = __shfl_sync(group, own_row.begin, row % lanes, lanes);
    std::uint32_t end = __shfl_sync(group, own_row.end, row % lanes, lanes);
    if (row == rows_about - 1) begin = last_row.begin, end = last_row.end;
    for (std::uint32_t first = begin; first < end; first += lanes) {
      const std::uint32_t j = first + lane;
      bool near = j < end && j != i;
      if (near) {
        const Point o = points.sorted_position[j];
        const float dx = o.x - p.x, dy = o.y - p.y, dz = o.z - p.z;
        near = dx * dx + dy * dy + dz * dz < far2;
      }
      const unsigned bits = __ballot_sync(group, near) >> shift & 0xffu;
      const std::uint32_t to = size + __popc(bits & before);
      if (near && to < points.stride) list[to] = j;
      size += __popc(bits);
    }
  }
  if (lane == 0) {
    if (size > points.stride) atomicMax(&control->longest_list, size);
    points.list_count[i] = min(size, points.stride);
    points.position[i] = p;
    points.velocity[i] = points.sorted_velocity[i];
    points.id[i] = points.sorted_id[i];
  }
}

__global__ void end_sorting(const std::uint32_t* first, Control* control) {
  control->fluids = first[control->cells.total()];
}

}  // namespace

std::size_t scan_bytes(std::size_t cells) {
  std::size_t bytes = 0;
  check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, static_cast<std::uint32_t*>(nullptr),
                                      static_cast<std::uint32_t*>(nullptr), static_cast<int>(cells)),
        "sums over cells");
  return bytes;
}

void sort_and_list(const Sorting& points, const ListSettings& settings, Control* control, std::size_t room,
                   std::size_t cells, bool drains, void* scan, std::size_t scan_size, cudaStream_t stream) {
  const unsigned blocks = blocks_for(room, threads), few = blocks < 264 ? blocks : 264;
  check(cudaMemsetAsync(points.count_of_cell, 0, cells * sizeof(std::uint32_t), stream), "cells");
  begin_bounds<<<1, 1, 0, stream>>>(control);
  find_bounds<<<few, threads, 0, stream>>>(points, settings, control, drains);
  count_cells<<<blocks, threads, 0, stream>>>(points, settings, control, drains);
  check(cub::DeviceScan::ExclusiveSum(scan, scan_size, points.count_of_cell, points.first, static_cast<int>(cells),
                                      stream),
        "sums over cells");
  place<<<blocks, threads, 0, stream>>>(points, control);
  sort_cells<<<blocks, threads, 0, stream>>>(points, control);
  find_lists<<<blocks_for(room * lanes, threads), threads, 0, stream>>>(points, settings, control);
  end_sorting<<<1, 1, 0, stream>>>(points.first, control);
  check(cudaGetLastError(), "lists");
}

}  // namespace volvox::particles::cuda
