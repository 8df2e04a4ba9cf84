// Point sets of convex hulls, in m. Internal to model/.
// Pure functions in the frame of the points; the same points give the same result.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "volvox/model/shape.h"

namespace volvox::model {

// Why the points span no volume: they are too few, flat or not finite. nullopt if they span one.
std::optional<std::string> hull_fault(const std::vector<Vec3>& points);

// All distinct points or, if there are more than `limit`, those that lie farthest out in `limit` evenly
// spread directions.
std::vector<Vec3> outer_points(const std::vector<Vec3>& points, std::size_t limit);
inline constexpr std::size_t max_hull_points = 1024;

std::vector<Vec3> ellipsoid_points(const Vec3& radii);

}  // namespace volvox::model
