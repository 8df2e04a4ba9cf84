#include <algorithm>
#include <cmath>
#include <cstdio>

#include "volvox/base/random.h"
#include "worlds.h"

namespace volvox::particles {
namespace {

// One grain on a slope: rolls with 5/7 of what sliding without friction would give; with rolling resistance it stays;
// with little friction it slides.
double speed_on_slope(double angle, double friction, double rolling) {
  WorldOptions options;
  options.rolling_resistance = rolling;
  auto world = make_world(options);
  ShapeDesc plane;
  plane.friction = friction;
  plane.pose.rotation = Quat::axis_angle({0, 1, 0}, angle);
  EXPECT_TRUE(world->add_shape(plane).ok());
  const std::vector<Vec3> place = {plane.pose.rotation * Vec3{0, 0, 0.0099}};
  EXPECT_TRUE(world->add_grains({0.01, 2500, friction}, place).ok());
  run(*world, 1);
  const Point v = world->solid_velocities()[0];
  return std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

TEST(Grains, RollSlideAndStayOnASlope) {
  const double slope = radians(20), fall = 9.81 * std::sin(slope);
  EXPECT_NEAR(speed_on_slope(slope, 0.5, 0), 5.0 / 7 * fall, 0.01 * fall);
  EXPECT_NEAR(speed_on_slope(slope, 0, 0), fall, 0.01 * fall);
  EXPECT_LT(speed_on_slope(slope, 0.5, 0.5), 0.01);
  // Slides and rolls: the speed is that of friction mu g cos.
  const double steep = radians(60);
  EXPECT_NEAR(speed_on_slope(steep, 0.2, 0), 9.81 * (std::sin(steep) - 0.2 * std::cos(steep)), 0.1);
}

TEST(Grains, KeepMomentumAndNeverGainEnergy) {
  WorldOptions options;
  options.gravity = {};
  auto world = make_world(options);
  RandomStream random(3, 0, "grains");
  std::vector<Vec3> left, right;
  for (int i = 0; i < 216; ++i) {
    const Vec3 p = Vec3{real(i % 6), real(i / 6 % 6), real(i / 36)} * 0.021;
    left.push_back(p + Vec3{0, random.uniform(0, 1e-3), 0});
    right.push_back(p + Vec3{0.2, 0.05, random.uniform(0, 1e-3)});
  }
  ASSERT_TRUE(world->add_grains({0.01, 2500, 0.6}, left, {1, 0, 0}).ok());
  ASSERT_TRUE(world->add_grains({0.008, 5000, 0.3}, right, {-1, 0, 0}).ok());
  const Vec3 momentum = world->momentum();
  const double before = world->energy();
  double energy = before;
  for (int k = 0; k < 40; ++k) {
    run(*world, tick);
    EXPECT_LT(length(world->momentum() - momentum), 1e-5 * (before / 0.5));
    EXPECT_LE(world->energy(), energy * (1 + 1e-5));
    energy = world->energy();
  }
  EXPECT_LT(energy, 0.7 * before);
}

// The slope that a low column between smooth walls leaves when it is let go, and what still moves.
struct Slope {
  double angle = 0, speed = 0;  // degrees, m/s
};
Slope slope_of_heap(double friction, double rolling) {
  WorldOptions options;
  options.rolling_resistance = rolling;
  options.max_substep = 1.0 / 960;
  auto world = make_world(options);
  ShapeDesc floor;
  floor.friction = 1;
  EXPECT_TRUE(world->add_shape(floor).ok());
  ShapeDesc tank{.kind = ShapeKind::tank, .half_size = {2, 0.045, 2}, .friction = 0};
  tank.pose.position = {2, 0, 1.9};
  EXPECT_TRUE(world->add_shape(tank).ok());
  RandomStream random(1, 0, "grains");
  std::vector<Vec3> large, small;
  for (int z = 0; z < 14; ++z)
    for (int x = 0; x < 20; ++x)
      for (int y = 0; y < 4; ++y)
        (random.chance(0.5) ? large : small)
            .push_back({0.0105 + x * 0.022 + random.uniform(0, 2e-3), -0.033 + y * 0.022, 0.0105 + z * 0.0205});
  EXPECT_TRUE(world->add_grains({0.01, 2500, friction}, large).ok());
  EXPECT_TRUE(world->add_grains({0.008, 2500, friction}, small).ok());
  run(*world, 2.5);
  // A wedge has its middle of mass at a third of its length and height.
  double x = 0, z = 0;
  for (const Point& p : world->solid_positions()) x += p.x, z += p.z - 0.01;
  std::vector<float> speeds;
  for (const Point& v : world->solid_velocities()) speeds.push_back(std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z));
  std::nth_element(speeds.begin(), speeds.begin() + 560, speeds.end());
  return {degrees(std::atan2(z, x)), speeds[560]};
}

TEST(Grains, StandSteeperWithMoreFriction) {
  const Slope smooth = slope_of_heap(0.05, 0.02), some = slope_of_heap(0.2, 0.1), rough = slope_of_heap(0.8, 0.1);
  for (const Slope& slope : {smooth, some, rough})
    std::printf("  heap: %.1f degrees, moves at %.4f m/s\n", slope.angle, slope.speed);
  EXPECT_LT(smooth.angle + 4, some.angle);
  EXPECT_LT(some.angle, rough.angle);
  EXPECT_LT(rough.angle, 45);
  EXPECT_LT(rough.speed, 0.05);
}

// Heavy grains sink, light ones float.
TEST(Grains, SinkAndFloatByTheirDensity) {
  WorldOptions options;
  options.fluid.spacing = 0.05;
  auto world = make_world(options);
  add_tank(*world, {0, 0, 0}, {0.5, 0.5, 1});
  ASSERT_TRUE(world->add_fluid_box({0, 0, 0}, {0.5, 0.5, 0.5}).ok());
  const std::vector<Vec3> heavy = {{0.15, 0.25, 0.55}}, light = {{0.35, 0.25, 0.25}};
  ASSERT_TRUE(world->add_grains({0.06, 3000, 0.5}, heavy).ok());
  ASSERT_TRUE(world->add_grains({0.06, 300, 0.5}, light).ok());
  run(*world, 2);
  EXPECT_LT(world->solid_positions()[world->index_of_solid(0)].z, 0.12);
  EXPECT_GT(world->solid_positions()[world->index_of_solid(1)].z, 0.4);
}

}  // namespace
}  // namespace volvox::particles
