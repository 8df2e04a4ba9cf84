// What the tests build.
#pragma once

#include <gtest/gtest.h>

#include <memory>

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

}  // namespace volvox::particles
