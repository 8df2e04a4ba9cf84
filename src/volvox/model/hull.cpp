#include "volvox/model/hull.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "volvox/base/index.h"

namespace volvox::model {
namespace {

// Evenly spread directions: a spiral from pole to pole with the golden angle between neighbours.
Vec3 spiral_direction(std::size_t i, std::size_t count) {
  const double z = 1 - (2 * real(i) + 1) / real(count);
  const double golden_angle = pi * (3 - std::sqrt(5.0));
  const double turn = golden_angle * real(i), r = std::sqrt(1 - z * z);
  return {r * volvox::cos(turn), r * volvox::sin(turn), z};
}

// The largest value of `measure` over the points.
template <class Measure>
std::pair<double, Vec3> farthest(const std::vector<Vec3>& points, Measure measure) {
  double best = -1;
  Vec3 where;
  for (const Vec3& p : points) {
    if (const double d = measure(p); d > best) {
      best = d;
      where = p;
    }
  }
  return {best, where};
}

}  // namespace

std::optional<std::string> hull_fault(const std::vector<Vec3>& points) {
  if (points.size() < 4) return fmt::format("a hull of {} points has no volume; it needs at least 4", points.size());
  for (const Vec3& p : points) {
    if (!finite(p)) return "a point of the hull is not finite";
  }
  const Vec3 origin = points.front();
  const auto [extent, second] = farthest(points, [&](const Vec3& p) { return length(p - origin); });
  const double flat = 1e-6 * extent;
  if (!(extent > 0)) return "all points of the hull lie in one place";
  const Vec3 line = normalized(second - origin);
  const auto [width, third] = farthest(points, [&](const Vec3& p) { return length(cross(p - origin, line)); });
  if (width <= flat) return "all points of the hull lie on one line";
  const Vec3 normal = normalized(cross(line, third - origin));
  const auto [height, fourth] = farthest(points, [&](const Vec3& p) { return std::fabs(dot(p - origin, normal)); });
  if (height <= flat) return "all points of the hull lie in one plane";
  return std::nullopt;
}

std::vector<Vec3> outer_points(const std::vector<Vec3>& points, std::size_t limit) {
  const auto less = [](const Vec3& a, const Vec3& b) { return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z); };
  std::vector<Vec3> distinct = points;
  std::sort(distinct.begin(), distinct.end(), less);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() <= limit) return distinct;
  std::set<std::size_t> kept;
  for (std::size_t i = 0; i < limit; ++i) {
    const Vec3 direction = spiral_direction(i, limit);
    std::size_t best = 0;
    for (std::size_t k = 1; k < distinct.size(); ++k) {
      if (dot(distinct[k], direction) > dot(distinct[best], direction)) best = k;
    }
    kept.insert(best);
  }
  std::vector<Vec3> result;
  for (const std::size_t k : kept) result.push_back(distinct[k]);
  return result;
}

std::vector<Vec3> ellipsoid_points(const Vec3& radii) {
  constexpr std::size_t count = 200;
  std::vector<Vec3> points;
  for (std::size_t i = 0; i < count; ++i) points.push_back(multiply(spiral_direction(i, count), radii));
  // The spiral misses the ends of the axes, on which a body may rest.
  for (int axis = 0; axis < 3; ++axis) {
    for (const double side : {-1.0, 1.0}) {
      Vec3 tip;
      tip[axis] = side * radii[axis];
      points.push_back(tip);
    }
  }
  return points;
}

}  // namespace volvox::model
