// Points sorted by cells and their lists of neighbours, as neighbours.cpp makes them.
#pragma once

#include <cstdint>

#include "volvox/particles/cells.h"
#include "volvox/particles/cuda/memory.cuh"

namespace volvox::particles::cuda {

// What kernels tell each other and the host; in the memory of the GPU.
struct Control {
  std::uint32_t fluids = 0;
  std::uint32_t leaving = 0;             // while the tick begins
  std::int32_t low[3] = {}, high[3] = {};  // of all points, as integers that are ordered as the floats are
  Cells cells;
  std::uint32_t longest_list = 0;
  std::uint32_t not_finite = 0;
  unsigned long long drained = 0, lists_made = 0;
};

// By point: what travels with it when the points are sorted.
struct Sorting {
  Point *position, *velocity;
  std::uint32_t* id;
  Point *sorted_position, *sorted_velocity;
  std::uint32_t* sorted_id;
  std::uint32_t *cell, *slot, *unsorted, *sorted_cell;
  std::uint32_t *count_of_cell, *first;  // by cell
  std::uint32_t *list, *list_count;      // `stride` a point
  std::uint32_t stride;
};

struct ListSettings {
  double low[3], high[3];  // of the world
  double cell_size;
  float reach, skin;
};

// Room for the sums over cells; `cells` of them.
std::size_t scan_bytes(std::size_t cells);

// Sorts and lists up to `room` points, as many as control says. `drains`: those outside the world go.
void sort_and_list(const Sorting& points, const ListSettings& settings, Control* control, std::size_t room,
                   std::size_t cells, bool drains, void* scan, std::size_t scan_size, cudaStream_t stream);

}  // namespace volvox::particles::cuda
