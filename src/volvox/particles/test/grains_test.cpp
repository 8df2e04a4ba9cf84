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

// Grains of two sizes in a bin with a rough floor, whose front is taken away: what slides over the edge is drained, and
// a wedge stays.
struct Heap {
  double slope = 0, speed = 0, overlap = 0;  // degrees; m/s of the faster half; of a diameter, the deepest of all
};
Heap heap_on_platform(double friction, double rolling) {
  WorldOptions options;
  options.rolling_resistance = rolling;
  options.low = {-1, -1, -0.3};
  auto world = make_world(options);
  ShapeDesc tank{.kind = ShapeKind::tank, .half_size = {2, 0.045, 2}, .friction = 0};
  tank.pose.position = {2, 0, 1};
  EXPECT_TRUE(world->add_shape(tank).ok());
  ShapeDesc gate{.kind = ShapeKind::box, .half_size = {0.05, 0.2, 1}, .friction = 0};
  gate.pose.position = {0.25, 0, 0.8};
  const auto front = world->add_shape(gate);
  RandomStream random(1, 0, "grains");
  const auto some = [&](double most) { return random.uniform(-most, most); };
  std::vector<Vec3> floor, large, small;
  for (int i = 0; i < 10 * 4; ++i) floor.push_back({0.01 + i / 4 * 0.02, -0.033 + i % 4 * 0.022, -0.01 + some(4e-3)});
  for (int i = 0; i < 24 * 7 * 3; ++i) {
    const Vec3 place{0.0125 + i / 3 % 7 * 0.026, -0.028 + i % 3 * 0.028, 0.017 + i / 21 * 0.026};
    const double x = some(2.5e-3), y = some(4e-3), z = some(2.5e-3);
    (random.chance(0.5) ? large : small).push_back(place + Vec3{x, y, z});
  }
  EXPECT_TRUE(world->add_grains({0.01, 2500, friction}, floor).ok());
  for (std::uint32_t id = 0; id < floor.size(); ++id) world->pin(id);
  EXPECT_TRUE(world->add_grains({0.01, 2500, friction}, large).ok());
  EXPECT_TRUE(world->add_grains({0.008, 2500, friction}, small).ok());
  run(*world, 1);
  EXPECT_TRUE(world->set_shape(*front, {{5, 0, 0}, {}}, {}).ok());
  run(*world, 3);
  // A wedge has its middle of mass at a third of its length and height.
  Heap heap;
  double x = 0, z = 0;
  std::vector<float> speeds;
  const auto places = world->solid_positions(), velocities = world->solid_velocities();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Point &p = places[i], &v = velocities[i];
    if (p.w == 0 || p.z < 0) continue;
    x += p.x, z += p.z;
    speeds.push_back(std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z));
    for (std::size_t j = 0; j < i; ++j) {
      const double near = v.w + velocities[j].w - length(xyz(p) - xyz(places[j]));
      if (places[j].w > 0) heap.overlap = std::max(heap.overlap, near / (v.w + velocities[j].w));
    }
  }
  std::nth_element(speeds.begin(), speeds.begin() + std::ssize(speeds) / 2, speeds.end());
  heap.slope = degrees(std::atan2(z, x)), heap.speed = speeds[speeds.size() / 2];
  return heap;
}

// Spheres that roll freely stand at 20 to 25 degrees, as glass beads do; rolling resistance makes gravel of them.
TEST(Grains, StandAtTheirAngleOfRepose) {
  const Heap smooth = heap_on_platform(0.02, 0), beads = heap_on_platform(0.5, 0), gravel = heap_on_platform(0.8, 0.2);
  for (const Heap& heap : {smooth, beads, gravel})
    std::printf("  heap: %.1f degrees, moves at %.4f m/s, overlaps by %.3f\n", heap.slope, heap.speed, heap.overlap);
  EXPECT_LT(smooth.slope + 4, beads.slope);
  EXPECT_GT(beads.slope, 19);
  EXPECT_LT(beads.slope, 27);
  EXPECT_GT(gravel.slope, 29);
  EXPECT_LT(gravel.slope, 45);
  for (const Heap& heap : {beads, gravel}) {
    EXPECT_LT(heap.speed, 0.01);
    EXPECT_LT(heap.overlap, 0.05);
  }
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
