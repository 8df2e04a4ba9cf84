// A chain of SuperBots crawls by a wave; the head sends its phase to the other modules.
#include <cmath>

#include "experiment_run.h"

namespace volvox::experiments {
namespace {

using Case = std::pair<const char*, const char*>;  // engine, modules
class Snake : public testing::TestWithParam<Case> {};

TEST_P(Snake, CrawlsForward) {
  const int modules = std::stoi(GetParam().second);
  const auto metrics = outcome({.name = "remod3d/snake",
                                .settings = {{"modules", GetParam().second}},
                                .engine = GetParam().first,
                                .duration = 8});
  EXPECT_GT(metrics.at("synchrony"), 0.999);
  // The phase travels one module per tick.
  EXPECT_LE(metrics.at("sync_time_s"), (modules + 1) / 60.0);
  EXPECT_GT(metrics.at("forward_speed_m_s"), modules == 3 ? 0.01 : 0.03);  // three can hardly make a wave
}

INSTANTIATE_TEST_SUITE_P(Engines, Snake,
                         testing::Values(Case{"native", "3"}, Case{"native", "10"}, Case{"native", "40"},
                                         Case{"bullet", "10"}),
                         [](const auto& test) { return std::string(test.param.first) + "_" + test.param.second; });

// Clocks start apart, so modules that use their own clock do not agree on a phase.
TEST(SnakeMessages, MakeItsClocksAgree) {
  const auto cut = outcome({.name = "remod3d/snake", .settings = {{"messages", "false"}}, .duration = 25});
  EXPECT_LT(cut.at("synchrony"), 0.8);
  EXPECT_TRUE(std::isnan(cut.at("sync_time_s"))) << "not measured";
  EXPECT_LT(outcome({.name = "remod3d/snake", .settings = {{"sync", "clock"}}, .duration = 2}).at("synchrony"), 0.8);
}

TEST(SnakeRun, Repeats) { expect_repeats({.name = "remod3d/snake", .settings = {{"disturbed", "true"}}}, 60); }

}  // namespace
}  // namespace volvox::experiments
