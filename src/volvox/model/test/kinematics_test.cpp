// Chains: the pose of the tip, the Jacobian, and inverse kinematics.
#include "volvox/model/kinematics.h"

#include "volvox/model/reader.h"
#include "volvox/model/test/test_files.h"
#include "volvox/model/world_builder.h"

namespace volvox::model::test {
namespace {

class ChainTest : public testing::Test {
 protected:
  ModelLibrary library;
  std::shared_ptr<const ModuleModel> superbot = *library.load("superbot");
  Chain arm = [this] {
    Chain chain(Pose{{0.1, -0.2, 0.3}, Quat::rpy(0, -pi / 2, 0.4)});
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(chain.append(*superbot, "back", "front", i).ok());
    return chain;
  }();
};

TEST_F(ChainTest, IsWhereTheScenePutsIt) {
  RandomStream random(1, 0, "test");
  const std::vector<double> q = arm.random_positions(random);
  ASSERT_EQ(q.size(), 9u);
  WorldBuilder builder;
  const Pose base{{0.1, -0.2, 0.3}, Quat::rpy(0, -pi / 2, 0.4)};
  for (int i = 0; i < 3; ++i) {
    PlacementOptions options;
    options.positions = {{"yaw", q[3 * i]}, {"roll", q[3 * i + 1]}, {"pitch", q[3 * i + 2]}};
    const Pose back = superbot->links[0].pose * superbot->docks[superbot->dock_index("back")].pose;
    builder.add(superbot, i == 0 ? std::optional(base * back.inverse()) : std::nullopt, "m" + std::to_string(i),
                options);
    if (i > 0) builder.connect("m" + std::to_string(i - 1) + ".front", "m" + std::to_string(i) + ".back", i);
  }
  const auto world = builder.build();
  ASSERT_TRUE(world.ok()) << world.error().text();
  const Placement& last = world->placements[2];
  const Dock& front = superbot->docks[superbot->dock_index("front")];
  const Pose there = last.pose * forward_kinematics(*superbot, last.positions)[front.link] * front.pose;
  const Pose tip = arm.tip(q);
  expect_near(tip.position, there.position);
  EXPECT_LT(angle(tip.rotation.conjugate() * there.rotation), 1e-9);
}

TEST_F(ChainTest, JacobianAgreesWithDifferences) {
  RandomStream random(2, 0, "test");
  // Through a module from its side to its back, so that joints are passed both ways.
  Chain crooked;
  ASSERT_TRUE(crooked.append(*superbot, "left", "back").ok());
  ASSERT_TRUE(crooked.append(*superbot, "top", "right", 3).ok());
  for (const Chain& chain : {arm, crooked}) {
    for (int trial = 0; trial < 10; ++trial) {
      const std::vector<double> q = chain.random_positions(random);
      const std::vector<Twist> columns = chain.jacobian(q);
      for (std::size_t k = 0; k < q.size(); ++k) {
        constexpr double h = 1e-6;
        std::vector<double> less = q, more = q;
        less[k] -= h;
        more[k] += h;
        const Pose a = chain.tip(less), b = chain.tip(more);
        EXPECT_LT(length((b.position - a.position) / (2 * h) - columns[k].linear), 1e-8);
        EXPECT_LT(length(rotation_vector(b.rotation * a.rotation.conjugate()) / (2 * h) - columns[k].angular), 1e-8);
      }
    }
  }
}

TEST_F(ChainTest, ReachesWhatItCanReach) {
  RandomStream random(3, 0, "test");
  int reached = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const Pose target = arm.tip(arm.random_positions(random));
    Reach best;
    for (int start = 0; start < 10 && !best.reached; ++start) best = reach(arm, target, arm.random_positions(random));
    for (std::size_t k = 0; k < arm.size(); ++k) {
      EXPECT_GE(best.positions[k], arm.joints()[k].lower);
      EXPECT_LE(best.positions[k], arm.joints()[k].upper);
    }
    const Pose tip = arm.tip(best.positions);
    EXPECT_NEAR(length(tip.position - target.position), best.distance, 1e-12);
    reached += best.reached;
  }
  EXPECT_GE(reached, 98);
}

TEST_F(ChainTest, ComesAsNearAsItCan) {
  // For a target at twice its length (docks point outwards, so the chain leads to -x), the chain is straight.
  Chain chain;
  ASSERT_TRUE(chain.append(*superbot, "back", "front").ok());
  const Reach far = reach(chain, Pose{{-0.4, 0, 0.01}, {}}, {0.3, 0.2, -0.4}, {.radian_weight = 0, .iterations = 500});
  EXPECT_FALSE(far.reached);
  EXPECT_NEAR(far.distance, 0.4 - 0.168, 1e-3);
  // A position alone is easier than a pose.
  const Pose target{chain.tip(std::vector<double>{0.5, -0.3, 0.4}).position, {}};
  EXPECT_TRUE(reach(chain, target, {0.1, 0.1, 0.1}, {.radian_weight = 0}).reached);
  EXPECT_FALSE(reach(chain, target, {0.1, 0.1, 0.1}).reached);
}

TEST_F(ChainTest, SaysWhatIsMissing) {
  Chain chain;
  EXPECT_FALSE(chain.append(*superbot, "back", "nose").ok());
  ModuleModel apart = *superbot;
  apart.joints.clear();
  const auto none = chain.append(apart, "back", "front");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().text().find("no joints"), std::string::npos);
  EXPECT_EQ(chain.size(), 0u);
}

}  // namespace
}  // namespace volvox::model::test
