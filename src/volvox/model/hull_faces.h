// The faces of convex hulls, for contacts, rays and pictures.
// In the unit and frame of the points, in m throughout Volvox. A pure function; the same points in the same order give
// the same faces in the same order.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "volvox/base/math.h"

namespace volvox::model {

// A face of a convex hull: its points p have dot(normal, p) == offset.
struct HullFace {
  Vec3 normal;
  double offset = 0;
  std::array<std::uint32_t, 3> corners{};
};

// The faces of the convex hull of some points, as triangles that wind counter-clockwise seen
// from outside. Empty if the points lie in one plane.
std::vector<HullFace> hull_faces(const std::vector<Vec3>& points);

}  // namespace volvox::model
