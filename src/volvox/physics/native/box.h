// Boxes with axes parallel to those of their frame.
#pragma once

#include <algorithm>
#include <cmath>

#include "volvox/physics/native/spatial.h"

namespace volvox::physics::native {

struct Box3 {
  Vec3 centre, half;
};

VOLVOX_ALSO_ON_GPU inline bool overlap(const Box3& a, const Box3& b) {
  return std::fabs(a.centre.x - b.centre.x) <= a.half.x + b.half.x &&
         std::fabs(a.centre.y - b.centre.y) <= a.half.y + b.half.y &&
         std::fabs(a.centre.z - b.centre.z) <= a.half.z + b.half.z;
}

// The bounds of a box in another frame.
VOLVOX_ALSO_ON_GPU inline Box3 bounds_in(const Box3& box, const M3<double>& axes, const Vec3& position, double margin) {
  const auto spread = [&](const V3<double>& row) {
    return std::fabs(row.x) * box.half.x + std::fabs(row.y) * box.half.y + std::fabs(row.z) * box.half.z + margin;
  };
  return {plain(axes * lane(box.centre)) + position, {spread(axes.r0), spread(axes.r1), spread(axes.r2)}};
}

// A box around two.
inline Box3 around(const Box3& a, const Box3& b) {
  const auto low = [](double x, double h, double y, double g) { return std::min(x - h, y - g); };
  const auto high = [](double x, double h, double y, double g) { return std::max(x + h, y + g); };
  const Vec3 lowest{low(a.centre.x, a.half.x, b.centre.x, b.half.x), low(a.centre.y, a.half.y, b.centre.y, b.half.y),
                    low(a.centre.z, a.half.z, b.centre.z, b.half.z)};
  const Vec3 highest{high(a.centre.x, a.half.x, b.centre.x, b.half.x), high(a.centre.y, a.half.y, b.centre.y, b.half.y),
                     high(a.centre.z, a.half.z, b.centre.z, b.half.z)};
  return {(lowest + highest) * 0.5, (highest - lowest) * 0.5};
}

}  // namespace volvox::physics::native
