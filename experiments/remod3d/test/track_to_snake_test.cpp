// A rolling track opens, unrolls and crawls on.
#include <cmath>

#include "experiment_run.h"

namespace volvox::experiments {
namespace {

using Case = std::pair<const char*, std::uint64_t>;  // engine, seed
class TrackToSnake : public testing::TestWithParam<Case> {};

TEST_P(TrackToSnake, BecomesASnakeThatMovesOn) {
  const auto metrics =
      outcome({.name = "remod3d/track_to_snake", .engine = GetParam().first, .seed = GetParam().second});
  EXPECT_GT(metrics.at("rolled_m"), 0.5);
  EXPECT_EQ(metrics.at("docks_released"), 1);
  EXPECT_EQ(metrics.at("docks_engaged"), 5);
  EXPECT_GT(metrics.at("unrolled_s"), metrics.at("opened_s"));
  EXPECT_GT(metrics.at("crawled_m"), 0.5);
  EXPECT_EQ(metrics.at("reconfigured"), 1);
}

INSTANTIATE_TEST_SUITE_P(Engines, TrackToSnake,
                         testing::Values(Case{"native", 1}, Case{"native", 2}, Case{"bullet", 1}),
                         [](const auto& test) {
                           return std::string(test.param.first) + "_" + std::to_string(test.param.second);
                         });

// Opened at its top, the track unrolls upside down, with its head pointing back. It falls from a height and may end
// across its path, which happened in one of twelve seeds.
TEST(TrackToSnakeUpsideDown, MovesOnAllTheSame) {
  int moved_on = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto metrics = outcome({.name = "remod3d/track_to_snake", .settings = {{"opener", "3"}}, .seed = seed});
    EXPECT_GT(metrics.at("crawled_m"), 0.2) << "seed " << seed;
    moved_on += metrics.at("reconfigured") == 1;
  }
  EXPECT_GE(moved_on, 5);
}

// A track that opens at once has no direction yet, so every direction counts.
TEST(TrackToSnakeAtOnce, CrawlsInAnyDirection) {
  const auto metrics = outcome({.name = "remod3d/track_to_snake", .settings = {{"opens_after", "0"}}});
  EXPECT_LT(metrics.at("rolled_m"), 0.1);
  EXPECT_GT(metrics.at("crawled_m"), 0.5);
  EXPECT_EQ(metrics.at("reconfigured"), 1);
}

// The opener releases its dock, but no other module learns of it.
TEST(TrackToSnakeMessages, AreNeeded) {
  const auto metrics = outcome({.name = "remod3d/track_to_snake", .settings = {{"messages", "false"}}, .duration = 25});
  EXPECT_EQ(metrics.at("docks_released"), 1);
  EXPECT_TRUE(std::isnan(metrics.at("unrolled_s"))) << "not measured";
  EXPECT_EQ(metrics.at("reconfigured"), 0);
}

TEST(TrackToSnakeRun, Repeats) {
  expect_repeats({.name = "remod3d/track_to_snake", .settings = {{"opens_after", "0.2"}}}, 150);
}

}  // namespace
}  // namespace volvox::experiments
