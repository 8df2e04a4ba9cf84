// Point sets that become convex hulls. Internal to model/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "volvox/model/shape.h"

namespace volvox::model {

// Why the points span no body: too few, flat, not finite. None if they do.
std::optional<std::string> hull_fault(const std::vector<Vec3>& points);

// At most `limit` of the points that matter: all distinct ones or, if there are more, those
// that lie farthest out in evenly spread directions.
std::vector<Vec3> outer_points(const std::vector<Vec3>& points, std::size_t limit);
inline constexpr std::size_t max_hull_points = 1024;

std::vector<Vec3> ellipsoid_points(const Vec3& radii);

}  // namespace volvox::model
