// The buggy, against what its numbers give by pencil.
#include <gtest/gtest.h>

#include "study.h"

namespace volvox::experiments::swarmsimx {
namespace {

TEST(Vehicle, SinksSwingsAndCirclesAsItsNumbersSay) {
  for (const char* speed : {"2", "3", "4"}) {
    const auto report = run("swarmsimx/vehicle", {{"speed", speed}});
    const auto buggy = [&](const char* name) { return metric(report, name); };
    for (const char* name : {"sag_ratio", "half_period_ratio", "speed_m_s", "turn_ratio", "understeer_ratio"})
      RecordProperty(std::string(name) + speed, std::to_string(buggy(name)));
    EXPECT_NEAR(buggy("sag_ratio"), 1, 0.005) << speed;
    EXPECT_NEAR(buggy("half_period_ratio"), 1, 0.05) << speed;
    EXPECT_NEAR(buggy("turn_ratio"), 1, 0.02) << speed;
    EXPECT_NEAR(buggy("understeer_ratio"), 1, 0.15) << speed;
  }
}

}  // namespace
}  // namespace volvox::experiments::swarmsimx
