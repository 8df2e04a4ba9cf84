// The outcomes of the ReMod3D paper's experiments, on native and on another engine. The figures over many seeds in the
// experiments' READMEs are measured with `volvox sweep`.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <span>
#include <stdexcept>

#include "study.h"
#include "volvox/world/start_check.h"

namespace volvox::experiments::remod3d {
namespace {

struct Outcome {
  std::map<std::string, double> metrics;
  std::uint64_t hash = 0;
  double operator[](const std::string& name) const { return metrics.at(name); }
};

Outcome run(const sim::RunOptions& options) {
  const sim::RunReport report = experiments::run(options);
  Outcome outcome{{}, report.state_hash};
  for (const sim::Metric& metric : report.metrics.all()) outcome.metrics[metric.name] = metric.value;
  return outcome;
}

Outcome run(const std::string& experiment, const std::string& engine, double duration, std::uint64_t seed = 1,
            std::map<std::string, std::string> settings = {}, int threads = 1) {
  sim::RunOptions options;
  options.experiment = experiment;
  options.engine = engine;
  options.duration = duration;
  options.seed = seed;
  options.settings = std::move(settings);
  options.threads = threads;
  return run(options);
}

// Calls test(engine, seed) with each of the seeds on native and with the first `others` of them on other engines, most
// of which are slower. What fails says with which.
template <class Test>
void on_engines(std::initializer_list<const char*> engines, Test&& test, std::size_t others = 1) {
  for (const char* engine : engines)
    for (const std::uint64_t seed :
         std::span(test_seeds).first(engine == std::string("native") ? std::size(test_seeds) : others)) {
      SCOPED_TRACE(engine + std::string(", seed ") + std::to_string(seed));
      test(engine, seed);
    }
}

TEST(Breakage, DocksBreakAndMomentumStays) {
  on_engines({"native", "ode"}, [](const char* engine, std::uint64_t seed) {
    const Outcome hit = run("remod3d/breakage", engine, 0.5, seed);
    EXPECT_GE(hit["docks_broken"], 20);
    EXPECT_LE(hit["docks_broken"], 70);
    EXPECT_LT(hit["momentum_error"], 1e-3);
    EXPECT_GE(hit["dock_load_max"], 1) << "the highest load must be one that broke a dock";
  });
  on_engines({"native"}, [](const char* engine, std::uint64_t seed) {
    EXPECT_EQ(run("remod3d/breakage", engine, 0.5, seed, {{"strength", "1000"}})["docks_broken"], 0);
  });
}

// A single run is chaotic: 45 to 58 docks break at any tick length. So the means over seeds are compared.
TEST(Breakage, WhatBreaksDoesNotDependOnTheTick) {
  constexpr int first = 11, seeds = 6;
  std::map<std::string, double> broken;
  for (const char* dt : {"1/60", "1/120", "1/240"}) {
    for (int seed = first; seed < first + seeds; ++seed) {
      sim::RunOptions options;
      options.experiment = "remod3d/breakage";
      options.dt = *TickLength::parse(dt);
      options.duration = 0.6;
      options.seed = seed;
      const Outcome hit = run(options);
      broken[dt] += hit["docks_broken"] / seeds;
      EXPECT_LT(hit["momentum_error"], 1e-3) << dt << ", seed " << seed;
    }
  }
  EXPECT_NEAR(broken["1/60"], broken["1/240"], 0.1 * broken["1/240"]);
  EXPECT_NEAR(broken["1/120"], broken["1/240"], 0.1 * broken["1/240"]);
}

TEST(Breakage, EveryRunValidatesItsGait) {
  on_engines({"native"}, [](const char* engine, std::uint64_t seed) {
    const Outcome gait = run("remod3d/complex_structure", engine, 4, seed);
    EXPECT_EQ(gait["docks_broken"], 0);
    EXPECT_GT(gait["dock_load_max"], 0.01);
    EXPECT_LT(gait["dock_load_max"], 1);
    // A SuperBot's dock breaks at a bending moment of 20 N m.
    EXPECT_GE(gait["dock_load_max"], gait["dock_bending_max_Nm"] / 20 * 0.999);
    const Outcome hit = run("remod3d/breakage", engine, 0.2, seed, {{"strength", "1000"}});
    EXPECT_GT(hit["dock_bending_max_Nm"], 0.3 * 20) << "above the default strength of the docks";
  });
}

TEST(Wheelbot, DrivesAmongObstaclesAndTouchesNone) {
  on_engines({"native", "bullet"}, [](const char* engine, std::uint64_t seed) {
    const Outcome drive = run("remod3d/wheelbot", engine, 40, seed);
    EXPECT_GT(drive["path_m"], 6);
    EXPECT_GT(drive["gap_min_m"], 0.02);
    EXPECT_GT(drive["visited"], 0.15);
  });
  // It depends on its sensor: with ranges that are mostly noise it turns more than it drives.
  on_engines({"native"}, [](const char* engine, std::uint64_t seed) {
    EXPECT_LT(run("remod3d/wheelbot", engine, 40, seed, {{"noise", "1"}})["path_m"], 6);
  });
}

// Seed 2 has a corner that it can leave only between a pillar and the wall.
TEST(Wheelbot, LeavesACornerByTheGapItCameIn) {
  const Outcome drive = run("remod3d/wheelbot", "native", 40, 2);
  EXPECT_GT(drive["path_m"], 6);
  EXPECT_GT(drive["visited"], 0.15);
}

TEST(AtronCar, DrivesOnItsWheels) {
  on_engines({"native", "bullet"}, [](const char* engine, std::uint64_t seed) {
    const Outcome ahead = run("remod3d/atron_car", engine, 10, seed);
    EXPECT_GT(ahead["forward_m"], 0.15);
    EXPECT_GT(ahead["forward_m"], 0.95 * ahead["distance_m"]);
    EXPECT_EQ(ahead["docks_engaged"], 4);
    EXPECT_LT(run("remod3d/atron_car", engine, 10, seed, {{"speed", "-1"}})["forward_m"], -0.15);
  });
}

TEST(EightShape, StandsTwistsAndRolls) {
  on_engines({"native", "bullet"}, [](const char* engine, std::uint64_t seed) {
    const Outcome still = run("remod3d/eight_shape", engine, 3, seed, {{"waist", "0"}, {"speed", "0"}});
    EXPECT_LT(still["distance_m"], 0.01);
    EXPECT_EQ(still["docks_engaged"], 8);
    const Outcome rolls = run("remod3d/eight_shape", engine, 10, seed);
    EXPECT_GT(rolls["forward_m"], 0.2);
    EXPECT_EQ(rolls["docks_engaged"], 8);
  });
}

TEST(ComplexStructure, StandsAndWalksInStepByMessages) {
  on_engines({"native", "bullet"}, [](const char* engine, std::uint64_t seed) {
    const Outcome walks = run("remod3d/complex_structure", engine, 10, seed);
    EXPECT_GT(walks["forward_m"], 0.1);
    EXPECT_GT(walks["height_min_m"], 0.13) << "it must stay on its legs";
    EXPECT_EQ(walks["docks_broken"], 0);
    EXPECT_LT(walks["phase_spread_rad"], 1e-3);
  });
  on_engines({"native"}, [](const char* engine, std::uint64_t seed) {
    const Outcome deaf = run("remod3d/complex_structure", engine, 5, seed, {{"listens", "false"}});
    EXPECT_GT(deaf["phase_spread_rad"], 1) << "clocks that start apart stay apart without messages";
  });
}

TEST(Terrain, NothingOverlapsAtTheStart) {
  for (const std::uint64_t seed : test_seeds) {
    sim::RunOptions options;
    options.experiment = "remod3d/terrain";
    options.settings = {{"pool", "false"}};
    options.seed = seed;
    const auto run = prepared(options);
    EXPECT_TRUE(world::start_warnings(run->simulation().world()).empty()) << seed;
  }
}

TEST(Terrain, TheSnakeGetsOnOverHillsAndObstacles) {
  on_engines({"native", "bullet"}, [](const char* engine, std::uint64_t seed) {
    // The water takes most of the time: once is enough.
    const bool pool = engine == std::string("native") && seed == test_seeds[0];
    const Outcome crawls = run("remod3d/terrain", engine, 8, seed, {{"pool", pool ? "true" : "false"}});
    if (pool) {
      EXPECT_GT(crawls["water_particles"], 900) << "the hollow holds it";
    }
    EXPECT_GT(crawls["forward_m"], 0.2);
    EXPECT_GE(crawls["obstacles"], 200);
    EXPECT_LE(crawls["below_ground_m"], 0);
    EXPECT_LT(crawls["phase_spread_rad"], 1e-3);
    EXPECT_EQ(crawls["docks_broken"], 0);
  });
  double forward = 0;  // mean over the seeds
  on_engines({"native"}, [&](const char* engine, std::uint64_t seed) {
    const Outcome deaf =
        run("remod3d/terrain", engine, 8, seed, {{"listens", "false"}, {"obstacles", "0"}, {"pool", "false"}});
    EXPECT_GT(deaf["phase_spread_rad"], 1);
    forward += deaf["forward_m"] / std::size(test_seeds);
  });
  EXPECT_LT(forward, 0.2) << "without a common phase chance decides whether it creeps forwards or back";
}

TEST(CarDock, TwoCarsBecomeOneAndThreeModulesDriveAway) {
  on_engines(
      {"native", "bullet"},
      [](const char* engine, std::uint64_t seed) {
        const Outcome cars = run("remod3d/car_dock", engine, 55, seed);
        EXPECT_EQ(cars["docked"], 1);
        EXPECT_EQ(cars["succeeded"], 1);
        EXPECT_EQ(cars["docks_broken"], 0);
        EXPECT_EQ(cars["organisms"], 2);
      },
      3);
}

TEST(Scatter, MovesAllMotorsAndNothingSinks) {
  on_engines({"native", "bullet"}, [](const char* engine, std::uint64_t seed) {
    const Outcome moved = run("remod3d/scatter", engine, 3, seed, {{"modules", "20"}});
    EXPECT_NEAR(moved["joint_angle_mean_rad"], 0.5, 0.02) << "every motor is at one of its two angles";
    EXPECT_EQ(moved["below_ground_m"], 0);
    EXPECT_EQ(moved["organisms"], 20);
  });
}

TEST(Swarm, EveryRobotDrivesStaysOnItsWheelsAndKeepsItsPlace) {
  for (const std::uint64_t seed : test_seeds) {
    SCOPED_TRACE(seed);
    sim::RunOptions options;
    options.experiment = "remod3d/swarm";
    options.settings = {{"side", "3"}};
    options.seed = seed;
    const auto run = prepared(options);
    const world::World& world = run->simulation().world();
    const auto pose = [&](world::PlacementIndex robot) { return world.link_pose(world.part(robot).first_link); };
    std::vector<Vec3> at;
    std::vector<double> way(world.modules().size(), 0);
    for (const world::PlacementIndex robot : world.modules()) at.push_back(pose(robot).position);
    for (int tick = 0; tick < 5 * 60; ++tick) {
      ASSERT_TRUE(run->step().ok());
      for (std::size_t i = 0; i < at.size(); ++i) {
        const Pose now = pose(world.modules()[i]);
        way[i] += length(now.position - at[i]);
        at[i] = now.position;
        ASSERT_GT((now.rotation * Vec3{0, 0, 1}).z, 0.98) << "robot " << i << " tips over, in tick " << tick;
        for (std::size_t k = 0; k < i; ++k)
          ASSERT_GT(length(at[i] - at[k]), 0.18) << "robots " << k << " and " << i << " are in one place";
      }
    }
    for (std::size_t i = 0; i < way.size(); ++i) EXPECT_GT(way[i], 0.3) << "robot " << i;
  }
}

// A run restored from a snapshot ends with the same state and the same metrics as one that never stopped.
TEST(Experiments, GoOnFromASnapshotAsIfNothingHadBeen) {
  for (const char* experiment :
       {"remod3d/breakage", "remod3d/complex_structure", "remod3d/car_dock", "remod3d/wheelbot"}) {
    sim::RunOptions options;
    options.experiment = experiment;
    options.duration = 0.3;
    options.save_to = testing::TempDir() + "half.snap";
    run(options);
    options.duration = 0.6;
    options.restore_from = options.save_to;
    options.save_to = {};
    const Outcome second = run(options);
    options.restore_from = {};
    const Outcome whole = run(options);
    EXPECT_EQ(second.hash, whole.hash) << experiment;
    ASSERT_EQ(second.metrics.size(), whole.metrics.size()) << experiment;
    for (const auto& [name, value] : whole.metrics) {
      const bool measured = !std::isnan(value);
      EXPECT_EQ(measured, !std::isnan(second[name])) << experiment << ", " << name;
      if (measured) {
        EXPECT_EQ(second[name], value) << experiment << ", " << name;
      }
    }
  }
}

TEST(Experiments, AreTheSameAtAnyNumberOfThreads) {
  for (const char* experiment :
       {"remod3d/breakage", "remod3d/eight_shape", "remod3d/complex_structure", "remod3d/car_dock"})
    EXPECT_EQ(run(experiment, "native", 0.5).hash, run(experiment, "native", 0.5, 1, {}, 3).hash) << experiment;
}

}  // namespace
}  // namespace volvox::experiments::remod3d
