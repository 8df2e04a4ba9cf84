#include "volvox/rays/ray_shapes.h"

#include <gtest/gtest.h>

#include <cmath>

namespace volvox::rays {
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

RayGeometry geometry_of(const model::Shape& shape) {
  auto geometry = std::make_shared<model::Geometry>();
  geometry->colliders.push_back({"shape", shape, {}, {}});
  return RayGeometry(geometry);
}

model::Hull hull_of(std::vector<Vec3> points) {
  auto hull = std::make_shared<model::HullData>();
  hull->points = std::move(points);
  return hull;
}

}  // namespace

// A box, its hull and its mesh must be hit at the same places.
TEST(RayShapes, box_hull_and_mesh_agree) {
  const Vec3 half{0.3, 0.5, 0.2};
  std::vector<Vec3> corners;
  for (int i = 0; i < 8; ++i) corners.push_back(multiply(half, {i & 1 ? 1. : -1., i & 2 ? 1. : -1., i & 4 ? 1. : -1.}));
  auto mesh = std::make_shared<model::MeshData>();
  mesh->vertices = corners;
  for (const model::HullFace& face : model::hull_faces(corners)) mesh->triangles.push_back(face.corners);
  const RayGeometry box = geometry_of(model::Box{half * 2}), hull = geometry_of(hull_of(corners)),
                    surface = geometry_of(model::Mesh(mesh));
  int hits = 0;
  for (const Vec3& from : directions(40)) {
    for (const Vec3& aim : directions(40)) {
      const Vec3 origin = from * 2, direction = normalized(aim * 0.5 - origin);
      const ShapeHit a = box.cast(origin, direction, 10), b = hull.cast(origin, direction, 10),
                     c = surface.cast(origin, direction, 10);
      EXPECT_NEAR(a.distance, b.distance, 1e-9);
      EXPECT_NEAR(a.distance, c.distance, 1e-9);
      if (a.distance < 0) continue;
      ++hits;
      EXPECT_LT(length(a.normal - b.normal), 1e-9);
    }
  }
  EXPECT_GT(hits, 500);
}

// Points on a capsule and a cylinder satisfy their equations.
TEST(RayShapes, round_shapes_are_hit_on_their_surface) {
  const RayGeometry capsule = geometry_of(model::Capsule{0.2, 0.6}), cylinder = geometry_of(model::Cylinder{0.2, 0.6});
  for (const Vec3& from : directions(40)) {
    for (const Vec3& aim : directions(20)) {
      const Vec3 origin = from * 2, direction = normalized(aim * 0.15 - origin);
      const ShapeHit a = capsule.cast(origin, direction, 10);
      ASSERT_GE(a.distance, 0);
      const Vec3 p = origin + direction * a.distance, spine{0, 0, clamp(p.z, -0.3, 0.3)};
      EXPECT_NEAR(length(p - spine), 0.2, 1e-9);
      EXPECT_LT(length(a.normal - normalized(p - spine)), 1e-6);
      const ShapeHit b = cylinder.cast(origin, direction, 10);
      ASSERT_GE(b.distance, 0);
      const Vec3 q = origin + direction * b.distance;
      EXPECT_NEAR(std::max(std::hypot(q.x, q.y) - 0.2, std::fabs(q.z) - 0.3), 0, 1e-9);
      EXPECT_LT(dot(b.normal, direction), 0);
    }
  }
}

TEST(RayShapes, compound_sees_its_nearest_part) {
  auto geometry = std::make_shared<model::Geometry>();
  geometry->colliders = {{"far", model::Sphere{0.1}, {{2, 0, 0}, {}}, {}},
                         {"near", model::Sphere{0.1}, {{1, 0, 0}, {}}, {}}};
  const RayGeometry rays(geometry);
  EXPECT_NEAR(rays.cast({}, {1, 0, 0}, 10).distance, 0.9, 1e-12);
  EXPECT_NEAR(rays.radius(), 2.1, 1e-12);
}

}  // namespace volvox::rays
