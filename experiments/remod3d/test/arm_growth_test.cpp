// An arm docks with modules nearby until it has three.
#include "experiment_run.h"
#include "grow.h"

namespace volvox::experiments {
namespace {

using Case = std::tuple<const char*, std::uint64_t>;  // engine, seed
class ArmGrowth : public testing::TestWithParam<Case> {};

TEST_P(ArmGrowth, BecomesAnArmOfThree) {
  const auto [engine, seed] = GetParam();
  const auto metrics = outcome({.name = "remod3d/arm_growth", .engine = engine, .seed = seed});
  EXPECT_EQ(metrics.at("arm_modules"), 3);
  EXPECT_EQ(metrics.at("docks_formed"), 2);
  EXPECT_EQ(metrics.at("docks_broken"), 0);
  EXPECT_LT(metrics.at("first_docked_s"), metrics.at("second_docked_s"));
}

INSTANTIATE_TEST_SUITE_P(Seeds, ArmGrowth, testing::Combine(testing::Values("native"), testing::ValuesIn(test_seeds)),
                         CaseName());
INSTANTIATE_TEST_SUITE_P(Engines, ArmGrowth,
                         testing::Combine(testing::Values("bullet"), testing::Values(test_seeds[0])), CaseName());

// An arm of one module needs no messages to dock; an arm of two does.
TEST(ArmGrowthMessages, AreNeededForTheSecond) {
  for (const std::uint64_t seed : test_seeds) {
    const auto metrics =
        outcome({.name = "remod3d/arm_growth", .settings = {{"messages", "false"}}, .seed = seed, .duration = 20});
    EXPECT_EQ(metrics.at("arm_modules"), 2) << "seed " << seed;
  }
}

TEST(ArmGrowthRun, Repeats) { expect_repeats({.name = "remod3d/arm_growth"}, 200); }

// The state that a snapshot gives to a module is used as numbers of joints and steps.
TEST(ArmGrowthSnapshots, WithOtherJointsOrStepsAreRefused) {
  const auto taken = [](std::size_t angles, std::size_t modules, int step, int first_step = 0,
                        std::size_t way_size = 3) {
    std::vector<double> command(angles), behind, ready(angles);
    std::vector<std::vector<double>> way = {std::vector<double>(way_size)};
    mind::DockBeacon seen;
    robots::SeenModule next;
    bool no = false;
    double zero = 0;
    int none = 0;
    SaveArchive saved;
    saved("command", command), saved("behind", behind), saved("seen", seen), saved("latching", no), saved("joined", no);
    saved("modules", modules), saved("step", step), saved("first step", first_step), saved("views", none);
    saved("since", zero), saved("way", way), saved("ready", ready), saved("sightings", none),
        saved("blind until", zero);
    saved("next", next);
    robots::Grow grow(std::make_shared<const robots::GrowPlan>());
    LoadArchive loaded(saved.bytes());
    grow.archive_state(loaded);
    return loaded.ok() && loaded.remaining() == 0;
  };
  EXPECT_TRUE(taken(3, 0, -2));
  EXPECT_TRUE(taken(3, 1, -1));
  EXPECT_TRUE(taken(6, 2, 8, 2, 6));
  EXPECT_FALSE(taken(2, 0, -2, 0, 2));
  EXPECT_FALSE(taken(5, 2, 0, 0, 5));
  EXPECT_FALSE(taken(3, ~std::size_t{0}, 0));
  EXPECT_FALSE(taken(3, 1, 9));
  EXPECT_FALSE(taken(3, 1, -3));
  EXPECT_FALSE(taken(3, 1, 0, -1));
  EXPECT_FALSE(taken(3, 1, 0, 9));
  EXPECT_FALSE(taken(3, 1, 0, 0, 6));
}

}  // namespace
}  // namespace volvox::experiments
