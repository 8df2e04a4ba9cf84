// An arm docks with modules nearby until it has three.
#include "experiment_run.h"

namespace volvox::experiments {
namespace {

using Case = std::pair<const char*, std::uint64_t>;  // engine, seed
class ArmGrowth : public testing::TestWithParam<Case> {};

TEST_P(ArmGrowth, BecomesAnArmOfThree) {
  const auto metrics = outcome({.name = "remod3d/arm_growth", .engine = GetParam().first, .seed = GetParam().second});
  EXPECT_EQ(metrics.at("arm_modules"), 3);
  EXPECT_EQ(metrics.at("docks_formed"), 2);
  EXPECT_EQ(metrics.at("docks_broken"), 0);
  EXPECT_LT(metrics.at("first_docked_s"), metrics.at("second_docked_s"));
}

INSTANTIATE_TEST_SUITE_P(Engines, ArmGrowth, testing::Values(Case{"native", 1}, Case{"native", 2}, Case{"bullet", 1}),
                         [](const auto& test) {
                           return std::string(test.param.first) + "_" + std::to_string(test.param.second);
                         });

// An arm of one module needs no messages to dock; an arm of two does.
TEST(ArmGrowthMessages, AreNeededForTheSecond) {
  const auto metrics = outcome({.name = "remod3d/arm_growth", .settings = {{"messages", "false"}}});
  EXPECT_EQ(metrics.at("arm_modules"), 2);
}

TEST(ArmGrowthRun, Repeats) { expect_repeats({.name = "remod3d/arm_growth"}, 200); }

}  // namespace
}  // namespace volvox::experiments
