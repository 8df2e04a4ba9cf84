// An arm of three SuperBots brings its tip to random poses.
#include <cmath>

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

}  // namespace
}  // namespace volvox::experiments
