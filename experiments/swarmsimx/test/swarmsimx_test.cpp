// The results of the SwarmSimX paper that our model reproduces, on native and on bullet; and the same bits at one and
// two threads and after a restore.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "attitude_controller.h"
#include "study.h"
#include "volvox/base/test/temporary_folder.h"

namespace volvox::experiments::swarmsimx {
namespace {

// Another number of threads, and a restore half way, give the same bits.
void expect_the_same_bits(sim::RunOptions options, double duration) {
  options.duration = duration;
  const std::uint64_t one = run(options).state_hash;
  options.threads = 2;
  EXPECT_EQ(run(options).state_hash, one);

  const TemporaryFolder folder;
  options.duration = duration / 2;
  options.save_to = folder / "half.snap";
  run(options);
  options.duration = duration;
  options.restore_from = options.save_to;
  std::uint64_t rest[2];
  for (int threads : {1, 2}) {
    options.threads = threads;
    options.save_to = folder / "end.snap";
    rest[threads - 1] = run(options).state_hash;
  }
  EXPECT_EQ(rest[0], rest[1]);
}

TEST(AttitudeController, RootsAreWhole) {
  const auto expect_root = [](std::int64_t n) {
    const std::uint64_t root = robots::integer_root(n), number = n;
    ASSERT_LE(root * root, number);
    ASSERT_GT((root + 1) * (root + 1), number);
  };
  for (std::int64_t n = 0; n < 100'000; ++n) expect_root(n);
  for (std::int64_t root = 1; root < 3'037'000'000; root = root * 17 / 16 + 1)
    for (const std::int64_t off : {-1, 0, 1}) expect_root(root * root + off);
  for (int bit = 1; bit < 63; ++bit)
    for (const std::int64_t off : {-1, 0, 1}) expect_root((std::int64_t{1} << bit) + off);
  expect_root(INT64_MAX);
  EXPECT_EQ(robots::integer_root(-4), 0);
}

// With a gyroscope alone, the estimate of up is right to a tenth of a degree after ten turns.
TEST(AttitudeController, KnowsWhereUpIs) {
  robots::AttitudeController controller(robots::AttitudeGains{96, 800, 2500, 0, 640000});
  const double rate = 1024 * 2 * pi / 10;  // Q10: ten seconds a turn
  for (int i = 0; i < 2500 * 10 + 625; ++i)
    controller.step({narrow<std::int32_t>(std::lround(rate)), 0, 0}, {}, {0, 0, 0, 200000}, 4000);
  const robots::FixedVector up = controller.up();  // after a quarter turn about x, up is along +y
  const double turned = real(std::lround(rate)) / 1024 * 0.004 * (2500 * 10 + 625);
  EXPECT_NEAR(up.y / 16384.0, std::sin(turned), 2e-3);
  EXPECT_NEAR(up.z / 16384.0, std::cos(turned), 2e-3);
}

TEST(AttitudeController, RightsItself) {
  robots::AttitudeController controller(robots::AttitudeGains{96, 800, 2500, 20'000'000, 640000});
  const auto level = controller.step({}, {0, 0, 2511}, {0, 0, 0, 222'784}, 4000);
  EXPECT_EQ(level[0], level[2]);
  EXPECT_NEAR(level[0] / 4.0, 472, 0.3);
  const auto rolling = controller.step({512, 0, 0}, {0, 0, 2511}, {0, 0, 0, 222'784},
                                       4000);  // rolls to the right: the right rotor must push
  EXPECT_GT(rolling[3], rolling[1]);
  const auto leaning = controller.step({}, {0, 0, 2511}, {-2000, 0, 0, 222'784},
                                       4000);  // must lean towards +x: the back rotor must push
  EXPECT_GT(leaning[2], leaning[0]);
  const auto turning = controller.step({}, {0, 0, 2511}, {0, 0, 512, 222'784},
                                       4000);  // must turn left: the rotors that turn right must push
  EXPECT_GT(turning[1] + turning[3], turning[0] + turning[2]);
}

class OnEngine : public testing::TestWithParam<const char*> {
 protected:
  sim::RunOptions options(const char* experiment) const {
    sim::RunOptions options;
    options.experiment = experiment;
    options.engine = GetParam();
    return options;
  }
};

// The errors have the paper's order of magnitude, and its main finding holds: the vertical eight has the smaller error.
TEST_P(OnEngine, EightsAreFlownAsInFigure4) {
  sim::RunOptions eights = options("swarmsimx/figure_eight");
  eights.duration = 32;  // two eights
  for (const std::uint64_t seed : test_seeds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    eights.seed = seed;
    const sim::RunReport report = run(eights);
    for (const char* name : {"horizontal_mean_m", "horizontal_std_m", "vertical_mean_m", "vertical_std_m"}) {
      const double ours = metric(report, name), paper = *report.metrics.find(name)->paper;
      EXPECT_GT(ours, paper / 3) << name;
      EXPECT_LT(ours, paper * 3) << name;
    }
    EXPECT_LT(metric(report, "vertical_mean_m"), 0.8 * metric(report, "horizontal_mean_m"));
    EXPECT_LT(metric(report, "vertical_std_m"), metric(report, "horizontal_std_m"));
  }
}

TEST_P(OnEngine, EightsHaveTheSameBits) { expect_the_same_bits(options("swarmsimx/figure_eight"), 4); }

// No robot touches another (rotors reach 0.33 m) or a pillar while the sphere moves over the pillars, and the robots
// stay on the sphere.
TEST_P(OnEngine, AFormationKeepsItsDistances) {
  sim::RunOptions formation = options("swarmsimx/formation");
  formation.settings["robots"] = "30";
  formation.duration = 14;  // the sphere is at its farthest at 10 s
  for (const std::uint64_t seed : test_seeds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    formation.seed = seed;
    const sim::RunReport report = run(formation);
    EXPECT_GT(metric(report, "min_distance_m"), 0.66);
    EXPECT_GT(metric(report, "min_obstacle_m"), 0.33);
    EXPECT_LT(metric(report, "min_obstacle_m"), 1.6);  // or nothing had to be avoided
    EXPECT_LT(metric(report, "sphere_error_m"), 0.5);
    EXPECT_GT(metric(report, "tick_median_ms"), 0);
  }
}

TEST_P(OnEngine, FormationsHaveTheSameBits) {
  sim::RunOptions formation = options("swarmsimx/formation");
  formation.settings["robots"] = "40";  // enough to be worth two threads
  expect_the_same_bits(formation, 1);
}

// Figure 3, middle: both robots grasp the bar and carry it through the door, which closes behind them.
TEST_P(OnEngine, TheBarIsCarriedThroughTheDoor) {
  sim::RunOptions grasp = options("swarmsimx/grasp");
  for (const std::uint64_t seed : test_seeds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    grasp.seed = seed;
    const sim::RunReport report = run(grasp);
    EXPECT_EQ(metric(report, "grasps"), 2);
    EXPECT_GT(metric(report, "lifted_m"), 0.15);
    EXPECT_NEAR(metric(report, "carried_m"), 4.5, 0.3);
    EXPECT_LT(metric(report, "aside_m"), 0.2);
    EXPECT_LT(metric(report, "gripper_load"), 1);
    EXPECT_GT(metric(report, "door_open_m"), 1.35);
    EXPECT_LT(metric(report, "door_end_m"), 0.05);
  }
}

// No robot acts by the clock: a Wheelbot that starts farther away comes later, and the quadrotor waits for it.
TEST(Grasp, TheQuadrotorWaitsForALateWheelbot) {
  sim::RunOptions late;
  late.experiment = "swarmsimx/grasp";
  late.settings = {{"wheels_at", "-1.75"}, {"way", "0.6"}};  // 8 s more at 0.1 m/s
  late.duration = 26;
  for (const std::uint64_t seed : test_seeds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    late.seed = seed;
    const sim::RunReport report = run(late);
    EXPECT_EQ(metric(report, "grasps"), 2);
    EXPECT_NEAR(metric(report, "carried_m"), 0.6, 0.1);
    EXPECT_GT(metric(report, "lifted_m"), 0.15);
    EXPECT_EQ(metric(report, "docks_released"), 1);  // put down
  }
}

// Section 4: the engine is changed in the middle of a run. Nothing jumps, docks hold, and all go on.
TEST(Exchange, EnginesTakeTurns) {
  sim::RunOptions exchange;
  exchange.experiment = "swarmsimx/exchange";
  exchange.settings["every"] = "1.5";
  exchange.duration = 9;
  for (const std::uint64_t seed : test_seeds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    exchange.seed = seed;
    const sim::RunReport report = run(exchange);
    EXPECT_EQ(metric(report, "exchanges"), 5);
    EXPECT_EQ(metric(report, "exchange_jump_m"), 0);
    EXPECT_LT(metric(report, "exchange_kick_m"), metric(report, "usual_kick_m"));
    EXPECT_EQ(metric(report, "docks_broken"), 0);
    EXPECT_GT(metric(report, "snake_m"), 0.3);
    EXPECT_LT(metric(report, "dock_gap_max_m"), 2e-3);
    EXPECT_LT(metric(report, "eight_mean_m"), 0.35);  // it still follows its target
  }
}

TEST(Exchange, HasTheSameBits) {
  sim::RunOptions exchange;
  exchange.experiment = "swarmsimx/exchange";
  exchange.settings["every"] = "0.5";
  expect_the_same_bits(exchange, 2.5);
}

TEST(Exchange, UnknownEnginesAreNamed) {
  sim::RunOptions exchange;
  exchange.experiment = "swarmsimx/exchange";
  exchange.settings["engines"] = "native physx";
  try {
    run(exchange);
    FAIL() << "it ran";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("there is no engine 'physx'"), std::string::npos) << error.what();
  }
}

TEST_P(OnEngine, GraspsHaveTheSameBits) { expect_the_same_bits(options("swarmsimx/grasp"), 12); }

INSTANTIATE_TEST_SUITE_P(Engines, OnEngine, testing::Values("native", "bullet"),
                         [](const auto& on) { return std::string(on.param); });

}  // namespace
}  // namespace volvox::experiments::swarmsimx
