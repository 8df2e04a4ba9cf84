#include "volvox/sim/pacing.h"
#include "volvox/base/index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "volvox/base/platform/real_time.h"

namespace volvox::sim {
namespace {

constexpr std::int64_t ms = 1'000'000;

// Time passes only by sleep and work.
class FakeClock final : public WallClock {
 public:
  std::int64_t now_ns() override { return now; }
  void sleep_until_ns(std::int64_t moment) override {
    slept.push_back(moment);
    now = std::max(now, moment + wakes_late);
  }
  std::int64_t now = 7'123'456'789;
  std::int64_t wakes_late = 0;
  std::vector<std::int64_t> slept;
};

void tick(Pacer& pacer, FakeClock& clock, std::int64_t work) {
  pacer.begin_tick();
  clock.now += work;
  pacer.end_tick();
  pacer.wait(nullptr);
}

TEST(Pacer, waits_to_absolute_deadlines_however_late_it_is_woken) {
  FakeClock clock;
  clock.wakes_late = ms / 10;
  const std::int64_t begin = clock.now;
  Pacer pacer({1, 60}, 1, clock);
  pacer.start(0);
  for (int i = 0; i < 60; ++i) tick(pacer, clock, 3 * ms);
  EXPECT_EQ(clock.slept.back(), begin + 1'000'000'000);  // no error has added up in a second
  EXPECT_EQ(pacer.report().late_ticks, 0);
  EXPECT_DOUBLE_EQ(pacer.report().drift, 0);
  EXPECT_NEAR(pacer.report().wake_delays.quantile(0.5), 1e-4, 1e-6);
  EXPECT_NEAR(pacer.report().tick_times.quantile(0.5), 3e-3, 3e-5);
}

TEST(Pacer, makes_up_for_a_backlog_and_counts_what_was_late) {
  FakeClock clock;
  const std::int64_t begin = clock.now;
  Pacer pacer({1, 100}, 1, clock);
  pacer.start(0);
  tick(pacer, clock, 35 * ms);  // 25 ms late; two ticks of 4 ms make up for 6 ms each
  for (int i = 0; i < 3; ++i) tick(pacer, clock, 4 * ms);
  EXPECT_TRUE(pacer.late());
  EXPECT_EQ(pacer.report().late_ticks, 4);
  EXPECT_NEAR(pacer.report().worst_lateness, 25e-3, 1e-12);
  EXPECT_NEAR(pacer.report().drift, 7e-3, 1e-12);
  EXPECT_TRUE(clock.slept.empty());
  for (int i = 0; i < 6; ++i) tick(pacer, clock, 4 * ms);
  EXPECT_EQ(pacer.report().late_ticks, 5);
  EXPECT_EQ(clock.now, begin + 100 * ms);  // as if no tick had been late
  EXPECT_DOUBLE_EQ(pacer.report().drift, 0);
}

TEST(Pacer, runs_faster_or_slower_by_a_factor) {
  FakeClock clock;
  const std::int64_t begin = clock.now;
  Pacer pacer({1, 60}, 4, clock);
  pacer.start(600);  // as after a restore
  for (int i = 0; i < 120; ++i) tick(pacer, clock, ms);
  EXPECT_EQ(clock.now, begin + 500 * ms);
  EXPECT_NEAR(pacer.report().tick_length, 1.0 / 240, 1e-15);
}

TEST(Pacer, stops_on_request_within_a_long_tick) {
  FakeClock clock;
  Pacer pacer({3600, 1}, 1, clock);
  pacer.start(0);
  pacer.begin_tick();
  pacer.end_tick();
  const std::atomic<bool> stop = true;
  EXPECT_FALSE(pacer.wait(&stop));
  EXPECT_TRUE(clock.slept.empty());
}

TEST(Pacer, keeps_time_with_the_real_clock) {
  Pacer pacer({1, 200}, 1);
  const std::int64_t begin = platform::monotonic_ns();
  pacer.start(0);
  for (int i = 0; i < 10; ++i) {
    pacer.begin_tick();
    pacer.end_tick();
    pacer.wait(nullptr);
  }
  EXPECT_GE(platform::monotonic_ns() - begin, 50 * ms);  // never early; the lateness depends on the machine
}

TEST(TimeDistribution, quantiles_are_those_of_the_sorted_times_to_a_hundredth) {
  std::mt19937_64 random(5);
  std::lognormal_distribution<double> times(std::log(2e5), 1.5);
  std::vector<std::int64_t> all;
  TimeDistribution distribution;
  for (int i = 0; i < 20'000; ++i) {
    all.push_back(truncated<std::int64_t>(times(random)));
    distribution.add(all.back());
  }
  std::sort(all.begin(), all.end());
  for (const double part : {0.01, 0.25, 0.5, 0.75, 0.99, 0.999}) {
    const double exact = real(all[truncated(std::ceil(part * 20'000)) - 1]) * 1e-9;
    EXPECT_NEAR(distribution.quantile(part), exact, 0.01 * exact) << part;
  }
  EXPECT_DOUBLE_EQ(distribution.shortest(), real(all.front()) * 1e-9);
  EXPECT_DOUBLE_EQ(distribution.quantile(1), real(all.back()) * 1e-9);
}

TEST(TimeDistribution, holds_every_time_there_is) {
  TimeDistribution distribution;
  for (const std::int64_t ns :
       {INT64_C(-5), INT64_C(0), INT64_C(1), INT64_C(255), INT64_C(256), INT64_C(257), INT64_MAX})
    distribution.add(ns);
  EXPECT_EQ(distribution.count(), 7);
  EXPECT_DOUBLE_EQ(distribution.quantile(0), 0);
  EXPECT_NEAR(distribution.longest(), 9.223e9, 1e7);
  EXPECT_EQ(TimeDistribution().quantile(0.5), 0);
}

TEST(TimeDistribution, a_box_keeps_outliers_apart) {
  TimeDistribution distribution;
  for (int i = 100; i <= 200; ++i) distribution.add(i);  // ns, each with a bucket of its own
  distribution.add(100'000);
  const Box box = distribution.box("ticks");
  EXPECT_NEAR(box.median, 150e-9, 2e-9);
  EXPECT_NEAR(box.high, 200e-9, 1e-9);
  ASSERT_EQ(box.outliers.size(), 1u);
  EXPECT_NEAR(box.outliers[0], 1e-4, 1e-6);
}

TEST(RealTimePriority, says_what_the_system_allowed) {
  const platform::LockedMemory memory;
  const platform::RealTimePriority priority;
  EXPECT_FALSE(priority.scheduling().empty());
  EXPECT_FALSE(memory.outcome().empty());
}

}  // namespace
}  // namespace volvox::sim
