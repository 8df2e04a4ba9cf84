#include "volvox/model/triangulate.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"

namespace volvox::model {
namespace {

using Point = std::array<double, 2>;
using Triangles = std::vector<std::array<std::uint32_t, 3>>;

// Twice the area of a triangle; positive where it turns left.
double turn(const Point& a, const Point& b, const Point& c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

void add_fan(std::span<const std::uint32_t> polygon, std::size_t first, Triangles& triangles) {
  const std::size_t n = polygon.size();
  for (std::size_t i = 2; i < n; ++i)
    triangles.push_back({polygon[first], polygon[(first + i - 1) % n], polygon[(first + i) % n]});
}

// The polygon in the plane in which it is largest, turning left.
std::vector<Point> flattened(const std::vector<Vec3>& vertices, std::span<const std::uint32_t> polygon) {
  Vec3 normal;  // Newell's
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vec3 a = vertices[polygon[i]], b = vertices[polygon[(i + 1) % polygon.size()]];
    normal = normal + Vec3{(a.y - b.y) * (a.z + b.z), (a.z - b.z) * (a.x + b.x), (a.x - b.x) * (a.y + b.y)};
  }
  int drop = 2;
  if (std::abs(normal.x) > std::abs(normal.z) && std::abs(normal.x) >= std::abs(normal.y)) drop = 0;
  else if (std::abs(normal.y) > std::abs(normal.z)) drop = 1;
  const int first = (drop + 1) % 3, second = (drop + 2) % 3;
  std::vector<Point> points;
  for (const std::uint32_t corner : polygon) {
    const Vec3& v = vertices[corner];
    points.push_back(normal[drop] < 0 ? Point{v[second], v[first]} : Point{v[first], v[second]});
  }
  return points;
}

}  // namespace

bool Triangulator::add(const std::vector<Vec3>& vertices, std::span<const std::uint32_t> polygon,
                       Triangles& triangles) {
  const std::size_t n = polygon.size();
  const bool known = std::all_of(polygon.begin(), polygon.end(), [&](std::uint32_t v) { return v < vertices.size(); });
  if (n <= 3 || !known) {
    add_fan(polygon, 0, triangles);  // what does not exist is found later
    return true;
  }
  std::vector<Point> points = flattened(vertices, polygon);
  std::size_t reflex = n, reflexes = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (turn(points[(i + n - 1) % n], points[i], points[(i + 1) % n]) >= 0) continue;
    reflex = i;
    ++reflexes;
  }
  if (reflexes == 0 || n == 4) {
    add_fan(polygon, reflexes == 1 ? reflex : 0, triangles);
    return true;
  }
  std::vector<std::uint32_t> corners(polygon.begin(), polygon.end());
  return cut_ears(points, corners, triangles);
}

bool Triangulator::cut_ears(std::vector<Point>& points, std::vector<std::uint32_t>& corners, Triangles& triangles) {
  const auto is_ear = [&](std::size_t i) {
    const std::size_t n = points.size(), before = (i + n - 1) % n, after = (i + 1) % n;
    const Point &a = points[before], &b = points[i], &c = points[after];
    if (turn(a, b, c) <= 0) return false;
    for (std::size_t k = 0; k < n; ++k) {
      const Point& p = points[k];
      if (k == before || k == i || k == after || p == a || p == b || p == c) continue;
      if (turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0) return false;
    }
    return true;
  };
  std::size_t i = 0, tried = 0;
  while (corners.size() > 3 && tried < corners.size()) {
    if (work_left_ < 0) return false;
    const std::size_t n = corners.size();
    work_left_ -= narrow<std::int64_t>(n);
    if (!is_ear(i)) {
      i = (i + 1) % n;
      ++tried;
      continue;
    }
    triangles.push_back({corners[(i + n - 1) % n], corners[i], corners[(i + 1) % n]});
    corners.erase(corners.begin() + i);
    points.erase(points.begin() + i);
    i %= corners.size();
    tried = 0;
  }
  add_fan(corners, 0, triangles);  // the last one; or what crosses itself, and has no ears
  return true;
}

}  // namespace volvox::model
