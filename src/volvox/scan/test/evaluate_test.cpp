#include "volvox/scan/evaluate.h"

#include <gtest/gtest.h>

#include <set>

#include "volvox/base/random.h"
#include "volvox/scan/arena.h"
#include "volvox/scan/coverage.h"
#include "volvox/scan/free_place.h"
#include "volvox/scan/triangle_tree.h"

namespace volvox::scan {
namespace {

TEST(Polygon, HolesAddTwoTrianglesEach) {
  const std::vector<std::vector<Vec2>> loops = {
      {{0, 0}, {4, 0}, {4, 3}, {0, 3}}, {{1, 1}, {1, 2}, {2, 2}, {2, 1}}, {{2.5, 0.5}, {3, 2.5}, {3.5, 0.5}}};
  const auto triangles = triangulate(loops);
  EXPECT_EQ(triangles.size(), 11u + 4 - 2);
  std::vector<Vec2> all;
  for (const auto& loop : loops) all.insert(all.end(), loop.begin(), loop.end());
  double sum = 0;
  for (const auto& t : triangles) {
    const double area = cross(all[t[1]] - all[t[0]], all[t[2]] - all[t[0]]) / 2;
    EXPECT_GT(area, 0);
    sum += area;
  }
  EXPECT_NEAR(sum, 12 - 1 - 1, 1e-12);
}

TEST(Arena, IsTwoManifoldWithTheOpenTopAsItsOnlyBoundary) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto arena = make_arena({.seed = seed});
    ASSERT_TRUE(arena.ok()) << arena.error().text();
    const Topology shape = topology(arena->mesh);
    EXPECT_TRUE(shape.two_manifold()) << seed;
    EXPECT_EQ(shape.boundary_edges, 4u) << seed;
    const auto faces = flat_faces(arena->mesh);
    EXPECT_EQ(std::set<std::uint32_t>(faces.begin(), faces.end()).size(), 25u) << seed;
  }
}

TEST(Arena, ARoomThatIsTooSmallIsRefused) {
  EXPECT_FALSE(make_arena({.seed = 1, .length = 1.5, .width = 1.5, .boxes = 50}).ok());
}

TEST(TriangleTree, AgreesWithLookingAtEveryTriangle) {
  const auto arena = make_arena({.seed = 3});
  const TriangleTree tree(arena->mesh);
  RandomStream random(1, 0, "test");
  for (int i = 0; i < 500; ++i) {
    const Vec3 p{random.uniform(-3, 3), random.uniform(-3, 3), random.uniform(-1, 2)};
    double least = 1e9;
    for (const Triangle& t : arena->mesh.triangles) {
      const Vec3 a = corner(arena->mesh, t, 0), b = corner(arena->mesh, t, 1), c = corner(arena->mesh, t, 2);
      least = std::min(least, length(nearest_on_triangle(p, a, b, c) - p));
    }
    EXPECT_NEAR(tree.nearest(p).distance, least, 1e-12);
  }
}

TEST(Evaluate, AMeshIsPerfectAgainstItself) {
  const auto arena = make_arena({.seed = 2});
  const Evaluation e = evaluate(arena->mesh, arena->mesh, 500);
  EXPECT_LT(e.hausdorff, 1e-9);
  EXPECT_EQ(e.f_5mm, 1);
  EXPECT_EQ(e.planes, 25u);
  EXPECT_EQ(e.planes_found, 25u);
  EXPECT_EQ(e.boundary_edges, 4u);
}

// One half of a square is right and finely divided, the other half is 2 cm off and two triangles: half of the area.
TEST(Evaluate, WeighsAreaAndNotCorners) {
  TriangleMesh truth, mesh;
  truth.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  truth.triangles = {{0, 1, 2}, {0, 2, 3}};
  constexpr std::uint32_t steps = 40;
  for (std::uint32_t i = 0; i <= steps; ++i)
    for (std::uint32_t k = 0; k <= steps; ++k) mesh.vertices.push_back({0.5 * i / steps, 1.0 * k / steps, 0});
  for (std::uint32_t i = 0; i < steps; ++i) {
    for (std::uint32_t k = 0; k < steps; ++k) {
      const std::uint32_t a = i * (steps + 1) + k, b = a + steps + 1;
      mesh.triangles.push_back({a, b, b + 1});
      mesh.triangles.push_back({a, b + 1, a + 1});
    }
  }
  const auto n = static_cast<std::uint32_t>(mesh.vertices.size());
  for (const Vec3& v : {Vec3{0.5, 0, 0.02}, Vec3{1, 0, 0.02}, Vec3{1, 1, 0.02}, Vec3{0.5, 1, 0.02}})
    mesh.vertices.push_back(v);
  mesh.triangles.push_back({n, n + 1, n + 2});
  mesh.triangles.push_back({n, n + 2, n + 3});
  EXPECT_NEAR(evaluate(mesh, truth, 500).accuracy_mean, 0.01, 1e-4);
  EXPECT_NEAR(evaluate(mesh, truth, 500).f_5mm, 2 * 0.5 * 0.5 / (0.5 + 0.5), 0.01);
}

