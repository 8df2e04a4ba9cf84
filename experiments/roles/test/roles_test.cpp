// The results of the role-based control paper on gaits and their robustness, on two engines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gait_roles.h"
#include "shape_roles.h"
#include "study.h"
#include "volvox/base/test/temporary_folder.h"
#include "volvox/mind/roles.h"

namespace volvox::experiments::roles {
namespace {

constexpr double T = 2.5, tick = 1.0 / 72;  // s

class Engines : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Roles, Engines, testing::Values("native", "bullet"),
                         [](const auto& engine) { return std::string(engine.param); });

// Section 5: "after 6T/5 all modules are synchronized"; 5.1 cm/s, which we require within a factor of two.
TEST_P(Engines, SidewinderSynchronizesAndMoves) {
  for (const std::uint64_t seed : test_seeds) {
    const auto report = run("roles/sidewinder", {}, 20, seed, GetParam());
    EXPECT_LE(metric(report, "sync_time_s"), 6 * T / 5 + 6 * tick + tick) << "seed " << seed;
    EXPECT_EQ(metric(report, "in_step"), 6);
    EXPECT_GT(metric(report, "speed_m_s"), 0.051 / 2) << "seed " << seed;
    EXPECT_LT(metric(report, "speed_m_s"), 0.051 * 2) << "seed " << seed;
    EXPECT_EQ(metric(report, "docks_broken"), 0);
  }
}

// 87 cm in 28.25 s: 3.1 cm/s.
TEST_P(Engines, WalkerSynchronizesAndWalks) {
  for (const std::uint64_t seed : test_seeds) {
    const auto report = run("roles/walker", {}, 20, seed, GetParam());
    EXPECT_LE(metric(report, "sync_time_s"), T / 2 + 3 * T / 4 + 2 * tick + tick)
        << "seed " << seed << ": the last leg is two hops away";
    EXPECT_EQ(metric(report, "in_step"), 5);
    EXPECT_GT(metric(report, "speed_m_s"), 0.031 / 2) << "seed " << seed;
    EXPECT_LT(metric(report, "speed_m_s"), 0.031 * 2) << "seed " << seed;
    EXPECT_LT(std::abs(metric(report, "heading_deg")), 45) << "it must walk forward";
    EXPECT_EQ(metric(report, "docks_broken"), 0) << "seed " << seed;
  }
}

// Legs that moved before they were in step broke a dock with 13 of 40 seeds, 102 and 105 among them.
TEST_P(Engines, ALegStandsUntilItIsInStep) {
  for (const std::uint64_t seed : {102, 105})
    EXPECT_EQ(metric(run("roles/walker", {}, 6, seed, GetParam()), "docks_broken"), 0) << "seed " << seed;
}

// hardware.md: servos that cannot follow the yaw are as slow as the real robot; what does not matter there, does not
// here.
TEST(Roles, SlowServosMakeTheSidewinderAsSlowAsThePapers) {
  std::vector<double> slow, loose;
  for (const std::uint64_t seed : test_seeds) {
    slow.push_back(metric(run("roles/sidewinder", {{"servo_speed", "1.3"}}, 20, seed), "speed_m_s"));
    loose.push_back(
        metric(run("roles/sidewinder", {{"play", "2"}, {"dead_band", "2"}, {"cable", "0.05"}}, 20, seed), "speed_m_s"));
  }
  std::sort(slow.begin(), slow.end()), std::sort(loose.begin(), loose.end());
  EXPECT_NEAR(slow[slow.size() / 2], 0.051, 0.012);
  EXPECT_GT(loose[loose.size() / 2], 0.075);
}

TEST(Roles, ALongerPeriodAndLateSignalsAreWhatTheySay) {
  EXPECT_NEAR(metric(run("roles/sidewinder", {{"period", "4"}}, 20, 11), "sync_time_s"), 6 * 4.0 / 5, 0.2);
  const double late = metric(run("roles/sidewinder", {{"delay", "0.1"}}, 20, 11), "gait_speed_m_s");
  EXPECT_LT(late, 0.9 * metric(run("roles/sidewinder", {}, 20, 11), "gait_speed_m_s"));
}

// The same role program on two robots.
TEST_P(Engines, CaterpillarsCrawlOnTwoRobots) {
  for (const char* robot : {"conro", "superbot"})
    for (const std::uint64_t seed : test_seeds) {
      const auto report = run("roles/caterpillar", {{"robot", robot}}, 12, seed, GetParam());
      EXPECT_EQ(metric(report, "in_step"), 7) << robot << ", seed " << seed;
      EXPECT_LE(metric(report, "sync_time_s"), 7 * T / 5 + 7 * tick + tick) << robot << ", seed " << seed;
      EXPECT_GT(metric(report, "speed_m_s"), 0.01) << robot << ", seed " << seed;
      EXPECT_LT(std::abs(metric(report, "heading_deg")), 10) << robot << ", seed " << seed;
    }
}

// Section 6: each module gets one signal per period, so the speed does not depend on the number of modules.
TEST(Roles, SpeedDoesNotDependOnTheNumberOfModules) {
  for (const std::uint64_t seed : test_seeds) {
    const auto speed = [seed](const char* modules) {
      return metric(run("roles/caterpillar", {{"modules", modules}, {"settle", "18"}}, 28, seed), "speed_m_s");
    };
    const double few = speed("8");
    EXPECT_NEAR(speed("16") / few, 1, 0.1) << "seed " << seed;
    EXPECT_NEAR(speed("30") / few, 1, 0.1) << "seed " << seed;
  }
}

// Section 2.2: three of the five have the same neighbourhood.
TEST_P(Engines, AnArmFindsItsParts) {
  for (const std::uint64_t seed : test_seeds) {
    const auto report = run("roles/arm", {}, 8, seed, GetParam());
    EXPECT_EQ(metric(report, "parts_found"), 5) << "seed " << seed;
    EXPECT_LT(metric(report, "found_time_s"), 5 * 2 * tick) << "one message per module";
    EXPECT_LE(metric(report, "sync_time_s"), T + 4 * (T / 8 + tick) + tick) << "seed " << seed;
    EXPECT_EQ(metric(report, "docks_broken"), 0) << "seed " << seed;
  }
}

// Section 5: two hands make a quadruped of a chain, and nothing is reset.
TEST_P(Engines, AChainIsRearrangedIntoAWalker) {
  const bool native = GetParam() == std::string("native");
  for (const char* sequence : {"1", "2", "3", "4"}) {
    if (!native && *sequence != '1') continue;
    for (const std::uint64_t seed : test_seeds) {
      if (!native && seed != test_seeds[0]) continue;  // it takes bullet some ten times as long
      SCOPED_TRACE(std::string("sequence ") + sequence + ", seed " + std::to_string(seed));
      const auto report = run("roles/reconfigure", {{"sequence", sequence}}, 100, seed, GetParam());
      EXPECT_EQ(metric(report, "moves_made"), 4);
      EXPECT_EQ(metric(report, "organisms"), 1);
      EXPECT_EQ(metric(report, "in_step"), 6);
      EXPECT_GE(metric(report, "role_changes"), 6);
      EXPECT_LE(metric(report, "sync_time_s"), 3 * T);
      EXPECT_LT(metric(report, "sidewinder_time_s"), 2 * 12.3);
      EXPECT_LT(metric(report, "walker_time_s"), 2 * 28.25) << "not a number if it never arrived";
      EXPECT_EQ(metric(report, "docks_broken"), 0);
    }
  }
}

// Section 6, the outlook: four modules dock and undock themselves on the way to a quadruped, and again on the way back.
TEST(Roles, AChainMakesItselfAWalkerAndAChainAgain) {
  for (const std::uint64_t seed : test_seeds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto report = run("roles/self_reconfigure", {}, 219, seed);
    EXPECT_EQ(metric(report, "legs_most"), 4);
    EXPECT_GT(metric(report, "walked_m"), 0.87) << "the paper's course";
    EXPECT_EQ(metric(report, "changed_back"), 1);
    EXPECT_EQ(metric(report, "legs"), 0);
    EXPECT_EQ(metric(report, "docks_formed"), 8);
    EXPECT_EQ(metric(report, "docks_released"), 8);
    EXPECT_EQ(metric(report, "docks_broken"), 0);
    EXPECT_EQ(metric(report, "in_step"), 9);
  }
}
// The whole way takes bullet a minute, so here it goes the half of it.
TEST(Roles, AChainMakesItselfAWalkerOnBullet) {
  const auto report = run("roles/self_reconfigure", {}, 104, test_seeds[0], "bullet");
  EXPECT_EQ(metric(report, "docks_formed"), 4);
  EXPECT_EQ(metric(report, "docks_released"), 4);
  EXPECT_EQ(metric(report, "docks_broken"), 0);
  EXPECT_GT(metric(report, "walked_m"), 0.1);
}

// In the plane: from s of the first module, 60 mm to its yaw, 40 mm to its n, and so on to the dock e of the last one.
TEST(Roles, LoopsOfAShapeClose) {
  struct Gap {
    double x, y, turn;  // m, rad, in the frame of the dock e
  };
  const auto gap = [](const std::vector<double>& yaws, double behind_first) {
    double x = 0, y = 0, heading = 0;
    const auto ahead = [&](double way) { x += way * std::cos(heading), y += way * std::sin(heading); };
    for (std::size_t i = 0; i < yaws.size(); ++i) {
      ahead(0.06);
      heading += radians(yaws[i]);
      if (i + 1 < yaws.size()) ahead(i == 0 ? 0.04 + behind_first : 0.04);
    }
    ahead(0.03);
    heading -= pi / 2;  // the dock looks east
    ahead(0.0225);
    return Gap{-x * std::cos(heading) - y * std::sin(heading), x * std::sin(heading) - y * std::cos(heading),
               std::remainder(heading, 2 * pi)};
  };
  for (int move = 0; move < 2; ++move) {
    const robots::ShapeLoop& loop = robots::shape_loop(move);
    for (const auto& [found, out] : {std::pair{gap(loop.closed, 0), 0.0}, std::pair{gap(loop.ahead, 0), 0.03},
                                     std::pair{gap(loop.behind, move == 0 ? 0.03 : 0.02), 0.0}}) {
      EXPECT_NEAR(found.x, out, 5e-4) << move;
      EXPECT_NEAR(found.y, 0, 5e-4) << move;
      EXPECT_NEAR(found.turn, 0, 1e-3) << move;
    }
  }
}

// Section 6: roles change by a sensor and by time.
TEST_P(Engines, AWalkerTurnsBackAtAWallAndForthAfterATime) {
  for (const std::uint64_t seed : test_seeds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto report = run("roles/shuttle", {}, 60, seed, GetParam());
    EXPECT_GE(metric(report, "turns_by_sensor"), 1);
    EXPECT_GE(metric(report, "turns_by_time"), 1);
    EXPECT_GT(metric(report, "way_back_min_m"), 0.1);
    EXPECT_EQ(metric(report, "docks_broken"), 0);
  }
}

TEST(Roles, AModuleIsReplaced) {
  for (const std::uint64_t seed : test_seeds) {
    const auto report = run("roles/reconfigure", {{"sequence", "replace"}}, 100, seed);
    EXPECT_EQ(metric(report, "moves_made"), 4) << "seed " << seed;
    EXPECT_EQ(metric(report, "docks_broken"), 0) << "seed " << seed;
    EXPECT_EQ(metric(report, "in_step"), 6) << "the spare plays its role, and its children follow; seed " << seed;
    EXPECT_LE(metric(report, "sync_time_s"), 6 * T / 5 + 7 * tick) << "seed " << seed;
    EXPECT_LT(metric(report, "sidewinder_again_time_s"), 2 * 12.3) << "seed " << seed;
  }
}

// Without messages the modules do not synchronize.
TEST_P(Engines, WithoutSignalsModulesDoNotSynchronize) {
  for (const char* gait : {"sidewinder", "walker"})
    for (const std::uint64_t seed : test_seeds) {
      const auto cut = run(std::string("roles/") + gait, {{"loss", "1"}}, 6, seed, GetParam());
      EXPECT_TRUE(std::isnan(metric(cut, "sync_time_s"))) << gait << ": not measured, seed " << seed;
      EXPECT_LT(metric(cut, "in_step"), metric(cut, "children")) << gait << ", seed " << seed;
      EXPECT_GT(metric(cut, "sync_error_max_steps"), 10) << gait << ", seed " << seed;
    }
}

TEST(Roles, LostSignalsOnlyDelay) {
  // Each hop loses a signal with probability p, which costs one period; ten periods per hop are ample.
  for (const char* loss : {"0.01", "0.1", "0.3"}) {
    for (const std::uint64_t seed : test_seeds) {
      const auto report = run("roles/sidewinder", {{"loss", loss}}, 60, seed, "none");
      EXPECT_EQ(metric(report, "in_step"), 6) << loss << ", seed " << seed;
      EXPECT_LT(metric(report, "sync_time_s"), 40) << loss << ", seed " << seed;
    }
  }
  for (const std::uint64_t seed : test_seeds) {
    const auto speed = [seed](const char* loss) {
      return metric(run("roles/sidewinder", {{"loss", loss}, {"settle", "15"}}, 25, seed), "gait_speed_m_s");
    };
    EXPECT_NEAR(speed("0.3") / speed("0"), 1, 0.3) << "seed " << seed;
  }
}

TEST(Roles, ADeadModuleLeavesTheRestInStepAndMoving) {
  for (const std::uint64_t seed : test_seeds) {
    const auto whole = run("roles/sidewinder", {{"settle", "10"}}, 20, seed);
    const auto hurt = run("roles/sidewinder", {{"dead", "3"}, {"dead_at", "8"}, {"settle", "10"}}, 20, seed);
    EXPECT_EQ(metric(hurt, "children"), 4) << "below the dead one a new root leads; seed " << seed;
    EXPECT_EQ(metric(hurt, "in_step"), 4) << "seed " << seed;
    EXPECT_GT(metric(hurt, "gait_speed_m_s"), 0.3 * metric(whole, "gait_speed_m_s")) << "seed " << seed;
  }
}

// O(h): each hop takes the role's delay and one tick.
TEST(Roles, SynchronisingGrowsWithTheHeight) {
  for (const int height : {2, 8, 32, 64})
    for (const std::uint64_t seed : test_seeds) {
      const auto report = run("roles/sidewinder", {{"modules", std::to_string(height + 1)}}, 45, seed, "none");
      EXPECT_EQ(metric(report, "in_step"), height) << "seed " << seed;
      EXPECT_LE(metric(report, "sync_time_s"), height * (T / 5 + tick) + tick) << height << ", seed " << seed;
      EXPECT_GT(metric(report, "sync_time_s"), (height - 2) * T / 5)
          << height << ", seed " << seed << ": it cannot be faster than its signals";
    }
}

// Section 6: a lost hormone stops the robot, and so does the loss of a table's master; roles continue.
TEST(Roles, LostMessagesStopHormonesAndTablesButNotRoles) {
  const std::map<std::string, std::string> nothing, hush = {{"silent", "3"}}, no_head = {{"dead", "0"}};
  for (const std::uint64_t seed : test_seeds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto speed_after = [seed](const char* control, std::map<std::string, std::string> settings) {
      settings["control"] = control;
      settings["settle"] = "12";
      return metric(run("roles/sidewinder", settings, 18, seed), "gait_speed_m_s");
    };
    for (const char* control : {"roles", "tables", "hormones"})
      EXPECT_GT(speed_after(control, nothing), 0.02) << control;
    EXPECT_GT(speed_after("roles", hush), 0.02);
    EXPECT_GT(speed_after("tables", hush), 0.02) << "the master sends at every step";
    EXPECT_LT(speed_after("hormones", hush), 0.003) << "the only hormone is lost";
    EXPECT_GT(speed_after("roles", no_head), 0.01);
    EXPECT_LT(speed_after("tables", no_head), 0.003) << "no module sends the column";
    EXPECT_LT(speed_after("hormones", no_head), 0.003);
  }
}

TEST(Roles, AModuleThatIsNotThereCannotDie) {
  try {
    run("roles/sidewinder", {{"dead", "7"}}, 1);
    FAIL() << "the chain ends with module 6";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("from 0 to 6"), std::string::npos) << error.what();
  }
}

