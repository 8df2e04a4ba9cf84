// What the tests build.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "volvox/base/test/shortened.h"
#include "volvox/particles/particle_world.h"

namespace volvox::particles {

constexpr double tick = 1.0 / 60;

inline std::unique_ptr<ParticleWorld> make_world(const WorldOptions& options) {
  auto made = ParticleWorld::create(options);
  EXPECT_TRUE(made.ok());
  return std::move(*made);
}
inline ShapeIndex add_tank(ParticleWorld& world, const Vec3& low, const Vec3& high) {
  ShapeDesc tank{.kind = ShapeKind::tank, .half_size = (high - low) / 2};
  tank.pose.position = (low + high) / 2;
  const auto added = world.add_shape(tank);
  EXPECT_TRUE(added.ok());
  return *added;
}
inline void run(ParticleWorld& world, double seconds) {
  for (int k = 0; k < seconds * 60; ++k) {
    const auto done = world.step(tick);
    ASSERT_TRUE(done.ok()) << done.error().text();
  }
}

// Water, grains of two kinds, a cloth that tears, and a ball that is pushed.
inline std::unique_ptr<ParticleWorld> mixed(ThreadPool* threads) {
  WorldOptions options;
  options.threads = threads;
  options.fluid.spacing = 0.05;
  options.low = {-1, -1, -1};
  options.high = {2, 2, 1.95};
  options.rolling_resistance = 0.1;
  auto world = make_world(options);
  add_tank(*world, {0, 0, 0}, {0.6, 0.6, 3});
  EXPECT_TRUE(world->add_fluid_box({0, 0, 0}, {0.6, 0.6, 0.3}).ok());
  std::vector<Vec3> places[2];
  for (int i = 0; i < 120; ++i)
    places[i % 2].push_back(Vec3{0.1 + i % 5 * 0.1, 0.1 + i / 5 % 5 * 0.1, 0.4 + i / 25 * 0.1});
  EXPECT_TRUE(world->add_grains({0.03, 2500, 0.5}, places[0]).ok());
  EXPECT_TRUE(world->add_grains({0.02, 600, 0.3}, places[1]).ok());
  const auto cloth = world->add_cloth({.corner = {0.1, 0.1, 1},
                                       .along_columns = {0.4, 0, 0},
                                       .along_rows = {0, 0.4, 0},
                                       .columns = 11,
                                       .rows = 9,
                                       .strength = 0.5});
  EXPECT_TRUE(cloth.ok());
  world->pin(*cloth);
  ShapeDesc ball{.kind = ShapeKind::sphere, .radius = 0.08, .mass = 1, .moments = {0.01, 0.01, 0.01}};
  ball.pose.position = {0.3, 0.3, 1.2};
  EXPECT_TRUE(world->add_shape(ball).ok());
  EXPECT_TRUE(world->add_fluid(std::vector<Vec3>{{0.3, 0.3, 1.9}}, {0, 0, 20}).ok());  // leaves the world
  return world;
}

}  // namespace volvox::particles
