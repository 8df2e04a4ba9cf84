#include "volvox/view/mesh.h"

#include <gtest/gtest.h>

#include <cmath>

namespace volvox::view {
namespace {

Vec3 corner(const Mesh& mesh, std::size_t index) { return to_vec(mesh.vertices[mesh.indices[index]].position); }

// By the divergence theorem, which holds only if the mesh is closed and every triangle faces outwards.
double volume(const Mesh& mesh) {
  double sum = 0;
  for (std::size_t i = 0; i < mesh.indices.size(); i += 3)
    sum += dot(corner(mesh, i), cross(corner(mesh, i + 1), corner(mesh, i + 2))) / 6;
  return sum;
}

Mesh mesh_of(const model::Shape& shape, const Pose& pose = {}) {
  Mesh mesh;
  append(mesh, shape, pose, {10, 20, 30, 255});
  return mesh;
}

TEST(Mesh, EveryShapeIsClosedAndHasItsVolume) {
  const Pose pose{{0.3, -0.2, 0.5}, Quat::rpy(0.3, -0.4, 1)};
  EXPECT_NEAR(volume(mesh_of(model::Box{{1, 2, 3}}, pose)), 6, 1e-5);
  EXPECT_NEAR(volume(mesh_of(model::Cylinder{0.5, 2}, pose)) / (pi * 0.25 * 2), 1, 0.01);
  EXPECT_NEAR(volume(mesh_of(model::Sphere{0.5}, pose)) / (4.0 / 3 * pi * 0.125), 1, 0.03);
  EXPECT_NEAR(volume(mesh_of(model::Capsule{0.5, 1}, pose)) / (4.0 / 3 * pi * 0.125 + pi * 0.25), 1, 0.03);
  auto hull = std::make_shared<model::HullData>();
  for (int i = 0; i < 8; ++i) hull->points.push_back({i & 1 ? 1.0 : 0, i & 2 ? 1.0 : 0, i & 4 ? 1.0 : 0});
  EXPECT_NEAR(volume(mesh_of(model::Hull(hull), pose)), 1, 1e-5);
}

TEST(Mesh, NormalsAreUnitAndCreasesStaySharp) {
  const Mesh box = mesh_of(model::Box{{1, 1, 1}});
  EXPECT_EQ(box.vertices.size(), 24u);  // three normals at each corner
  EXPECT_EQ(box.triangles(), 12u);
  const Mesh sphere = mesh_of(model::Sphere{2});
  for (const Vertex& v : sphere.vertices) {
    const Vec3 n = to_vec(v.normal), p = to_vec(v.position);
    EXPECT_NEAR(length(n), 1, 1e-5);
    EXPECT_GT(dot(n, normalized(p)), 0.99);  // smooth: outwards everywhere
    EXPECT_EQ(v.color, (Rgba{10, 20, 30, 255}));
  }
}

TEST(Mesh, TerrainHasTheSurfaceThatPhysicsHas) {
  auto field = std::make_shared<model::HeightFieldData>();
  field->columns = 3, field->rows = 2, field->size_x = 4, field->size_y = 2;
  field->heights = {0, 1, 2, 3, 4, 5};
  const Mesh mesh = mesh_of(model::HeightField(field));
  EXPECT_EQ(mesh.triangles(), 4u);
  for (const Vertex& v : mesh.vertices) {
    const Vec3 p = to_vec(v.position);
    EXPECT_NEAR(p.z, field->height_at(p.x, p.y), 1e-6);
    EXPECT_GT(v.normal[2], 0.0f);
  }
}

TEST(Mesh, LargeTerrainsAreThinnedOutToTheirCorners) {
  auto field = std::make_shared<model::HeightFieldData>();
  field->columns = field->rows = 1000, field->size_x = field->size_y = 10;
  field->heights.assign(1'000'000, 0);
  const Mesh mesh = mesh_of(model::HeightField(field));
  EXPECT_EQ(mesh.triangles(), 2u * 383 * 383);
  EXPECT_NEAR(mesh.bounds().low.x, -5, 1e-6);
  EXPECT_NEAR(mesh.bounds().high.y, 5, 1e-6);
}

TEST(Mesh, SimplifyingKeepsTheSizeAndTheBudget) {
  const Mesh sphere = mesh_of(model::Sphere{1}, Pose{{2, 0, 0}, {}});
  for (const std::size_t budget : {600, 120, 24, 12}) {
    const Mesh coarse = simplified(sphere, budget);
    EXPECT_LE(coarse.triangles(), std::max<std::size_t>(budget, 12)) << budget;
    EXPECT_GE(coarse.triangles(), 4u) << budget;
    const Vec3 size = coarse.bounds().high - coarse.bounds().low;
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(size[k], 2, 1e-5) << budget;
  }
  EXPECT_EQ(simplified(sphere, 1'000'000).indices, sphere.indices);
}

TEST(Mesh, LevelsFallAndAFlatOrEmptyMeshIsNoTrouble) {
  const DetailedMesh sphere = with_levels(mesh_of(model::Sphere{1}));
  ASSERT_GE(sphere.levels.size(), 3u);
  for (std::size_t i = 1; i < sphere.levels.size(); ++i)
    EXPECT_LT(sphere.levels[i].triangles(), sphere.levels[i - 1].triangles());
  EXPECT_NEAR(sphere.radius(), std::sqrt(3.0), 0.01);
  EXPECT_TRUE(sphere.closed);
  EXPECT_EQ(with_levels(Mesh{}).levels.size(), 1u);
  EXPECT_EQ(with_levels(Mesh{}).radius(), 0);
  auto flat = std::make_shared<model::HeightFieldData>();
  flat->columns = flat->rows = 40, flat->size_x = flat->size_y = 1;
  flat->heights.assign(1600, 0);
  const DetailedMesh plain = with_levels(mesh_of(model::HeightField(flat)));
  EXPECT_LE(plain.levels.back().triangles(), 24u);
  EXPECT_FALSE(plain.closed);
  Mesh inside_out = mesh_of(model::Box{{1, 1, 1}});
  EXPECT_TRUE(with_levels(inside_out).closed);
  for (std::size_t i = 0; i < inside_out.indices.size(); i += 3)
    std::swap(inside_out.indices[i], inside_out.indices[i + 1]);
  EXPECT_FALSE(with_levels(inside_out).closed);
}

TEST(Mesh, TrianglesWithoutAreaAreLeftOut) {
  auto data = std::make_shared<model::MeshData>();
  data->vertices = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}};
  data->triangles = {{0, 1, 2}, {0, 1, 3}, {3, 3, 3}};
  EXPECT_EQ(mesh_of(model::Mesh(data)).triangles(), 1u);
}

}  // namespace
}  // namespace volvox::view
