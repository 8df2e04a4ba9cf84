#include "volvox/scan/mesh.h"

#include <gtest/gtest.h>

namespace volvox::scan {
namespace {

TriangleMesh tetrahedron() {
  TriangleMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  mesh.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  return mesh;
}

TEST(Mesh, ClosedSurfaceHasNoBoundary) {
  const Topology found = topology(tetrahedron());
  EXPECT_EQ(found.edges, 6u);
  EXPECT_EQ(found.boundary_edges, 0u);
  EXPECT_TRUE(found.two_manifold());
}

TEST(Mesh, FindsBoundaryNonManifoldEdgesAndBowTies) {
  TriangleMesh mesh = tetrahedron();
  mesh.triangles.pop_back();
  EXPECT_EQ(topology(mesh).boundary_edges, 3u);
  mesh = tetrahedron();
  mesh.vertices.push_back({1, 1, 1});
  mesh.triangles.push_back({0, 1, 4});
  EXPECT_EQ(topology(mesh).non_manifold_edges, 1u);
  mesh = tetrahedron();
  mesh.vertices.push_back({2, 1, 0});
  mesh.vertices.push_back({2, 0, 1});
  mesh.triangles.push_back({1, 4, 5});
  EXPECT_EQ(topology(mesh).bow_ties, 1u);
  EXPECT_FALSE(topology(mesh).two_manifold());
}

TEST(Mesh, WeldJoinsNearVerticesAndDropsWhatHasNoArea) {
  TriangleMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1e-7, 0, 0}, {1, 1, 0}, {1, 1e-7, 0}, {0, 1, 1e-7}, {9, 9, 9}};
  mesh.triangles = {{0, 1, 2}, {5, 4, 6}, {0, 3, 1}};
  const TriangleMesh result = welded(mesh, 1e-6);
  EXPECT_EQ(result.vertices.size(), 4u);
  EXPECT_EQ(result.triangles.size(), 2u);
  EXPECT_EQ(topology(result).boundary_edges, 4u);
}

TEST(Mesh, SurfacePointsLieOnTheSurfaceEvenly) {
  TriangleMesh mesh;
  mesh.vertices = {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {0, 1, 0}};
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
  const auto points = surface_points(mesh, 1000);
  EXPECT_EQ(points.size(), 2000u);
  int left = 0;
  for (const Vec3& p : points) {
    EXPECT_EQ(p.z, 0);
    left += p.x < 1;
  }
  EXPECT_NEAR(left, 1000, 20);
}

}  // namespace
}  // namespace volvox::scan
