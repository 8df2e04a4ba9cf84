#include <gtest/gtest.h>

#include <cmath>

#include "cubes.h"
#include "volvox/base/random.h"

namespace volvox::world {
namespace {

model::WorldBuilder space() {
  model::WorldBuilder builder("space");
  builder.set_gravity({});
  return builder;
}

bool engaged(Bench& bench, const std::string& module, const std::string& dock) {
  return bench.world().dock_status(bench.dock(module, dock)).phase == DockPhase::engaged;
}

// Seed 000: enabled, free docks that are near and lined up are pulled together and joined.
TEST(Docking, NearDocksArePulledTogether) {
  auto builder = space();
  const auto model = share(cube());
  builder.add(model, Pose{}, "a");
  builder.add(model, Pose{{0.112, 0.005, 0}, Quat::rpy(0.05, 0.03, 0.08)}, "b");
  Bench bench(builder);
  bench.tick();
  EXPECT_EQ(bench.world().dock_status(bench.dock("a", "east")).phase, DockPhase::latching);
  EXPECT_EQ(bench.world().organism_count(), 1u);
  bench.tick(60);
  ASSERT_TRUE(engaged(bench, "a", "east"));
  ASSERT_TRUE(engaged(bench, "b", "west"));
  EXPECT_LT(bench.world().largest_dock_error().distance, 1e-4);
  EXPECT_LT(bench.world().largest_dock_error().angle, radians(0.1));
  EXPECT_EQ(bench.world().docks_formed(), 1);
  ASSERT_EQ(bench.events.size(), 2u);
  EXPECT_EQ(bench.events[0].kind, DockEvent::Kind::captured);
  EXPECT_EQ(bench.events[1].kind, DockEvent::Kind::engaged);
}

// Linear and angular momentum are conserved to 1e-6. Energy does not rise, except for the motion of the pull itself (at
// most 1/2 mu v^2 with the relative speed of the pull), which has ended when the dock is closed.
TEST(Docking, KeepsMomentumAndNeverRaisesEnergy) {
  RandomStream random(3, 0, "docking");
  for (int trial = 0; trial < 12; ++trial) {
    auto builder = space();
    const auto model = share(cube());
    model::PlacementOptions a, b;
    // All speeds are slow enough for a capture.
    a.velocity = {{random.uniform(0, 0.1), random.uniform(-0.05, 0.05), 0.02}, {0.1, random.uniform(-0.3, 0.3), 0.2}};
    b.velocity = {{-random.uniform(0, 0.1), random.uniform(-0.05, 0.05), 0.02}, {random.uniform(-0.3, 0.3), 0.1, -0.2}};
    builder.add(model, Pose{}, "a", a);
    builder.add(model,
                Pose{{0.108, random.uniform(-0.004, 0.004), 0.003}, Quat::rpy(random.uniform(-0.1, 0.1), 0.02, 0.04)},
                "b", b);
    Bench bench(builder);
    World& world = bench.world();
    const Vec3 p0 = momentum(world), l0 = angular_momentum(world, {});
    const double e0 = kinetic_energy(world);
    const double p_scale = 2 * 0.1, l_scale = length(l0) + 1e-3;
    const double pull = 0.2;  // m/s at most, of 1 kg against 1 kg: mu = 0.5 kg; turning counts as much again
    for (int tick = 0; tick < 90; ++tick) {
      bench.tick();
      EXPECT_LT(length(momentum(world) - p0), 1e-6 * p_scale);
      EXPECT_LT(length(angular_momentum(world, {}) - l0), 1e-6 * l_scale) << "trial " << trial << " tick " << tick;
      EXPECT_LT(kinetic_energy(world), e0 + 0.5 * 0.5 * pull * pull);
    }
    ASSERT_TRUE(engaged(bench, "a", "east")) << "trial " << trial;
    EXPECT_LT(kinetic_energy(world), e0 * (1 + 1e-9)) << "trial " << trial;
  }
}

TEST(Docking, FromRestEndsAtRest) {
  auto builder = space();
  const auto model = share(cube());
  builder.add(model, Pose{}, "a");
  builder.add(model, Pose{{0.115, 0, 0}, {}}, "b");
  Bench bench(builder);
  bench.tick(90);
  ASSERT_TRUE(engaged(bench, "a", "east"));
  EXPECT_LT(kinetic_energy(bench.world()), 1e-9);
  EXPECT_LT(length(centre_of_mass(bench.world()) - Vec3{0.0575, 0, 0}), 1e-7);
}

struct Misfit {
  const char* name;
  Pose pose;
  void (*change)(model::ModuleModel&);
};

TEST(Docking, WhatDoesNotFitStaysFree) {
  const auto nothing = [](model::ModuleModel&) {};
  const Misfit misfits[] = {
      {"too far", {{0.125, 0, 0}, {}}, nothing},
      {"too far aside", {{0.1, 0.025, 0}, {}}, nothing},
      {"bent too far", {{0.11, 0, 0}, Quat::axis_angle({0, 0, 1}, radians(20))}, nothing},
      {"turned too far", {{0.11, 0, 0}, Quat::axis_angle({1, 0, 0}, radians(30))}, nothing},
      {"same gender",
       {{0.11, 0, 0}, {}},
       [](model::ModuleModel& m) {
         for (auto& d : m.docks) d.gender = model::Gender::male;
       }},
      {"disabled",
       {{0.11, 0, 0}, {}},
       [](model::ModuleModel& m) {
         for (auto& d : m.docks) d.enabled = false;
       }},
  };
  for (const Misfit& misfit : misfits) {
    auto builder = space();
    model::ModuleModel changed = cube();
    misfit.change(changed);
    const auto model = share(changed);
    builder.add(model, Pose{}, "a");
    builder.add(model, misfit.pose, "b");
    Bench bench(builder);
    bench.tick(10);
    EXPECT_EQ(bench.world().graph().connections(), 0u) << misfit.name;
  }
  auto builder = space();
  model::ModuleModel other = cube();
  for (auto& dock : other.docks) dock.kind = "another";
  builder.add(share(cube()), Pose{}, "a");
  builder.add(share(other), Pose{{0.11, 0, 0}, {}}, "b");
  Bench bench(builder);
  bench.tick(10);
  EXPECT_EQ(bench.world().graph().connections(), 0u) << "another kind";
}

TEST(Docking, TurnsToTheNearestOfItsAngles) {
  for (const double turned : {85.0, -95.0, 178.0, 4.0}) {
    auto builder = space();
    const auto model = share(cube());
    builder.add(model, Pose{}, "a");
    builder.add(model, Pose{{0.105, 0, 0}, Quat::axis_angle({1, 0, 0}, radians(turned))}, "b");
    Bench bench(builder);
    bench.tick(90);
    ASSERT_TRUE(engaged(bench, "a", "east")) << turned;
    const Quat relative = bench.world().link_pose(0).rotation.conjugate() * bench.world().link_pose(1).rotation;
    const double nearest = radians(90 * std::round(turned / 90));
    EXPECT_LT(angle(Quat::axis_angle({1, 0, 0}, nearest).conjugate() * relative), radians(0.2)) << turned;
  }
}

TEST(Docking, AFreelyTurningDockKeepsItsTwist) {
  auto builder = space();
  model::ModuleModel free = cube();
  for (auto& dock : free.docks) dock.symmetry = 0;
  const auto model = share(free);
  builder.add(model, Pose{}, "a");
  builder.add(model, Pose{{0.105, 0, 0}, Quat::axis_angle({1, 0, 0}, radians(37))}, "b");
  Bench bench(builder);
  bench.tick(60);
  ASSERT_TRUE(engaged(bench, "a", "east"));
  const Quat relative = bench.world().link_pose(0).rotation.conjugate() * bench.world().link_pose(1).rotation;
  EXPECT_NEAR(degrees(angle(relative)), 37, 0.2);
}

TEST(Docking, ADisabledDockLetsGo) {
  auto builder = space();
  const auto model = share(cube());
  builder.add_chain(model, 3, "east", "west", 0, Pose{}, "m");
  Bench bench(builder);
  bench.tick(5);
  EXPECT_EQ(bench.world().organism_count(), 1u);
  bench.world().enable_dock(bench.dock("m1", "west"), false);
  bench.tick();
  EXPECT_EQ(bench.world().organism_count(), 2u);
  EXPECT_EQ(bench.world().graph().neighbor(bench.dock("m0", "east")), nobody);
  EXPECT_EQ(bench.world().docks_released(), 1);
  // Enabled again, and still in place: it is magnetic.
  bench.world().enable_dock(bench.dock("m1", "west"), true);
  bench.tick(30);
  EXPECT_EQ(bench.world().organism_count(), 1u);
}

TEST(Docking, AModuleDocksToABase) {
  auto builder = space();
  model::ModuleModel base = cube();
  base.fixed_in_place = true;
  base.mind.reset();
  builder.add(share(base), Pose{}, "base");
  builder.add(share(cube()), Pose{{0.11, 0, 0}, {}}, "m");
  Bench bench(builder);
  bench.tick(90);
  ASSERT_TRUE(engaged(bench, "base", "east"));
  EXPECT_NEAR(bench.world().link_pose(1).position.x, 0.1, 1e-4);
  EXPECT_EQ(bench.world().organism_count(), 1u);
}

TEST(Docking, TheNearestOfThreeWins) {
  auto builder = space();
  const auto model = share(cube());
  builder.add(model, Pose{}, "a");
  builder.add(model, Pose{{0.115, 0, 0.0}, {}}, "far");
  Bench far_only(builder);
  builder = space();
  model::ModuleModel thin = cube();
  thin.links[0].geometry = std::make_shared<model::Geometry>();  // may overlap the other
  builder.add(model, Pose{}, "a");
  builder.add(share(thin), Pose{{0.114, 0, 0}, {}}, "far");
  builder.add(share(thin), Pose{{0.106, 0, 0}, {}}, "near");
  Bench bench(builder);
  bench.tick();
  EXPECT_EQ(bench.world().graph().neighbor(bench.dock("a", "east")), 2u);
}

}  // namespace
}  // namespace volvox::world
