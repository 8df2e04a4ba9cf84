// An arm of three SuperBots brings its tip to random poses.
#include <cmath>

#include "experiment_run.h"

namespace volvox::experiments {
namespace {

class Manipulator : public testing::TestWithParam<const char*> {};

TEST_P(Manipulator, ReachesNineteenOfTwenty) {
  const auto metrics = outcome({.name = "remod3d/manipulator", .settings = {{"targets", "20"}}, .engine = GetParam()});
  EXPECT_EQ(metrics.at("targets"), 20);
  EXPECT_GE(metrics.at("reached_fraction"), 0.95);
  EXPECT_LT(metrics.at("error_median_mm"), 3);
  EXPECT_LT(metrics.at("error_angle_median_deg"), 1);
  EXPECT_EQ(metrics.at("docks_broken"), 0);
}

INSTANTIATE_TEST_SUITE_P(Engines, Manipulator, testing::Values("native", "mujoco"),
                         [](const auto& test) { return std::string(test.param); });

// Only the first module knows the targets. Without messages it does not know the others' angles, and nothing moves.
TEST(ManipulatorMessages, AreNeeded) {
  const auto metrics = outcome({.name = "remod3d/manipulator", .settings = {{"targets", "3"}, {"messages", "false"}}});
  EXPECT_EQ(metrics.at("targets"), 0);
  EXPECT_TRUE(std::isnan(metrics.at("reached_fraction"))) << "not measured";
}

TEST(ManipulatorRun, Repeats) { expect_repeats({.name = "remod3d/manipulator", .settings = {{"targets", "2"}}}, 120); }

}  // namespace
}  // namespace volvox::experiments
