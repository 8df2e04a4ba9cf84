// A rolling track opens, unrolls and crawls on.
#include <cmath>

#include "experiment_run.h"

namespace volvox::experiments {
namespace {

using Case = std::tuple<const char*, std::uint64_t>;  // engine, seed
class TrackToSnake : public testing::TestWithParam<Case> {};

TEST_P(TrackToSnake, BecomesASnakeThatMovesOn) {
  const auto [engine, seed] = GetParam();
  const auto metrics = outcome({.name = "remod3d/track_to_snake", .engine = engine, .seed = seed});
  EXPECT_GT(metrics.at("rolled_m"), 0.5);
  EXPECT_EQ(metrics.at("docks_released"), 1);
  EXPECT_EQ(metrics.at("docks_engaged"), 5);
  EXPECT_GT(metrics.at("unrolled_s"), metrics.at("opened_s"));
  EXPECT_GT(metrics.at("crawled_m"), 0.5);
  EXPECT_EQ(metrics.at("reconfigured"), 1);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TrackToSnake,
                         testing::Combine(testing::Values("native"), testing::ValuesIn(test_seeds)), CaseName());
INSTANTIATE_TEST_SUITE_P(Engines, TrackToSnake,
                         testing::Combine(testing::Values("bullet"), testing::Values(test_seeds[0])), CaseName());

// Opened at its top, the track unrolls upside down, with its head pointing back. It falls from a height and may end
// across its path, which happened in one of twelve seeds.
TEST(TrackToSnakeUpsideDown, MovesOnAllTheSame) {
  int stayed = 0;
  for (const std::uint64_t seed : seeds(11, 16)) {
    const auto metrics = outcome({.name = "remod3d/track_to_snake", .settings = {{"opener", "3"}}, .seed = seed});
    EXPECT_GT(metrics.at("crawled_m"), 0.2) << "seed " << seed;
    stayed += metrics.at("reconfigured") != 1;
  }
  EXPECT_LE(stayed, 1);
}

// A track that opens at once has no direction yet, so every direction counts.
TEST(TrackToSnakeAtOnce, CrawlsInAnyDirection) {
  for (const std::uint64_t seed : test_seeds) {
    const auto metrics =
        outcome({.name = "remod3d/track_to_snake", .settings = {{"opens_after", "0"}}, .seed = seed, .duration = 25});
    EXPECT_LT(metrics.at("rolled_m"), 0.1) << "seed " << seed;
    EXPECT_GT(metrics.at("crawled_m"), 0.5) << "seed " << seed;
    EXPECT_EQ(metrics.at("reconfigured"), 1) << "seed " << seed;
  }
}

// The opener releases its dock, but no other module learns of it.
TEST(TrackToSnakeMessages, AreNeeded) {
  for (const std::uint64_t seed : test_seeds) {
    const auto metrics = outcome({.name = "remod3d/track_to_snake",
                                  .settings = {{"messages", "false"}, {"opens_after", "2"}},
                                  .seed = seed,
                                  .duration = 21});
    EXPECT_EQ(metrics.at("docks_released"), 1) << "seed " << seed;
    EXPECT_TRUE(std::isnan(metrics.at("unrolled_s"))) << "not measured, seed " << seed;
    EXPECT_EQ(metrics.at("reconfigured"), 0) << "seed " << seed;
  }
}

TEST(TrackToSnakeRun, Repeats) {
  expect_repeats({.name = "remod3d/track_to_snake", .settings = {{"opens_after", "0.2"}}}, 150);
}

}  // namespace
}  // namespace volvox::experiments
