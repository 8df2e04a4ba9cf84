// A ring of six SuperBots rolls at least five metres and stays upright.
#include "experiment_run.h"

namespace volvox::experiments {
namespace {

using TrackCase = std::tuple<const char*, const char*, std::uint64_t>;  // engine, ground, seed
class RollingTrack : public testing::TestWithParam<TrackCase> {};

TEST_P(RollingTrack, RollsFiveMetresUpright) {
  const auto [engine, ground, seed] = GetParam();
  const auto metrics = outcome({.name = "remod3d/rolling_track",
                                .settings = {{"ground", ground}},
                                .engine = engine,
                                .seed = seed,
                                .duration = 20});
  EXPECT_GT(metrics.at("distance_m"), 5);
  EXPECT_LT(metrics.at("tilt_max_deg"), 15);  // 2 to 10.5 degrees with 40 seeds on hills, 12.3 with seed 12
  EXPECT_EQ(metrics.at("toppled"), 0);
  EXPECT_EQ(metrics.at("docks_broken"), 0);
  EXPECT_EQ(metrics.at("docks_engaged"), 6);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RollingTrack,
                         testing::Combine(testing::Values("native"), testing::Values("flat", "uneven"),
                                          testing::ValuesIn(test_seeds)),
                         CaseName());
INSTANTIATE_TEST_SUITE_P(Engines, RollingTrack,
                         testing::Combine(testing::Values("bullet"), testing::Values("flat", "uneven"),
                                          testing::Values(test_seeds[0])),
                         CaseName());

// The shape drives the track, so it can also stand or roll back.
TEST(RollingTrackSpeed, FollowsItsParameter) {
  for (const std::uint64_t seed : test_seeds) {
    const auto still =
        outcome({.name = "remod3d/rolling_track", .settings = {{"speed", "0"}}, .seed = seed, .duration = 5});
    EXPECT_LT(still.at("distance_m"), 0.3) << "seed " << seed;
    const auto back =
        prepared({.name = "remod3d/rolling_track", .settings = {{"speed", "-2"}}, .seed = seed, .duration = 5});
    back->finish();
    EXPECT_LT(back->report().history.back().centre_of_mass.x, -0.5) << "seed " << seed;
  }
}

// The paper's track has accelerometers alone; gyroscopes add nothing to the distance.
TEST(RollingTrackAccelerometers, GoAsFarAsWithGyroscopes) {
  for (const std::uint64_t seed : test_seeds) {
    const auto rolled = [&](const char* gyroscope) {
      return outcome({.name = "remod3d/rolling_track",
                      .settings = {{"gyroscope", gyroscope}},
                      .seed = seed,
                      .duration = 20})
          .at("distance_m");
    };
    EXPECT_GE(rolled("false"), rolled("true")) << "seed " << seed;
  }
}

// With gyroscopes, messages nearly halve the error of the modules' estimates (1.7 instead of 2.9 degrees over 20
// seeds).
TEST(RollingTrackMessages, ShareOutTheErrorsOfSensors) {
  double together = 0, alone = 0;
  for (const std::uint64_t seed : test_seeds) {
    const auto error = [&](const char* messages) {
      return outcome({.name = "remod3d/rolling_track",
                      .settings = {{"messages", messages}, {"gyroscope", "true"}},
                      .seed = seed,
                      .duration = 10})
          .at("direction_error_deg");
    };
    together += error("true"), alone += error("false");
  }
  EXPECT_LT(together, 0.8 * alone);
}

TEST(RollingTrackRun, Repeats) { expect_repeats({.name = "remod3d/rolling_track"}, 90); }

}  // namespace
}  // namespace volvox::experiments
