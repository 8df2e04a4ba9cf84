// A chain of SuperBots crawls by a wave; the head sends its phase to the other modules.
#include <cmath>

#include "experiment_run.h"

namespace volvox::experiments {
namespace {

using SnakeCase = std::tuple<const char*, const char*, std::uint64_t>;  // engine, modules, seed
class Snake : public testing::TestWithParam<SnakeCase> {};

TEST_P(Snake, CrawlsForward) {
  const auto [engine, length, seed] = GetParam();
  const int modules = std::stoi(length);
  const auto metrics = outcome(
      {.name = "remod3d/snake", .settings = {{"modules", length}}, .engine = engine, .seed = seed, .duration = 8});
  EXPECT_GT(metrics.at("synchrony"), 0.999);
  // The phase travels one module per tick.
  EXPECT_LE(metrics.at("sync_time_s"), (modules + 1) / 60.0);
  EXPECT_GT(metrics.at("forward_speed_m_s"), modules == 3 ? 0.01 : 0.03);  // three can hardly make a wave
}

INSTANTIATE_TEST_SUITE_P(Seeds, Snake,
                         testing::Combine(testing::Values("native"), testing::Values("3", "10", "40"),
                                          testing::ValuesIn(test_seeds)),
                         CaseName());
INSTANTIATE_TEST_SUITE_P(Engines, Snake,
                         testing::Combine(testing::Values("bullet"), testing::Values("10"),
                                          testing::Values(test_seeds[0])),
                         CaseName());

// Clocks start apart, so modules that use their own clock do not agree on a phase.
TEST(SnakeMessages, MakeItsClocksAgree) {
  for (const std::uint64_t seed : test_seeds) {
    const auto cut =
        outcome({.name = "remod3d/snake", .settings = {{"messages", "false"}}, .seed = seed, .duration = 8});
    EXPECT_LT(cut.at("synchrony"), 0.8) << "seed " << seed;
    EXPECT_TRUE(std::isnan(cut.at("sync_time_s"))) << "not measured";
    const auto apart = outcome({.name = "remod3d/snake", .settings = {{"sync", "clock"}}, .seed = seed, .duration = 2});
    EXPECT_LT(apart.at("synchrony"), 0.8) << "seed " << seed;
  }
}

TEST(SnakeRun, Repeats) { expect_repeats({.name = "remod3d/snake", .settings = {{"disturbed", "true"}}}, 60); }

}  // namespace
}  // namespace volvox::experiments
