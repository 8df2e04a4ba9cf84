#include <gtest/gtest.h>

#include <cmath>

#include "cubes.h"
#include "volvox/base/index.h"

namespace volvox::world {
namespace {

// A chain of n cubes below a fixed one: each dock carries the weight of all below it.
TEST(Breakage, AHangingChainLoadsItsDocksWithTheWeightBelow) {
  model::WorldBuilder builder("chain");
  model::ModuleModel base = cube();
  base.fixed_in_place = true;
  base.mind.reset();
  builder.add(share(base), Pose{}, "base");
  builder.add_chain(share(cube()), 4, "down", "up", 0, std::nullopt, "m");
  builder.connect("base.down", "m0.up");
  Bench bench(builder);
  bench.tick(120);
  for (int i = 0; i < 4; ++i) {
    const DockLoad load = bench.world().dock_load(bench.dock("m" + std::to_string(i), "up"));
    EXPECT_NEAR(load.axial, (4 - i) * 9.81, 0.02 * 9.81) << i;
    EXPECT_LT(load.shear, 0.05) << i;
  }
}

// A beam of n cubes held at one end: the bending moment of statics, m g a n^2 / 2.
TEST(Breakage, ACantileverBendsItsDocksAsStaticsSays) {
  model::WorldBuilder builder("beam");
  model::ModuleModel base = cube();
  base.fixed_in_place = true;
  base.mind.reset();
  builder.add(share(base), Pose{}, "base");
  builder.add_chain(share(cube()), 4, "east", "west", 0, std::nullopt, "m");
  builder.connect("base.east", "m0.west");
  Bench bench(builder);
  bench.tick(180);
  for (int i = 0; i < 4; ++i) {
    const double n = 4 - i;
    const DockLoad load = bench.world().dock_load(bench.dock("m" + std::to_string(i), "west"));
    EXPECT_NEAR(load.shear, n * 9.81, 0.03 * n * 9.81) << i;
    EXPECT_NEAR(load.bending, 9.81 * 0.1 * n * n / 2, 0.03 * 9.81 * 0.1 * n * n / 2) << i;
    EXPECT_LT(load.torsion, 0.02) << i;
  }
}

TEST(Breakage, ADockBreaksAtItsStrengthAndStaysBroken) {
  for (const double strength : {15.0, 25.0}) {  // N; two cubes hang, 19.6 N
    model::WorldBuilder builder("chain");
    model::ModuleModel base = cube();
    base.fixed_in_place = true;
    base.mind.reset();
    model::ModuleModel weak = cube();
    for (auto& dock : weak.docks) dock.strength.axial = strength;
    builder.add(share(base), Pose{}, "base");
    builder.add_chain(share(weak), 2, "down", "up", 0, std::nullopt, "m");
    builder.connect("base.down", "m0.up");
    Bench bench(builder);
    bench.tick(3);
    if (strength > 20) {
      bench.tick(60);
      EXPECT_EQ(bench.world().docks_broken(), 0);
      continue;
    }
    bench.tick(3);
    EXPECT_EQ(bench.world().docks_broken(), 1);
    EXPECT_TRUE(bench.world().dock_status(bench.dock("m0", "up")).broken);
    ASSERT_EQ(bench.events.size(), 1u);
    EXPECT_EQ(bench.events[0].kind, DockEvent::Kind::broken);
    EXPECT_GE(bench.events[0].load.axial, strength) << "what broke it";
    EXPECT_LT(bench.events[0].load.axial, 25);
    bench.tick(3);  // still within capture distance, but broken
    EXPECT_EQ(bench.world().graph().partner(bench.dock("base", "down")), nobody);
    EXPECT_LT(bench.world().link_pose(1).position.z, -0.1);
  }
}

// Seed 000, figure 6, in cubes: a grid of 45 in zero gravity, hit by five heavy spheres.
std::int64_t broken_in_impact(TickLength dt, const std::string& engine) {
  model::WorldBuilder builder("impact");
  builder.set_gravity({});
  model::ModuleModel brittle = cube();
  for (auto& dock : brittle.docks) {
    dock.strength = {90, 90, 3.6, 3.6};
    dock.capture_distance = 0.002;
  }
  model::GridOptions grid;
  grid.count_x = 9;
  grid.count_y = 5;
  grid.spacing = {0.1, 0.1, 0.1};
  builder.add_lattice(share(brittle), grid, {}, "m");
  for (int i = 0; i < 5; ++i) {
    const Vec3 place{0.2 * (i - 2), 0.1 * (i % 3 - 1), 0.4};
    const int sphere = builder.add_obstacle(model::Sphere{0.06}, {place, {}}, 10, {}, {}, "sphere" + std::to_string(i));
    builder.placement(sphere).velocity.linear = {0, 0, -3};
  }
  Bench bench(builder, dt, engine);
  const Vec3 before = momentum(bench.world());
  while (bench.time() < 0.6) bench.tick();
  EXPECT_LT(length(momentum(bench.world()) - before), 1e-3 * length(before));
  return bench.world().docks_broken();
}

TEST(Breakage, WhatBreaksInAnImpactDoesNotDependOnTheTick) {
  for (const std::string engine : {"native", "bullet"}) {
    const auto coarse = real(broken_in_impact({1, 60}, engine));
    const auto middle = real(broken_in_impact({1, 120}, engine));
    const auto fine = real(broken_in_impact({1, 240}, engine));
    // Sequential impulses do not converge on the loads inside a lattice: bullet was measured to
    // break 59, 57 and 48 docks, native 48, 48 and 48.
    const double tolerance = engine == "bullet" ? 0.3 : 0.1;
    EXPECT_GT(fine, 10) << engine;
    EXPECT_NEAR(coarse, fine, tolerance * fine) << engine;
    EXPECT_NEAR(middle, fine, tolerance * fine) << engine;
  }
}

}  // namespace
}  // namespace volvox::world
