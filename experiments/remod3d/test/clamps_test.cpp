// Docks with jaws, and flush faces, in experiments.
#include <gtest/gtest.h>

#include "study.h"

namespace volvox::experiments::remod3d {
namespace {

// Seeds that nothing was tuned to: every hand finds its socket, and slips at friction times force.
TEST(Clamps, FindTheirSocketByHowTheyJam) {
  int jams = 0;
  for (const std::uint64_t seed : seeds(7001, 7040)) {
    const auto report = run("remod3d/clamps", {}, 100, seed);
    const auto hand = [&](const char* name) { return metric(report, name); };
    EXPECT_EQ(hand("latched"), 1) << seed;
    EXPECT_EQ(hand("slipped"), 1) << seed;
    EXPECT_GE(hand("close_time_ratio"), 0.99) << seed;
    EXPECT_LE(hand("close_time_ratio"), 1.15) << seed;
    EXPECT_NEAR(hand("held_ratio"), 1, 0.03) << seed;
    EXPECT_NEAR(hand("slid_ratio"), 1, 0.03) << seed;
    jams += hand("jams") > 0;
  }
  EXPECT_GE(jams, shortened(20)) << "or this shows nothing";
}

TEST(Clamps, GoOnFromASnapshot) {
  sim::RunOptions options;
  options.experiment = "remod3d/clamps";
  options.seed = 7001;
  for (const double at : {1.5, 6.0, 14.0}) {
    options.duration = at;
    options.restore_from = {};
    options.save_to = testing::TempDir() + "clamps.snap";
    run(options);
    options.duration = 20;
    options.restore_from = options.save_to;
    options.save_to = {};
    const std::uint64_t second = run(options).state_hash;
    options.restore_from = {};
    EXPECT_EQ(second, run(options).state_hash) << at;
  }
}

TEST(Clamps, TheSameAtAnyNumberOfThreads) {
  EXPECT_EQ(run("remod3d/clamps", {}, 10, 3).state_hash, run("remod3d/clamps", {}, 10, 3, "native", 3).state_hash);
}

// v^2 / (2 mu g) = 0.6796 m, less the half of a substep's way by which its integration brakes early.
TEST(FlushFaces, ABlockStopsOnItsRail) {
  const double moved = metric(run("remod3d/flush_faces", {}, 2), "moved_m");
  EXPECT_NEAR(moved, 0.6796 - 0.5 * 2.0 / 240, 1e-3);
}

}  // namespace
}  // namespace volvox::experiments::remod3d
