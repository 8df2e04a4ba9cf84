// An arm of three SuperBots brings its tip to random poses.
#include <cmath>

#include "arm.h"
#include "experiment_run.h"

namespace volvox::experiments {
namespace {

using Case = std::tuple<const char*, std::uint64_t>;  // engine, seed
class Manipulator : public testing::TestWithParam<Case> {};

TEST_P(Manipulator, ReachesNineteenOfTwenty) {
  const auto [engine, seed] = GetParam();
  const auto metrics =
      outcome({.name = "remod3d/manipulator", .settings = {{"targets", "20"}}, .engine = engine, .seed = seed});
  EXPECT_EQ(metrics.at("targets"), 20);
  EXPECT_GE(metrics.at("reached_fraction"), 0.95);
  EXPECT_LT(metrics.at("error_median_mm"), 3);
  EXPECT_LT(metrics.at("error_angle_median_deg"), 1);
  EXPECT_EQ(metrics.at("docks_broken"), 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Manipulator, testing::Combine(testing::Values("native"), testing::ValuesIn(test_seeds)),
                         CaseName());
INSTANTIATE_TEST_SUITE_P(Engines, Manipulator,
                         testing::Combine(testing::Values("mujoco"), testing::Values(test_seeds[0])), CaseName());

// Only the first module knows the targets. Without messages it does not know the others' angles, and nothing moves.
TEST(ManipulatorMessages, AreNeeded) {
  for (const std::uint64_t seed : test_seeds) {
    const auto metrics =
        outcome({.name = "remod3d/manipulator", .settings = {{"targets", "3"}, {"messages", "false"}}, .seed = seed});
    EXPECT_EQ(metrics.at("targets"), 0) << "seed " << seed;
    EXPECT_TRUE(std::isnan(metrics.at("reached_fraction"))) << "not measured";
  }
}

TEST(ManipulatorRun, Repeats) { expect_repeats({.name = "remod3d/manipulator", .settings = {{"targets", "2"}}}, 120); }

// The state that a snapshot gives to a module is used as angles of all joints.
TEST(ManipulatorSnapshots, WithOtherJointsAreRefused) {
  const auto taken = [](std::size_t command_size, std::size_t integral_size, std::vector<std::vector<double>> way) {
    std::vector<double> command(command_size), behind, integral(integral_size);
    double began = 0;
    SaveArchive saved;
    saved("began", began), saved("command", command), saved("behind", behind), saved("integral", integral);
    saved("way", way);
    robots::Arm arm(std::make_shared<const robots::ArmMission>());  // a chain without joints
    LoadArchive loaded(saved.bytes());
    arm.archive_state(loaded);
    return loaded.ok() && loaded.remaining() == 0;
  };
  EXPECT_TRUE(taken(3, 3, {}));
  EXPECT_TRUE(taken(9, 3, {{}, {}}));
  EXPECT_FALSE(taken(2, 3, {}));
  EXPECT_FALSE(taken(3, 2, {}));
  EXPECT_FALSE(taken(3, 3, {{}}));
  EXPECT_FALSE(taken(3, 3, {{}, {1}}));
}

}  // namespace
}  // namespace volvox::experiments
