#include "volvox/world/hand.h"

#include <gtest/gtest.h>

#include "cubes.h"

namespace volvox::world {
namespace {

class Hands : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(World, Hands, testing::Values("native", "bullet"),
                         [](const auto& engine) { return std::string(engine.param); });

// Lifts the first of two docked cubes off the ground, turns it, and lets it fall.
TEST_P(Hands, CarryWhatTheyHoldAndWhatHangsOnIt) {
  model::WorldBuilder builder("hand");
  builder.add_ground();
  builder.add_chain(share(cube()), 2, "east", "west", 0, Pose{{0, 0, 0.05}, {}}, "c");
  Bench bench(builder, {1, 60}, GetParam());
  World& world = bench.world();
  bench.tick(5);
  Hand hand;
  EXPECT_FALSE(hand.holds());
  const LinkIndex link = world.part(1).first_link;
  const Pose up{{0.2, 0.1, 0.5}, Quat::axis_angle({0, 0, 1}, pi / 2)};
  hand.carry(world, link, up, 0.5);
  double fastest = 0;
  int ticks = 0;
  for (; ticks < 180 && !hand.arrived(world); ++ticks) {
    bench.tick();
    fastest = std::max(fastest, length(world.link_velocity(link).linear));
  }
  EXPECT_TRUE(hand.arrived(world));
  EXPECT_GT(ticks, 45) << "half a metre at half a metre a second";
  EXPECT_LT(fastest, 1.0);
  bench.tick(30);
  EXPECT_LT(length(world.link_pose(link).position - up.position), 2e-3);
  EXPECT_EQ(world.graph().connections(), 1u) << "what hangs on it comes along";
  EXPECT_GT(world.link_pose(world.part(2).first_link).position.z, 0.4);
  hand.let_go(world);
  EXPECT_FALSE(hand.holds());
  bench.tick(60);
  EXPECT_LT(world.link_pose(link).position.z, 0.2);
}

}  // namespace
}  // namespace volvox::world