TEST(Roles, SameBitsAtAnyNumberOfThreads) {
  const auto hash = [](int threads) {
    return run("roles/walker", {{"loss", "0.1"}}, 4, 7, "native", threads).state_hash;
  };
  EXPECT_EQ(hash(1), hash(3));
}

TEST(Roles, GoOnAfterARestore) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "at_3_s.snap";
  const auto go = [&](double duration, bool save, bool restore) {
    sim::RunOptions options;
    options.experiment = "roles/walker";
    options.duration = duration;
    options.settings = {{"loss", "0.1"}, {"silent", "1"}, {"silent_at", "2"}, {"silent_for", "1.5"}};
    if (restore) options.restore_from = file;
    if (save) options.save_to = file;
    return run(options);
  };
  go(3, true, false);
  const auto restored = go(6, false, true), straight = go(6, false, false);
  EXPECT_EQ(restored.state_hash, straight.state_hash);
  EXPECT_EQ(metric(restored, "sync_time_s"), metric(straight, "sync_time_s"));
}

// In the middle of docking: at 26.4 s the root's dock is captured, at 26.6 s it is engaged.
TEST(Roles, AShapeGoesOnAfterARestore) {
  const TemporaryFolder folder;
  const auto go = [&](const std::string& experiment, double duration, bool save, bool restore, int threads) {
    sim::RunOptions options;
    options.experiment = experiment;
    options.duration = duration;
    options.threads = threads;
    const std::filesystem::path file = folder / (experiment.substr(experiment.find('/') + 1) + ".snap");
    if (restore) options.restore_from = file;
    if (save) options.save_to = file;
    return run(options);
  };
  const auto goes_on = [&](const std::string& experiment, double until, double end) {
    go(experiment, until, true, false, 1);
    const auto restored = go(experiment, end, false, true, 1), straight = go(experiment, end, false, false, 2);
    EXPECT_EQ(restored.state_hash, straight.state_hash) << experiment;
    return straight;
  };
  EXPECT_EQ(metric(goes_on("roles/self_reconfigure", 26.5, 31), "docks_formed"), 1);
  // While one hand carries a module and the other holds the rest.
  EXPECT_GE(metric(goes_on("roles/reconfigure", 24.5, 32), "moves_made"), 1);
}

// The rules of figure 3, corrected: each module of a body finds its role and keeps it.
TEST(Roles, ABodyWithLegsFindsItsRoles) {
  for (const std::uint64_t seed : test_seeds) {
    sim::RunOptions options;
    options.experiment = "roles/walker";
    options.engine = "none";
    options.duration = 10;
    options.seed = seed;
    const auto walker = prepared(options);
    walker->finish();
    const mind::Minds& minds = walker->simulation().minds();
    for (std::size_t i = 0; i < minds.size(); ++i) {
      const std::string& name = minds.agent(i).name();
      const auto& played = minds.agent(i).model<mind::RolePlayed>();
      const std::string expected = name.ends_with("east")             ? "eleg"
                                   : name.ends_with("west")           ? "wleg"
                                   : name == "tail" || name == "head" ? "sw"
                                                                      : "sp";
      EXPECT_EQ(played.role, expected) << name << ", seed " << seed;
      EXPECT_LE(played.changes, 2) << name << " oscillates, seed " << seed;
    }
  }
}

}  // namespace
}  // namespace volvox::experiments::roles
