#include "volvox/base/time.h"

#include <gtest/gtest.h>

namespace volvox {
namespace {

TEST(TickLength, ReadsFractionsAndDecimals) {
  EXPECT_EQ(TickLength::parse("1/60")->text(), "1/60");
  EXPECT_EQ(TickLength::parse("2/120")->text(), "1/60");
  EXPECT_EQ(TickLength::parse("0.01")->text(), "1/100");
  EXPECT_EQ(TickLength::parse("1")->text(), "1");
  for (const char* bad : {"", "0", "-1/60", "1/0", "x", "1/60s", "1e9", "nan", "inf", "1/2/3", "99999999999999999999"})
    EXPECT_FALSE(TickLength::parse(bad).ok()) << bad;
}

TEST(TickLength, TicksDoNotDrift) {
  const TickLength dt{1, 60};
  EXPECT_EQ(dt.start_of(0).ns, 0);
  EXPECT_EQ(dt.start_of(1).ns, 16'666'666);
  EXPECT_EQ(dt.start_of(60).ns, 1'000'000'000);
  EXPECT_EQ(dt.start_of(60LL * 86400 * 365).ns, 86400LL * 365 * 1'000'000'000);
}

TEST(TickLength, CountsTheTicksThatCoverADuration) {
  const TickLength dt{1, 60};
  EXPECT_EQ(dt.ticks_in(Time::seconds(0)), 0);
  EXPECT_EQ(dt.ticks_in(Time::seconds(1)), 60);
  EXPECT_EQ(dt.ticks_in({1'000'000'001}), 61);
  EXPECT_EQ(dt.ticks_in({1}), 1);
  EXPECT_EQ((TickLength{1, 3}).ticks_in(Time::seconds(1000)), 3000);
}

}  // namespace
}  // namespace volvox
