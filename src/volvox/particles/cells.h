// Cells by which points are sorted, once for the processor and for a GPU.
// Lengths in m. Pure functions: the same box and reach give the same cells, on every machine.
#pragma once

#include <cmath>
#include <cstdint>

#include "volvox/base/math.h"
#include "volvox/particles/lanes.h"

namespace volvox::particles {

// Cells over a box, with a margin of empty ones, so that the cells about any point exist. A point's neighbours are
// within one cell along y and z. Along x, the order of memory, cells are a third as long and neighbours within three of
// them: the row of cells to search is 7/3 cells long instead of 3.
struct Cells {
  float low[3] = {};
  float scale[3] = {1, 1, 1};  // 1 / size of a cell
  std::int32_t count[3] = {1, 1, 1};

  VOLVOX_KERNEL static constexpr std::int32_t steps(int axis) { return axis == 0 ? 3 : 1; }  // to either side
  VOLVOX_KERNEL static double most(std::size_t points) {
    const double wanted = 8 * static_cast<double>(points), least = 1 << 16;
    return wanted > least ? wanted : least;
  }
  // All within `size` of a point are in the cells that it looks at. Where few points are scattered widely, the cells
  // become larger, so that they need no more memory than the points do.
  VOLVOX_KERNEL static Cells over(const Vec3& low, const Vec3& high, double size, std::size_t points);
  VOLVOX_KERNEL std::size_t total() const { return static_cast<std::size_t>(count[0]) * count[1] * count[2]; }
};

VOLVOX_KERNEL Cells Cells::over(const Vec3& low, const Vec3& high, double size, std::size_t points) {
  const Vec3 extent = high - low;
  const auto number = [&](double length, int axis) {
    return std::floor(length / (size / steps(axis))) + 1 + 2 * steps(axis);
  };
  while (number(extent.x, 0) * number(extent.y, 1) * number(extent.z, 2) > most(points)) size *= 1.25;
  Cells cells;
  const auto along = [&](double from, double length, int axis) {
    cells.low[axis] = static_cast<float>(from);
    cells.count[axis] = static_cast<std::int32_t>(number(length, axis));
    cells.scale[axis] = static_cast<float>(steps(axis) / size);
  };
  along(low.x, extent.x, 0), along(low.y, extent.y, 1), along(low.z, extent.z, 2);
  return cells;
}

// What lies outside, or nowhere (NaN), is in a cell at the edge.
VOLVOX_KERNEL std::uint32_t cell_of(const Cells& cells, const Point& p) {
  const auto along = [&](float x, int axis) {
    const float cell = (x - cells.low[axis]) * cells.scale[axis];
    const std::int32_t before = Cells::steps(axis), last = cells.count[axis] - 2 * before - 1;
    return !(cell > 0)                        ? before
           : cell >= static_cast<float>(last) ? last + before
                                              : static_cast<std::int32_t>(cell) + before;
  };
  return static_cast<std::uint32_t>((along(p.z, 2) * cells.count[1] + along(p.y, 1)) * cells.count[0] + along(p.x, 0));
}

// The points of the cells along x in one of the nine rows about a cell.
struct Row {
  std::uint32_t begin, end;
};
inline constexpr int rows_about = 9;
VOLVOX_KERNEL Row row_about(const Cells& cells, const std::uint32_t* first, std::uint32_t cell, int row) {
  const std::int64_t dz = row / 3 - 1, dy = row % 3 - 1;
  const std::int64_t middle = std::int64_t{cell} + (dz * cells.count[1] + dy) * cells.count[0];
  return {first[middle - Cells::steps(0)], first[middle + Cells::steps(0) + 1]};
}

// Which of these rows may have points within `reach` of a point of the cell, a bit each. Cells are as large as the
// farthest-reaching two points need: most need less.
VOLVOX_KERNEL unsigned rows_within(const Cells& cells, std::uint32_t cell, float y, float z, float reach) {
  const auto column = static_cast<std::int32_t>(cell / static_cast<std::uint32_t>(cells.count[0]));
  const std::int32_t at[2] = {column % cells.count[1], column / cells.count[1]};
  const float place[2] = {y, z};
  unsigned near[2];  // below, at, above: bits 0 to 2
  for (int k = 0; k < 2; ++k) {
    const float size = 1 / cells.scale[k + 1], far = reach + 1e-3f * size;  // rounding takes less
    const float within = place[k] - (cells.low[k + 1] + static_cast<float>(at[k] - 1) * size);
    near[k] = 2u | (within > far ? 0u : 1u) | (size - within > far ? 0u : 4u);
  }
  return ((near[1] & 1u) != 0 ? near[0] : 0u) | near[0] << 3 | ((near[1] & 4u) != 0 ? near[0] << 6 : 0u);
}
inline constexpr unsigned all_rows = 0x1ff;

}  // namespace volvox::particles
