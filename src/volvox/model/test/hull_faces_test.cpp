#include "volvox/model/hull_faces.h"

#include <gtest/gtest.h>

#include <cmath>

namespace volvox::model {
namespace {

// Directions spread over the sphere.
std::vector<Vec3> directions(int count) {
  std::vector<Vec3> result;
  for (int i = 0; i < count; ++i) {
    const double z = 1 - 2 * (i + 0.5) / count, a = 2.399963229728653 * i, r = std::sqrt(1 - z * z);
    result.push_back({r * std::cos(a), r * std::sin(a), z});
  }
  return result;
}

}  // namespace

TEST(HullFaces, hold_every_point_and_close) {
  std::vector<Vec3> points = directions(200);
  for (const Vec3& p : directions(50)) points.push_back(p * 0.9);  // inside
  const auto faces = hull_faces(points);
  EXPECT_EQ(faces.size(), 2u * 200 - 4);  // Euler: every corner used, all triangles
  for (const HullFace& face : faces) {
    for (const Vec3& p : points) EXPECT_LT(dot(face.normal, p), face.offset + 1e-9);
  }
}

TEST(HullFaces, of_a_grid_with_many_points_in_a_plane) {
  std::vector<Vec3> points;
  for (int i = 0; i < 64; ++i) points.push_back({double(i & 3), double((i >> 2) & 3), double(i >> 4)});
  double area = 0;
  for (const HullFace& face : hull_faces(points)) {
    const Vec3 a = points[face.corners[0]], b = points[face.corners[1]], c = points[face.corners[2]];
    area += length(cross(b - a, c - a)) / 2;
    for (const Vec3& p : points) EXPECT_LT(dot(face.normal, p), face.offset + 1e-9);
  }
  EXPECT_NEAR(area, 6 * 9, 1e-9);
}

TEST(HullFaces, of_flat_points_are_none) {
  EXPECT_TRUE(hull_faces({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0.5, 0.2, 0}}).empty());
}

}  // namespace volvox::model
