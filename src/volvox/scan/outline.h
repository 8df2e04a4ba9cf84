// Where a flat set of points ends: loops around the cells of a grid that hold points.
#pragma once

#include <cstdint>
#include <vector>

#include "volvox/scan/polygon.h"

namespace volvox::scan {

// Loops of cell edges, the points on their left: outer loops are counter-clockwise, holes clockwise.
// A loop is given by its corners, one a cell edge; consecutive ones are one cell apart.
struct OutlineOptions {
  double cell = 0;
  double least = 2;        // points that make a cell count
  double least_area = 10;  // in cells: smaller islands and holes are noise
};
std::vector<std::vector<Vec2>> outlines(const std::vector<Vec2>& points, const OutlineOptions& options);

}  // namespace volvox::scan