TEST(Evaluate, CountsPlanesWhoseTrianglesShareNoVertices) {
  const auto arena = make_arena({.seed = 2});
  TriangleMesh soup;
  for (const Triangle& t : arena->mesh.triangles) {
    const auto n = static_cast<std::uint32_t>(soup.vertices.size());
    for (const std::uint32_t vertex : t) soup.vertices.push_back(arena->mesh.vertices[vertex]);
    soup.triangles.push_back({n, n + 1, n + 2});
  }
  const Evaluation e = evaluate(soup, soup, 500);
  EXPECT_EQ(e.planes, 25u);
  EXPECT_EQ(e.planes_found, 25u);
  EXPECT_EQ(e.boundary_edges, 4u);
}

// Two floors of 2 x 2 m that are half a metre apart.
TriangleMesh two_floors() {
  TriangleMesh mesh;
  for (const double x : {0.0, 2.5}) {
    const auto n = static_cast<std::uint32_t>(mesh.vertices.size());
    for (const Vec3& v : {Vec3{x, 0, 0}, Vec3{x + 2, 0, 0}, Vec3{x + 2, 2, 0}, Vec3{x, 2, 0}})
      mesh.vertices.push_back(v);
    mesh.triangles.push_back({n, n + 1, n + 2});
    mesh.triangles.push_back({n, n + 2, n + 3});
  }
  return mesh;
}

TEST(Coverage, SaysWhatIsMissingAndInPieces) {
  const TriangleMesh mesh = two_floors();
  Cloud cloud;
  cloud.points = surface_points(mesh, 500);
  const Coverage whole = coverage(mesh, cloud);
  EXPECT_EQ(whole.covered, 1);
  EXPECT_EQ(whole.pieces, 2u);
  EXPECT_NEAR(whole.largest_piece, 0.5, 1e-9);
  TriangleMesh half = mesh;
  half.triangles.resize(2);
  EXPECT_NEAR(coverage(half, cloud).covered, 0.5, 0.01);
  EXPECT_NE(coverage(half, cloud).doubt().find("50 % of the points"), std::string::npos);
  const auto arena = make_arena({.seed = 2});
  EXPECT_EQ(coverage(arena->mesh, sample_cloud(arena->mesh, {.points = 5000, .outliers = 0})).doubt(), "");
}

TEST(FreePlace, SaysHowMuchOfTheFloorIsConnectedWithIt) {
  const auto place = free_place(two_floors());
  ASSERT_TRUE(place.ok()) << place.error().text();
  EXPECT_NEAR(place->part, 0.5, 0.05);
  EXPECT_NEAR(place->floor, 4, 0.3);
}

// A corridor of 8 x 0.8 m is more floor than a fragment of 1.6 x 1.6 m, where a robot would have more room around it.
TEST(FreePlace, IsOnTheLargestFloorAndNotOnAFragment) {
  TriangleMesh mesh;
  const auto floor = [&](double x, double y, double along, double across) {
    const auto n = static_cast<std::uint32_t>(mesh.vertices.size());
    for (const Vec3& v : {Vec3{x, y, 0}, Vec3{x + along, y, 0}, Vec3{x + along, y + across, 0}, Vec3{x, y + across, 0}})
      mesh.vertices.push_back(v);
    mesh.triangles.push_back({n, n + 1, n + 2});
    mesh.triangles.push_back({n, n + 2, n + 3});
  };
  floor(0, 1, 1.6, 1.6);
  floor(0, 5, 8, 0.8);
  floor(3, 1, 0.5, 0.5);
  const auto place = free_place(mesh);
  ASSERT_TRUE(place.ok()) << place.error().text();
  EXPECT_GT(place->at.y, 5);
  EXPECT_NEAR(place->floor, 6.4, 0.5);
  EXPECT_GT(place->part, 0.6);
}

TEST(Evaluate, ASquareThatIsRaisedAndCutShowsBoth) {
  TriangleMesh truth, mesh;
  truth.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  truth.triangles = {{0, 1, 2}, {0, 2, 3}};
  mesh = truth;
  for (Vec3& v : mesh.vertices) v = {v.x * 0.9, v.y, 0.01};
  const Evaluation e = evaluate(mesh, truth, 20000);
  EXPECT_NEAR(e.accuracy_mean, 0.01, 1e-9);
  EXPECT_NEAR(e.hausdorff, std::sqrt(0.01 * 0.01 + 0.1 * 0.1), 1e-9);
  EXPECT_EQ(e.f_5mm, 0);
  // Recall: 0.9 m, and the part beside it that is within 2 cm of the raised edge.
  const double recall = 0.9 + std::sqrt(0.02 * 0.02 - 0.01 * 0.01);
  EXPECT_NEAR(e.f_2cm, 2 * recall / (1 + recall), 2e-3);
}

}  // namespace
}  // namespace volvox::scan
