#include "volvox/world/hand.h"

#include <gtest/gtest.h>

#include <functional>

#include "cubes.h"

namespace volvox::world {
namespace {

class Hands : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(World, Hands, testing::Values("native", "bullet"),
                         [](const auto& engine) { return std::string(engine.param); });

// Puts a hand beside the cubes of a builder.
void add_hand(model::WorldBuilder& builder, double force, double torque) {
  model::PlacementOptions at;
  at.positions = {{"x", 0.1}, {"z", 0.5}};
  builder.add(share(hand_model(force, torque)), Pose{}, "hand", at);
}

struct Holding {
  Holding(model::WorldBuilder& builder, const std::string& engine) : bench(builder, {1, 60}, engine) {
    while (world.name(self) != "hand") ++self;
  }
  bool tick_until(const std::function<bool()>& done, int most) {
    for (int i = 0; i < most; ++i) {
      if (done()) return true;
      tick();
    }
    return done();
  }
  void tick(int count = 1) {
    for (int i = 0; i < count; ++i) {
      hand.move(world, self, 1.0 / 60);
      bench.tick();
      fastest = std::max(fastest, length(world.link_velocity(world.part(1).first_link).linear));
    }
  }
  LinkIndex cube(PlacementIndex placement) const { return world.part(placement).first_link; }
  Bench bench;
  World& world = bench.world();
  PlacementIndex self = 0;
  Hand hand;
  double fastest = 0;  // m/s, of the first cube
};

// Lifts the first of two docked cubes off the ground, turns it, and lets it fall.
TEST_P(Hands, CarryWhatTheyHoldAndWhatHangsOnIt) {
  model::WorldBuilder builder("hand");
  builder.add_ground();
  builder.add_chain(share(cube()), 2, "east", "west", 0, Pose{{0, 0, 0.05}, {}}, "c");
  add_hand(builder, 60, 6);
  Holding it(builder, GetParam());
  it.tick(5);
  EXPECT_FALSE(it.hand.holds());
  const LinkIndex link = it.cube(1);
  it.hand.reach(it.world, link);
  EXPECT_TRUE(it.tick_until([&] { return it.hand.holds(); }, 120));
  EXPECT_LT(it.fastest, 0.1) << "nothing jumps when it takes hold";
  const Pose up{{0.2, 0.1, 0.5}, Quat::axis_angle({0, 0, 1}, pi / 2)};
  it.hand.carry(up, 0.5);
  EXPECT_FALSE(it.tick_until([&] { return it.hand.arrived(); }, 60)) << "pi / 2 at a radian a second";
  EXPECT_TRUE(it.tick_until([&] { return it.hand.arrived(); }, 60));
  EXPECT_LT(it.fastest, 1.0);
  it.tick(30);
  EXPECT_LT(length(it.world.link_pose(link).position - up.position), 6e-3);
  EXPECT_LT(angle(it.world.link_pose(link).rotation.conjugate() * up.rotation), 0.05);
  EXPECT_EQ(it.world.graph().connections(), 1u) << "what hangs on it comes along";
  EXPECT_GT(it.world.link_pose(it.cube(2)).position.z, 0.4);
  it.hand.let_go(it.world);
  EXPECT_FALSE(it.hand.holds());
  it.tick(60);
  EXPECT_LT(it.world.link_pose(link).position.z, 0.2);
}

// A cube of 1 kg weighs 9.81 N. On native: bullet's iterations leave much of a load that goes through six light parts.
TEST(Hand, GivesWayBeyondItsForceAndComesBack) {
  model::WorldBuilder builder("hand");
  builder.add_ground();
  builder.add(share(cube()), Pose{{0, 0, 0.05}, {}}, "c");
  add_hand(builder, 15, 1);
  Holding it(builder, physics::default_engine);
  const LinkIndex link = it.cube(1);
  it.hand.reach(it.world, link);
  EXPECT_TRUE(it.tick_until([&] { return it.hand.holds(); }, 120));
  const Vec3 held{0, 0, 0.3};
  it.hand.carry({held, {}});
  EXPECT_TRUE(it.tick_until([&] { return it.hand.arrived(); }, 180));
  const auto off = [&] { return length(it.world.link_pose(link).position - held); };
  for (int i = 0; i < 20; ++i) it.world.push(link, {{14, 0, 0}, {}}), it.tick();
  EXPECT_LT(off(), 4e-3) << "it can bear 14 N aside";
  for (int i = 0; i < 20; ++i) it.world.push(link, {{17, 0, 0}, {}}), it.tick();
  EXPECT_NEAR(off(), 0.5 * 2 / 1.6 * 20 * 20 / 3600.0, 0.02) << "2 N are left, and move 1 kg and the hand's 0.6";
  it.tick(60);
  EXPECT_LT(off(), 6e-3);
}

}  // namespace
}  // namespace volvox::world
