// Points sorted by cells and their lists of neighbours, as neighbours.cpp makes them.
#pragma once

#include <cstdint>

#include "volvox/particles/cells.h"
#include "volvox/particles/cuda/memory.cuh"
#include "volvox/particles/shape_kernels.h"
#include "volvox/particles/solids.h"

namespace volvox::particles::cuda {

enum Set { fluid_set, solid_set };

// What kernels tell each other and the host; in the memory of the GPU.
struct Control {
  std::uint32_t count[2] = {};             // by set
  std::uint32_t leaving[2] = {};           // while the tick begins
  std::int32_t low[3] = {}, high[3] = {};  // of all points, as integers that are ordered as the floats are
  Cells cells;
  unsigned long long drift_units[3] = {};                // of solids
  std::int32_t slow[3] = {}, fast[3] = {};               // bounds of their velocities, as integers
  Vector drift;                                          // m/s
  float most_reach = 0;                                  // of solids: the largest radius and skin, m
  std::int32_t age = 0;                                  // of the lists, in substeps
  std::int32_t last_substep = 0;                         // of those that were launched: for the next, lists do not hold
  std::uint32_t touches_kept = 0;                        // by ids: there are no lists yet
  std::uint32_t longest_list[4] = {}, most_touches = 0;  // more than there is room for
  std::uint32_t not_finite = 0, torn = 0;
  unsigned long long drained = 0, lists_made = 0;
};

// The lists of the points of one set, `stride` entries each.
struct Lists {
  std::uint32_t *entry, *count;
  std::uint32_t stride;
};

// The points of one set, while they are sorted.
struct Points {
  std::uint32_t set;
  std::size_t room;  // points there may be
  Point *position, *velocity;
  std::uint32_t* id;
  Point *sorted_position, *sorted_velocity;
  std::uint32_t* sorted_id;
  std::uint32_t *cell, *slot, *unsorted, *sorted_cell;
  std::uint32_t *count_of_cell, *first;  // by cell
};

// What solids have besides.
struct SolidPoints {
  Point *spin, *sorted_spin;
  std::uint8_t *grain, *sorted_grain;
  std::array<ShapeTouch, shape_touches>*on_shapes, *sorted_on_shapes;
  Point* sought;         // sorted: w is the reach
  float* skin;           // sorted
  std::uint32_t* from;   // sorted: the place before
  std::uint32_t* index;  // by id
  // Touches by ids, in the order before the sorting, `touch_room` each.
  std::uint32_t *touch_count, *touch_id;
  Vector* touch_shift;
  std::uint32_t touch_room;
  // By entry of the lists of solids: how far the two are shifted, where the bit of the entry is set; eight a byte.
  Point* shift;
  std::uint8_t* shifted;
};

struct ListSettings {
  const DrainView* drains;
  std::uint32_t drain_count;
  double low[3], high[3];  // of the world
  float support, largest_radius;
  float fluid_reach, fluid_skin, wet;
  SkinRule skins;
};

struct AllPoints {
  Points set[2];
  SolidPoints solid;
  Lists fluid_of_fluid, solid_of_fluid, fluid_of_solid, solid_of_solid;
  ListSettings settings;
  Control* control;
  std::size_t cells;  // room for them
  void* scan;
  std::size_t scan_size;
};

// Room for the sums over cells; `cells` of them.
std::size_t scan_bytes(std::size_t cells);
// Sorts all points and makes all lists. `drains`: those outside the world go, because the tick begins.
void sort_and_list(const AllPoints& points, bool drains, cudaStream_t stream);
// The touches of the lists by ids, so that they outlive the sorting.
void keep_touches(const AllPoints& points, cudaStream_t stream);
// Substeps are launched ahead: the one that finds that lists do not hold for the next says so (Control::last_substep),
// and kernels of later ones do nothing. Whether the host launches them again behind new lists is its business.
void begin_substeps(Control* control, cudaStream_t stream);
// Whether lists hold for the first substep.
void find_strays(const AllPoints& points, double dt, cudaStream_t stream);

}  // namespace volvox::particles::cuda
