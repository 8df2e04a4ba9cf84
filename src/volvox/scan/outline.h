// The outline of a set of points in a plane: loops around the occupied cells of a grid. Deterministic.
#pragma once

#include <cstdint>
#include <vector>

#include "volvox/scan/polygon.h"

namespace volvox::scan {

// Loops of cell edges with the points on their left: outer loops are counter-clockwise, holes clockwise.
// A loop is a list of corners; consecutive corners are one cell apart.
struct OutlineOptions {
  double cell = 0;
  double least = 2;        // points in an occupied cell
  double least_area = 10;  // in cells: smaller islands and holes are ignored as noise
};
std::vector<std::vector<Vec2>> outlines(const std::vector<Vec2>& points, const OutlineOptions& options);

}  // namespace volvox::scan
