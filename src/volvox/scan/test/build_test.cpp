#include "volvox/scan/build.h"
#include "volvox/base/index.h"
#include "volvox/scan/camera_view.h"
#include "volvox/scan/refine.h"

#include <gtest/gtest.h>

#include "volvox/base/hash.h"
#include "volvox/base/random.h"
#include "volvox/base/test/shortened.h"
#include "volvox/scan/arena.h"
#include "volvox/scan/clean.h"
#include "volvox/scan/files.h"
#include "volvox/scan/gsrm.h"
#include "volvox/scan/manifold_mesh.h"
#include "volvox/scan/plane_fitting.h"

namespace volvox::scan {
namespace {

struct Case {
  TriangleMesh truth;
  Cloud cloud;
};

Case pit_arena(std::uint64_t seed) {
  Case c;
  c.truth = make_arena({.seed = seed})->mesh;
  c.cloud = sample_cloud(c.truth, {.seed = seed});
  return c;
}

Cloud sphere(std::size_t points, double noise) {
  RandomStream random(1, 0, "sphere");
  Cloud cloud;
  for (std::size_t i = 0; i < points; ++i)
    cloud.points.push_back(normalized(Vec3{random.normal(), random.normal(), random.normal()}) *
                           (1 + noise * random.normal()));
  return cloud;
}

std::uint64_t hash_of_mesh(const TriangleMesh& mesh) { return hash_of(ply_of(mesh)); }

TriangleMesh mesh_of(const ManifoldMesh& net) {
  TriangleMesh mesh;
  mesh.vertices.resize(net.nodes());
  mesh.triangles = net.triangles();
  return mesh;
}

TEST(ManifoldMesh, StaysTwoManifoldUnderAnyChange) {
  RandomStream random(7, 0, "changes");
  ManifoldMesh net;
  for (int i = 0; i < 12; ++i) net.add_node();
  std::size_t refused = 0, largest = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto any = [&] { return narrow<std::uint32_t>(random.below(net.nodes())); };
    const std::uint32_t a = any();
    const auto& spokes = net.spokes(a);
    switch (random.below(20)) {
      case 0:
        if (!spokes.empty() && net.nodes() < 60) net.split_edge(a, spokes[random.below(spokes.size())].to);
        break;
      case 1:
        if (!spokes.empty()) net.remove_edge(a, spokes[random.below(spokes.size())].to);
        break;
      case 2:
        if (!spokes.empty()) {
          const auto spoke = spokes[random.below(spokes.size())];
          net.remove_face(a, spoke.to, spoke.third[0]);
        }
        break;
      case 3:
      case 4:
        if (!spokes.empty()) net.flip_edge(a, spokes[random.below(spokes.size())].to);
        break;
      default: refused += !net.add_face(a, any(), any());
    }
    largest = std::max(largest, net.faces());
    const TriangleMesh mesh = mesh_of(net);
    ASSERT_EQ(mesh.triangles.size(), net.faces()) << i;
    ASSERT_TRUE(topology(mesh).two_manifold()) << i;
  }
  EXPECT_GT(refused, 1000u);  // otherwise the test is ineffective
  EXPECT_GT(largest, 10u);
}

TEST(ManifoldMesh, TakesAnyFacesAndKeepsATwoManifold) {
  RandomStream random(8, 0, "faces");
  for (int round = 0; round < 300; ++round) {
    ManifoldMesh net;
    for (int i = 0; i < 10; ++i) net.add_node();
    std::vector<Triangle> faces(random.below(40));
    for (Triangle& face : faces)
      for (std::uint32_t& corner : face) corner = narrow<std::uint32_t>(random.below(10));
    const std::vector<Triangle> refused = net.take_faces(faces);
    ASSERT_TRUE(topology(mesh_of(net)).two_manifold()) << round;
    ASSERT_EQ(mesh_of(net).triangles.size(), net.faces()) << round;
    for (const Triangle& face : refused) ASSERT_FALSE(net.has_face(face[0], face[1], face[2])) << round;
  }
}

TEST(Gsrm, IsTwoManifoldAfterEverySignal) {
  const Cloud cloud = sphere(5000, 0.01);
  GsrmNet net(cloud, {.nodes = 150});
  for (int i = 0; i < 20000 && !net.grown(); ++i) {
    net.step();
    const TriangleMesh mesh = mesh_of(net.net());
    ASSERT_TRUE(topology(mesh).two_manifold()) << "after signal " << i;
  }
  EXPECT_TRUE(net.grown());
}

TEST(Gsrm, ASphereIsClosed) {
  const auto built = build(sphere(60'000, 0), {.method = Method::gsrm, .nodes = 500});
  ASSERT_TRUE(built.ok()) << built.error().text();
  const Topology shape = topology(built->mesh);
  EXPECT_TRUE(shape.two_manifold());
  // V nodes have 2 V - 4 faces; a small hole may remain.
  EXPECT_NEAR(real(built->mesh.triangles.size()), 2.0 * real(built->mesh.vertices.size()) - 4, 12);
  EXPECT_LE(shape.boundary_edges, 12u);
  for (const Vec3& v : built->mesh.vertices) EXPECT_NEAR(length(v), 1, 0.03);
}

// The required accuracy, on the pit arena of the reference figures: 98,000 points, 7 mm noise, 2,000
// outliers. Statistics over more seeds are in docs/scan.md.
TEST(Build, PlaneFittingFindsEveryPlane) {
  // 24: a corner whose cells are nearly empty; 60: a low box; 100: a plane across a box's corner would fit the rest.
  constexpr std::uint64_t chosen[] = {24, 60, 100, 2};
  for (const std::uint64_t seed : shortened(chosen)) {
    const Case c = pit_arena(seed);
    const auto built = build(c.cloud, {.method = Method::plane_fitting});
    ASSERT_TRUE(built.ok()) << built.error().text();
    const Evaluation e = evaluate(built->mesh, c.truth, 1000);
    EXPECT_EQ(e.planes_found, 25u) << seed;
    EXPECT_LE(e.triangles, 80u) << seed;
    EXPECT_LT(e.accuracy_mean, 0.0005) << seed;
    EXPECT_LT(e.completeness_mean, 0.0005) << seed;
    EXPECT_LT(e.hausdorff, 0.010) << seed;
    EXPECT_EQ(e.non_manifold_edges, 0u) << seed;
    EXPECT_EQ(e.boundary_edges, 4u) << "only the open top has an end; seed " << seed;
  }
}

TEST(Build, GsrmMeetsItsBars) {
  constexpr std::uint64_t chosen[] = {9, 16};
  for (const std::uint64_t seed : shortened(chosen)) {
    const Case c = pit_arena(seed);
    const auto built = build(c.cloud, {.method = Method::gsrm, .triangles = 4175});
    ASSERT_TRUE(built.ok()) << built.error().text();
    const Evaluation e = evaluate(built->mesh, c.truth, 1000);
    EXPECT_NEAR(real(e.triangles), 4175, 210) << seed;
    EXPECT_TRUE(topology(built->mesh).two_manifold()) << seed;
    EXPECT_LT(e.accuracy_mean, 0.002) << seed;
    EXPECT_LT(e.completeness_mean, 0.002) << seed;
    EXPECT_GT(e.f_2cm, 0.995) << seed;
    EXPECT_LT(e.boundary_edges, 120u) << "the open top has about 70, and there are no seams; seed " << seed;
  }
}

TEST(Build, GrowingGridMeetsItsBars) {
  if (sanitized) GTEST_SKIP() << "LevelsOfDetailAreAsAskedFor grows grids, too";
  const Case c = pit_arena(4);
  const auto built = build(c.cloud, {.method = Method::growing_grid});
  ASSERT_TRUE(built.ok()) << built.error().text();
  const Evaluation e = evaluate(built->mesh, c.truth, 1000);
  EXPECT_NEAR(real(e.triangles), 13'860, 300);
  EXPECT_EQ(e.non_manifold_edges, 0u);
  EXPECT_GT(e.f_2cm, 0.95);
}

TEST(Build, LevelsOfDetailAreAsAskedFor) {
  const Case c = pit_arena(6);
  for (const std::size_t wanted : {210, 576}) {
    const auto built = build(c.cloud, {.method = Method::growing_grid, .triangles = wanted});
    ASSERT_TRUE(built.ok());
    EXPECT_NEAR(real(built->mesh.triangles.size()), real(wanted), 0.2 * real(wanted));
  }
  const auto coarse = build(c.cloud, {.method = Method::gsrm, .triangles = 1011});
  ASSERT_TRUE(coarse.ok());
  EXPECT_NEAR(real(coarse->mesh.triangles.size()), 1011, 110);
}

TEST(Build, SameSeedSameBits) {
  Case c = pit_arena(8);
  c.cloud.points.resize(20'000);
  for (const Method method : {Method::gsrm, Method::growing_grid, Method::plane_fitting}) {
    BuildOptions options{.method = method, .seed = 5};
    if (method != Method::plane_fitting) options.triangles = 600;
    const auto one = build(c.cloud, options), two = build(c.cloud, options);
    ASSERT_TRUE(one.ok() && two.ok());
    EXPECT_EQ(hash_of_mesh(one->mesh), hash_of_mesh(two->mesh)) << name(method);
    options.seed = 6;
    const auto other = build(c.cloud, options);
    ASSERT_TRUE(other.ok());
    if (method != Method::plane_fitting) {
      EXPECT_NE(hash_of_mesh(one->mesh), hash_of_mesh(other->mesh)) << name(method);
    }
  }
}

TEST(Build, BadCloudsAreRefusedOrMended) {
  Cloud cloud;
  EXPECT_FALSE(build(cloud, {}).ok());
  for (int i = 0; i < 5000; ++i) cloud.points.push_back({1, 2, 3});
  EXPECT_FALSE(build(cloud, {}).ok());
  for (int i = 0; i < 5000; ++i) cloud.points.push_back({1e-3 * i, 2, 3});
  for (const Method method : {Method::gsrm, Method::growing_grid, Method::plane_fitting}) {
    const auto line = build(cloud, {.method = method});
    ASSERT_FALSE(line.ok());
    EXPECT_NE(line.error().text().find("line"), std::string::npos);
  }
  // A flat square with a million points on one of its corners.
  cloud.points.assign(1'000'000, {0, 0, 0});
  RandomStream random(1, 0, "square");
  for (int i = 0; i < 4000; ++i) cloud.points.push_back({random.uniform(), random.uniform(), 0});
  const auto square = build(cloud, {.method = Method::plane_fitting});
  ASSERT_TRUE(square.ok()) << square.error().text();
  EXPECT_NE(square->notes[0].find("999999"), std::string::npos);
  EXPECT_NEAR(area(square->mesh), 1, 0.05);
  // Distant points must not make the grid large.
  cloud.points.push_back({1e7, 1e7, -1e7});
  EXPECT_TRUE(build(cloud, {.method = Method::gsrm, .nodes = 50}).ok());
  EXPECT_FALSE(build(cloud, {.method = Method::plane_fitting, .triangles = 5}).ok());
  EXPECT_FALSE(build(cloud, {.method = Method::gsrm, .triangles = 50, .nodes = 50}).ok());
}

TEST(Build, ColoursOfTheCloudComeToTheMesh) {
  Cloud cloud;
  RandomStream random(1, 0, "square");
  for (int i = 0; i < 4000; ++i) {
    cloud.points.push_back({random.uniform(), random.uniform(), 0});
    cloud.colors.push_back(cloud.points.back().x < 0.5 ? Rgb{200, 0, 0} : Rgb{0, 0, 200});
  }
  const auto built = build(cloud, {.method = Method::gsrm, .nodes = 100});
  ASSERT_TRUE(built.ok()) << built.error().text();
  ASSERT_EQ(built->mesh.colors.size(), built->mesh.vertices.size());
  for (std::size_t i = 0; i < built->mesh.vertices.size(); ++i) {
    if (built->mesh.vertices[i].x < 0.35) {
      EXPECT_GT(built->mesh.colors[i].r, 150);
    }
    if (built->mesh.vertices[i].x > 0.65) {
      EXPECT_GT(built->mesh.colors[i].b, 150);
    }
  }
}

// A floor with a box on it and, where no plane fits, a dome.
TriangleMesh box_and_dome() {
  TriangleMesh truth = make_arena({.seed = 3, .length = 3, .width = 3, .pit = false, .boxes = 1})->mesh;
  const auto first = narrow<std::uint32_t>(truth.vertices.size());
  constexpr std::uint32_t around = 48, up = 12;
  for (std::uint32_t r = 0; r <= up; ++r)
    for (std::uint32_t k = 0; k < around; ++k) {
      const double a = 2 * pi * k / around, b = pi / 2 * r / up;
      truth.vertices.push_back({1.05 + 0.3 * volvox::cos(b) * volvox::cos(a),
                                -1.05 + 0.3 * volvox::cos(b) * volvox::sin(a), 0.3 * volvox::sin(b)});
    }
  for (std::uint32_t r = 0; r < up; ++r)
    for (std::uint32_t k = 0; k < around; ++k) {
      const std::uint32_t a = first + r * around + k, b = first + r * around + (k + 1) % around;
      truth.triangles.push_back({a, b, b + around});
      if (r + 1 < up) truth.triangles.push_back({a, b + around, a + around});
    }
  return truth;
}

TEST(Build, MixedModelsHaveBoxesWhereTheyFitAndANetElsewhere) {
  const TriangleMesh truth = box_and_dome();
  const Cloud cloud = sample_cloud(truth, {.seed = 3, .points = 60'000, .outliers = 500});
  const auto mixed = build(cloud, {.method = Method::mixed});
  const auto flat = build(cloud, {.method = Method::plane_fitting});
  ASSERT_TRUE(mixed.ok()) << mixed.error().text();
  ASSERT_TRUE(flat.ok()) << flat.error().text();
  const Footprint box = make_arena({.seed = 3, .length = 3, .width = 3, .pit = false, .boxes = 1})->things[0];
  const auto stands_for_it = [&](const BoxPart& part) {
    return length(part.pose.position - Vec3{box.center.x, box.center.y, box.height / 2}) < 0.02 &&
           std::fabs(part.size.z - box.height) < 0.02;
  };
  EXPECT_EQ(std::count_if(mixed->boxes.begin(), mixed->boxes.end(), stands_for_it), 1);
  EXPECT_GE(mixed->boxes.size(), 5u) << "the walls are slabs";
  EXPECT_LT(mixed->rest.triangles.size(), mixed->mesh.triangles.size());
  const Evaluation m = evaluate(mixed->mesh, truth, 1000), f = evaluate(flat->mesh, truth, 1000);
  EXPECT_GT(m.f_2cm, 0.97);
  EXPECT_GE(m.f_2cm, f.f_2cm - 0.01);
}

TEST(Build, LaterScansRefineAnArena) {
  const Case c = pit_arena(2);
  Cloud left, right, few;
  for (std::size_t i = 0; i < c.cloud.points.size(); ++i)
    (c.cloud.points[i].x < 0.3 ? left : right).points.push_back(c.cloud.points[i]);
  const auto first = build(left, {.method = Method::plane_fitting});
  ASSERT_TRUE(first.ok()) << first.error().text();
  const auto better = refine(first->mesh, {right}, {{.method = Method::plane_fitting}, true});
  ASSERT_TRUE(better.ok()) << better.error().text();
  EXPECT_GT(better->new_points, right.points.size() / 2);
  const double before = evaluate(first->mesh, c.truth, 1000).f_2cm,
               after = evaluate(better->built.mesh, c.truth, 1000).f_2cm;
  EXPECT_LT(before, 0.8);
  EXPECT_GT(after, 0.97);
  EXPECT_FALSE(refine(first->mesh, {few}, {{}, true}).ok());
  EXPECT_FALSE(refine({}, {right}, {{}, true}).ok());
}

TEST(Build, ACameraColoursWhatItSeesAndNothingBehind) {
  // A red wall in front of the camera, and a second wall behind it.
  TriangleMesh mesh;
  for (const double x : {1.0, 2.0}) {
    const auto n = narrow<std::uint32_t>(mesh.vertices.size());
    mesh.vertices.insert(mesh.vertices.end(), {{x, -0.2, -0.2}, {x, 0.2, -0.2}, {x, 0.2, 0.2}, {x, -0.2, 0.2}});
    mesh.triangles.insert(mesh.triangles.end(), {{n, n + 1, n + 2}, {n, n + 2, n + 3}});
  }
  CameraView view{{}, 1.2, 4, 4, std::vector<std::uint8_t>(48)};
  for (std::size_t pixel = 0; pixel < 16; ++pixel)
    view.rgb[3 * pixel] = pixel % 4 < 2 ? 200 : 100;  // brighter on the left
  const Rgb unseen{1, 2, 3};
  EXPECT_EQ(paint(mesh, std::vector{view}, unseen), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(mesh.colors[i].r, mesh.vertices[i].y > 0 ? 200 : 100);
  for (std::size_t i = 4; i < 8; ++i) EXPECT_EQ(mesh.colors[i], unseen);
}

}  // namespace
}  // namespace volvox::scan
