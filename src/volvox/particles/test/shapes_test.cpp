#include "volvox/particles/shapes.h"

#include <cmath>

#include "worlds.h"

namespace volvox::particles {
namespace {

Vector vector(const Vec3& p) { return {static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)}; }
Distance at(const ShapeDesc& shape, const Vec3& p) { return distance_to(view_of(shape), vector(p)); }

// A box as triangles, wound counter-clockwise seen from outside.
SolidPart box_of_triangles(const Vec3& half) {
  SolidPart part;
  for (int corner = 0; corner < 8; ++corner)
    part.vertices.push_back(
        {corner & 1 ? half.x : -half.x, corner & 2 ? half.y : -half.y, corner & 4 ? half.z : -half.z});
  part.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return part;
}

TEST(Shapes, CylindersHaveExactDistances) {
  const ShapeDesc cylinder{.kind = ShapeKind::cylinder, .radius = 1, .half_length = 2};
  EXPECT_FLOAT_EQ(at(cylinder, {3, 0, 1}).distance, 2);
  EXPECT_FLOAT_EQ(at(cylinder, {0, 0, 5}).distance, 3);
  EXPECT_FLOAT_EQ(at(cylinder, {4, 0, 6}).distance, 5);
  EXPECT_FLOAT_EQ(at(cylinder, {0.9f, 0, 0}).distance, -0.1f);
  EXPECT_FLOAT_EQ(at(cylinder, {0, 0.2, -1.9}).normal.z, -1);
  EXPECT_NEAR(volume(cylinder), pi * 4, 1e-12);
}

// Faces are exact, edges rounded by less than a cell; the volume is right.
TEST(Shapes, SampledDistancesFollowTheSurface) {
  const Vec3 half{0.11, 0.07, 0.05};
  const std::vector<SolidPart> parts = {box_of_triangles(half)};
  const auto field = make_field(parts, 0.01, 0.05);
  ASSERT_TRUE(field.ok()) << field.error().text();
  EXPECT_NEAR((*field)->volume / (8 * half.x * half.y * half.z), 1, 0.02);
  const ShapeDesc sampled{.kind = ShapeKind::field, .field = *field};
  const ShapeDesc box{.kind = ShapeKind::box, .half_size = half};
  double worst = 0, worst_face = 0;
  for (int i = 0; i < 4000; ++i) {
    const Vec3 p{-0.15 + 0.3 * (i % 20) / 19, -0.11 + 0.22 * (i / 20 % 20) / 19, -0.09 + 0.18 * (i / 400) / 9};
    const double off = std::fabs(at(sampled, p).distance - at(box, p).distance);
    worst = std::max(worst, off);
    const Vec3 over{std::fabs(p.x) - half.x, std::fabs(p.y) - half.y, std::fabs(p.z) - half.z};
    const bool before_a_face = over.x > 0.011 && over.y < -0.011 && over.z < -0.011;
    if (before_a_face) worst_face = std::max(worst_face, off);
  }
  EXPECT_LT(worst, 0.005);
  EXPECT_LT(worst_face, 1e-5);
  // Beyond the samples it is right to their margin, and the bound is one.
  EXPECT_NEAR(at(sampled, {1, 0.5, 0}).distance, at(box, {1, 0.5, 0}).distance, 0.05);
  EXPECT_LE(least_distance(view_of(sampled), vector({1, 0.5, 0})), at(box, {1, 0.5, 0}).distance);
}

// Parts that overlap are one solid, and nothing counts twice.
TEST(Shapes, PartsOfASolidAreItsUnion) {
  ShapeDesc ball{.kind = ShapeKind::sphere, .radius = 0.1};
  ShapeDesc beside = ball;
  beside.pose.position.x = 0.08;
  const std::vector<SolidPart> parts = {{std::make_shared<const ShapeDesc>(ball)},
                                        {std::make_shared<const ShapeDesc>(beside)}};
  const auto field = make_field(parts, 0.008, 0.05);
  ASSERT_TRUE(field.ok());
  const ShapeDesc both{.kind = ShapeKind::field, .field = *field};
  for (const double x : {-0.13, -0.05, 0.04, 0.11, 0.2})
    EXPECT_NEAR(at(both, {x, 0.03, 0}).distance,
                std::min(at(ball, {x, 0.03, 0}).distance, at(beside, {x, 0.03, 0}).distance), 0.002)
        << x;
  const double h = 0.06, lens = 2 * pi * h * h * (0.3 - h) / 3;  // the two caps that both cover
  EXPECT_NEAR((*field)->volume / (8 * pi / 3 * 0.001 - lens), 1, 0.02);
}

TEST(Shapes, RefusesSolidsThatCannotBeSampled) {
  const std::vector<SolidPart> parts = {box_of_triangles({10, 10, 10})};
  const auto fine = make_field(parts, 0.01, 0.05);
  ASSERT_FALSE(fine.ok());
  EXPECT_NE(fine.error().text().find("million samples"), std::string::npos);
  // A part of it is possible.
  const auto part = make_field(parts, 0.01, 0.05, {9.8, -0.2, -0.2}, {10.5, 0.2, 0.2});
  ASSERT_TRUE(part.ok());
  const ShapeDesc wall{.kind = ShapeKind::field, .field = *part};
  EXPECT_NEAR(at(wall, {10.03, 0, 0}).distance, 0.03, 1e-4);
  EXPECT_NEAR(at(wall, {9.9, 0.1, 0}).distance, -0.1, 1e-4);
  const auto beyond = make_field(parts, 0.01, 0.05, {20, 20, 20}, {30, 30, 30});
  ASSERT_TRUE(beyond.ok());
  EXPECT_EQ(*beyond, nullptr);  // nothing of it is there
}

TEST(Shapes, TerrainsHaveTheDistanceToTheirTriangles) {
  auto slope = std::make_shared<HeightGrid>();
  slope->columns = slope->rows = 3;
  slope->size_x = slope->size_y = 2;
  slope->heights = {0, 1, 2, 0, 1, 2, 0, 1, 2};  // rises along x by 1 in 1
  slope->highest = 2;
  ShapeDesc terrain{.kind = ShapeKind::terrain, .terrain = slope};
  terrain.pose.position = {5, 0, 0};
  const float root = std::sqrt(0.5f);
  EXPECT_NEAR(at(terrain, {5, 0, 1.4}).distance, 0.4f * root, 1e-5);
  EXPECT_NEAR(at(terrain, {5, 0.3, 0.9}).distance, -0.1f * root, 1e-5);
  EXPECT_NEAR(at(terrain, {5, 0, 1.4}).normal.x, -root, 1e-5);
  EXPECT_NEAR(at(terrain, {5, 0, 0.9}).normal.z, root, 1e-5);
  EXPECT_GT(at(terrain, {7, 0, 1}).distance, 0.5);  // beside it
  slope->heights[4] = 0;                            // a hollow in the middle
  EXPECT_NEAR(at(terrain, {5, 0, 0.1}).distance, 0.1f / std::sqrt(3.0f), 0.03);
}

// A body that turns about a centre of mass beside its shape: what it gets is about that centre.
TEST(Shapes, ImpulsesAreAboutTheCentreOfMass) {
  for (const bool sampled : {false, true}) {
    auto world = make_world({.gravity = {}});
    ShapeDesc bar{.kind = ShapeKind::box, .half_size = {0.1, 0.1, 0.1}, .mass = 1, .moments = {0.1, 0.1, 0.1}};
    bar.offset.position = {0.5, 0, 0};
    if (sampled) {
      SolidPart part = box_of_triangles({0.1, 0.1, 0.1});
      for (Vec3& v : part.vertices) v.x += 0.5;
      const auto field = make_field(std::span(&part, 1), 0.01, 0.1);
      ASSERT_TRUE(field.ok());
      bar.kind = ShapeKind::field;
      bar.field = *field;
      bar.offset = {};
    }
    const ShapeIndex index = *world->add_shape(bar);
    const std::vector<Vec3> ball = {{0.5, 0, 0.2}};
    ASSERT_TRUE(world->add_grains({.radius = 0.05, .friction = 0}, ball, {0, 0, -1}).ok());
    Wrench got;
    for (int k = 0; k < 30; ++k) {
      run(*world, tick);
      got += world->impulse(index);
    }
    EXPECT_LT(got.force.z, -0.1);
    EXPECT_NEAR(got.torque.y / got.force.z, -0.5, 0.02) << sampled;
    EXPECT_GT(world->shape(index).velocity.angular.y, 0.1);
    const double mass = 4 * pi / 3 * 0.05 * 0.05 * 0.05 * 2500;
    EXPECT_NEAR(world->momentum().z + world->shape(index).velocity.linear.z, -mass, 1e-5);
  }
}

TEST(ParticleWorld, DrainsBoxesAndTakesParticlesOnTheWay) {
  WorldOptions options{.gravity = {}};
  options.drains.push_back({{{1, 0, 0}, Quat::axis_angle({0, 0, 1}, pi / 4)}, {0.1, 0.1, 0.1}});
  auto world = make_world(options);
  const std::vector<Vec3> places = {{1, 0.13, 0}, {1.09, 0.09, 0}, {0, 0, 0}};
  ASSERT_TRUE(world->add_grains({.radius = 0.01}, places).ok());
  run(*world, tick);
  EXPECT_EQ(world->drained(), 1u);
  // Grains that come later are in a snapshot, and a world without them takes it.
  const std::vector<Vec3> later = {{0, 0, 0.5}};
  ASSERT_TRUE(world->add_grains({.radius = 0.03}, later, {0, 0, -1}).ok());
  run(*world, 0.1);
  SaveArchive saved;
  world->archive(saved);
  auto again = make_world(options);
  ASSERT_TRUE(again->add_grains({.radius = 0.01}, places).ok());
  LoadArchive load(saved.bytes());
  again->archive(load);
  ASSERT_TRUE(load.ok()) << load.failure();
  EXPECT_EQ(again->hash(), world->hash());
  run(*world, 0.6), run(*again, 0.6);
  EXPECT_EQ(again->hash(), world->hash());
}

}  // namespace
}  // namespace volvox::particles
