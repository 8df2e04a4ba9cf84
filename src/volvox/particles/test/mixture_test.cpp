// Water with grains and cloth in it.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "volvox/base/random.h"
#include "volvox/particles/fluid_kernels.h"
#include "worlds.h"

namespace volvox::particles {
namespace {

Vec3 wide(const Point& p) { return {p.x, p.y, p.z}; }

// A drop hits grains and a sheet without gravity: they take part of its momentum, and nothing is lost.
TEST(Mixture, KeepsMomentum) {
  WorldOptions options;
  options.gravity = {};
  options.fluid.spacing = 0.05;
  auto world = make_world(options);
  std::vector<Vec3> drop, grains;
  for (int i = 0; i < 125; ++i) drop.push_back(Vec3{i % 5 * 0.05, i / 5 % 5 * 0.05, i / 25 * 0.05});
  for (int i = 0; i < 9; ++i) grains.push_back(Vec3{0.32, i % 3 * 0.1, i / 3 * 0.1});
  ASSERT_TRUE(world->add_fluid(drop, {2, 0, 0}).ok());
  ASSERT_TRUE(world->add_grains({0.02, 2500, 0.5}, grains).ok());
  ASSERT_TRUE(world
                  ->add_cloth({.corner = {0.4, -0.1, -0.1},
                               .along_columns = {0, 0.4, 0},
                               .along_rows = {0, 0, 0.4},
                               .columns = 9,
                               .rows = 9})
                  .ok());
  const Vec3 before = world->momentum();
  for (int k = 0; k < 10; ++k) {
    run(*world, 0.05);
    EXPECT_LT(length(world->momentum() - before) / length(before), 1e-5) << k;
  }
  Vec3 taken;
  for (std::size_t i = 0; i < world->solid_positions().size(); ++i)
    taken += wide(world->solid_velocities()[i]) / world->solid_positions()[i].w;
  EXPECT_GT(taken.x, 0.02 * before.x);
}

// A grain that is smaller than the fluid's particles sinks by the drag that it is given. (It sank 1.4 times as fast as
// its drag allows before. Larger ones must push whole particles aside, and reach a third of it.)
TEST(Mixture, SmallGrainsSinkAtTheirTerminalVelocity) {
  const double radius = 0.02, density = 2500;
  WorldOptions options;
  options.fluid.spacing = 0.05;
  auto world = make_world(options);
  add_tank(*world, {0, 0, 0}, {0.5, 0.5, 3});
  ASSERT_TRUE(world->add_fluid_box({0, 0, 0}, {0.5, 0.5, 1.2}).ok());
  run(*world, 0.5);
  ASSERT_TRUE(world->add_grains({radius, density, 0.5}, std::vector<Vec3>{{0.26, 0.24, 1.15}}).ok());
  double from = 0, to = 0;
  int ticks = 0;
  while (world->solid_positions()[0].z > 0.2) {
    run(*world, tick);
    const double z = world->solid_positions()[0].z;
    if (z > 0.8) from = z;
    else to = z, ++ticks;
    ASSERT_LT(ticks, 600);
  }
  const double speed = (from - to) / (ticks * tick);
  const double expected = std::sqrt(8 * radius * 9.81 * (density / 1000 - 1) / (3 * drag_coefficient));
  std::printf("  %.3f m/s, %.3f of what drag allows\n", speed, speed / expected);
  EXPECT_NEAR(speed / expected, 0.8, 0.25);
}

// Scraps of cloth are a hundred times lighter than the particles of the water on which they fall, and a ball on them.
// Water threw such scraps out of a tank at 20 m/s.
TEST(Mixture, WaterDoesNotThrowLightCloth) {
  double highest = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RandomStream random(seed, 0, "scraps");
    WorldOptions options;
    options.fluid.spacing = 0.05;
    auto world = make_world(options);
    add_tank(*world, {0, 0, 0}, {0.4, 0.4, 3});
    ASSERT_TRUE(world->add_fluid_box({0, 0, 0}, {0.4, 0.4, 0.2}).ok());
    for (int scrap = 0; scrap < 6; ++scrap) {
      const double x = random.uniform(0.05, 0.3), y = random.uniform(0.05, 0.3);
      ASSERT_TRUE(world
                      ->add_cloth({.corner = {x, y, 0.25 + 0.05 * scrap},
                                   .along_columns = {0.05, 0, 0},
                                   .along_rows = {0, 0.05, 0},
                                   .columns = 2,
                                   .rows = 2})
                      .ok());
    }
    ShapeDesc ball{.kind = ShapeKind::sphere, .radius = 0.08, .mass = 5, .moments = {0.01, 0.01, 0.01}};
    ball.pose.position = {0.2, 0.2, 0.7};
    ball.velocity.linear.z = -2;
    ASSERT_TRUE(world->add_shape(ball).ok());
    double top = 0;
    for (int k = 0; k < 60; ++k) {
      run(*world, tick);
      for (const Point& p : world->solid_positions()) top = std::max<double>(top, p.z);
    }
    EXPECT_LT(top, 1.5) << seed;
    highest = std::max(highest, top);
    EXPECT_EQ(world->drained(), 0u);
  }
  std::printf("  the highest point of a scrap: %.2f m\n", highest);
}

}  // namespace
}  // namespace volvox::particles
