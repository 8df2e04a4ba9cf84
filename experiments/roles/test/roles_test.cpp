// The results of the role-based control paper on gaits and their robustness, on two engines.
#include <gtest/gtest.h>

#include <cmath>

#include "gait_roles.h"
#include "study.h"
#include "volvox/mind/roles.h"

namespace volvox::experiments::roles {
namespace {

constexpr double T = 2.5, tick = 1.0 / 72;  // s

class Engines : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Roles, Engines, testing::Values("native", "bullet"),
                         [](const auto& engine) { return std::string(engine.param); });

// Section 5: "after 6T/5 all modules are synchronized"; 5.1 cm/s, which we require within a factor of two.
TEST_P(Engines, SidewinderSynchronizesAndMoves) {
  for (const std::uint64_t seed : {1, 2}) {
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
  for (const std::uint64_t seed : {1, 2}) {
    const auto report = run("roles/walker", {}, 20, seed, GetParam());
    EXPECT_LE(metric(report, "sync_time_s"), T / 2 + 3 * T / 4 + 2 * tick + tick)
        << "seed " << seed << ": the last leg is two hops away";
    EXPECT_EQ(metric(report, "in_step"), 5);
    EXPECT_GT(metric(report, "speed_m_s"), 0.031 / 2) << "seed " << seed;
    EXPECT_LT(metric(report, "speed_m_s"), 0.031 * 2) << "seed " << seed;
    EXPECT_LT(std::abs(metric(report, "heading_deg")), 45) << "it must walk forward";
    EXPECT_EQ(metric(report, "docks_broken"), 0);
  }
}

// The same role program on two robots.
TEST_P(Engines, CaterpillarsCrawlOnTwoRobots) {
  for (const char* robot : {"conro", "superbot"}) {
    const auto report = run("roles/caterpillar", {{"robot", robot}}, 12, 1, GetParam());
    EXPECT_EQ(metric(report, "in_step"), 7) << robot;
    EXPECT_LE(metric(report, "sync_time_s"), 7 * T / 5 + 7 * tick + tick) << robot;
    EXPECT_GT(metric(report, "speed_m_s"), 0.01) << robot;
    EXPECT_LT(std::abs(metric(report, "heading_deg")), 10) << robot;
  }
}

// Section 6: each module gets one signal per period, so the speed does not depend on the number of modules.
TEST(Roles, SpeedDoesNotDependOnTheNumberOfModules) {
  const auto speed = [](const char* modules) {
    return metric(run("roles/caterpillar", {{"modules", modules}, {"settle", "18"}}, 28), "speed_m_s");
  };
  const double few = speed("8");
  EXPECT_NEAR(speed("16") / few, 1, 0.1);
  EXPECT_NEAR(speed("30") / few, 1, 0.1);
}

// Section 2.2: three of the five have the same neighbourhood.
TEST_P(Engines, AnArmFindsItsParts) {
  const auto report = run("roles/arm", {}, 8, 1, GetParam());
  EXPECT_EQ(metric(report, "parts_found"), 5);
  EXPECT_LT(metric(report, "found_time_s"), 5 * 2 * tick) << "one message per module";
  EXPECT_LE(metric(report, "sync_time_s"), T + 4 * (T / 8 + tick) + tick);
  EXPECT_EQ(metric(report, "docks_broken"), 0);
}

// Section 5: two hands make a quadruped of a chain, and nothing is reset.
TEST_P(Engines, AChainIsRearrangedIntoAWalker) {
  const bool native = GetParam() == std::string("native");
  for (const char* sequence : {"1", "2", "3", "4"}) {
    if (!native && *sequence != '1') continue;
    const auto report = run("roles/reconfigure", {{"sequence", sequence}}, 50, 1, GetParam());
    EXPECT_EQ(metric(report, "moves_made"), 4) << sequence;
    EXPECT_EQ(metric(report, "organisms"), 1) << sequence;
    EXPECT_EQ(metric(report, "in_step"), 6) << sequence;
    EXPECT_GE(metric(report, "role_changes"), 6) << sequence;
    EXPECT_LE(metric(report, "sync_time_s"), 3 * T) << sequence;
    EXPECT_LT(metric(report, "sidewinder_time_s"), 2 * 12.3) << sequence;
    EXPECT_LT(metric(report, "walker_time_s"), 2 * 28.25) << sequence << ": not a number if it never arrived";
  }
}

TEST(Roles, AModuleIsReplaced) {
  const auto report = run("roles/reconfigure", {{"sequence", "replace"}}, 45);
  EXPECT_EQ(metric(report, "moves_made"), 4);
  EXPECT_EQ(metric(report, "in_step"), 6) << "the spare plays its role, and its children follow";
  EXPECT_LE(metric(report, "sync_time_s"), 6 * T / 5 + 7 * tick);
  EXPECT_LT(metric(report, "sidewinder_again_time_s"), 2 * 12.3);
}

// Without messages the modules do not synchronize.
TEST_P(Engines, WithoutSignalsModulesDoNotSynchronize) {
  for (const char* gait : {"sidewinder", "walker"}) {
    const auto cut = run(std::string("roles/") + gait, {{"loss", "1"}}, 10, 1, GetParam());
    EXPECT_TRUE(std::isnan(metric(cut, "sync_time_s"))) << gait << ": not measured";
    EXPECT_LT(metric(cut, "in_step"), metric(cut, "children")) << gait;
    EXPECT_GT(metric(cut, "sync_error_max_steps"), 10) << gait;
  }
}

TEST(Roles, LostSignalsOnlyDelay) {
  // Each hop loses a signal with probability p, which costs one period; ten periods per hop are ample.
  for (const char* loss : {"0.01", "0.1", "0.3"}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto report = run("roles/sidewinder", {{"loss", loss}}, 60, seed, "none");
      EXPECT_EQ(metric(report, "in_step"), 6) << loss << ", seed " << seed;
      EXPECT_LT(metric(report, "sync_time_s"), 40) << loss << ", seed " << seed;
    }
  }
  const double whole = metric(run("roles/sidewinder", {{"settle", "15"}}, 25), "gait_speed_m_s");
  const double lossy = metric(run("roles/sidewinder", {{"loss", "0.3"}, {"settle", "15"}}, 25), "gait_speed_m_s");
  EXPECT_NEAR(lossy / whole, 1, 0.3);
}

TEST(Roles, ADeadModuleLeavesTheRestInStepAndMoving) {
  const auto whole = run("roles/sidewinder", {{"settle", "10"}}, 20);
  const auto hurt = run("roles/sidewinder", {{"dead", "3"}, {"dead_at", "8"}, {"settle", "10"}}, 20);
  EXPECT_EQ(metric(hurt, "children"), 4) << "below the dead one a new root leads";
  EXPECT_EQ(metric(hurt, "in_step"), 4);
  EXPECT_GT(metric(hurt, "gait_speed_m_s"), 0.3 * metric(whole, "gait_speed_m_s"));
}

// O(h): each hop takes the role's delay and one tick.
TEST(Roles, SynchronisingGrowsWithTheHeight) {
  for (const int height : {2, 8, 32, 64}) {
    const auto report = run("roles/sidewinder", {{"modules", std::to_string(height + 1)}}, 45, 3, "none");
    EXPECT_EQ(metric(report, "in_step"), height);
    EXPECT_LE(metric(report, "sync_time_s"), height * (T / 5 + tick) + tick) << height;
    EXPECT_GT(metric(report, "sync_time_s"), (height - 2) * T / 5)
        << height << ": it cannot be faster than its signals";
  }
}

// Section 6: a lost hormone stops the robot, and so does the loss of a table's master; roles continue.
TEST(Roles, LostMessagesStopHormonesAndTablesButNotRoles) {
  const auto speed_after = [](const char* control, std::map<std::string, std::string> settings) {
    settings["control"] = control;
    settings["settle"] = "12";
    return metric(run("roles/sidewinder", settings, 22), "gait_speed_m_s");
  };
  const std::map<std::string, std::string> nothing, hush = {{"silent", "3"}}, no_head = {{"dead", "0"}};
  for (const char* control : {"roles", "tables", "hormones"}) EXPECT_GT(speed_after(control, nothing), 0.02) << control;
  EXPECT_GT(speed_after("roles", hush), 0.02);
  EXPECT_GT(speed_after("tables", hush), 0.02) << "the master sends at every step";
  EXPECT_LT(speed_after("hormones", hush), 0.003) << "the only hormone is lost";
  EXPECT_GT(speed_after("roles", no_head), 0.01);
  EXPECT_LT(speed_after("tables", no_head), 0.003) << "no module sends the column";
  EXPECT_LT(speed_after("hormones", no_head), 0.003);
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
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "volvox_roles_test",
                              file = folder / "at_3_s.snap";
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
  std::filesystem::remove_all(folder);
}

// The rules of figure 3, corrected: each module of a body finds its role and keeps it.
TEST(Roles, ABodyWithLegsFindsItsRoles) {
  sim::RunOptions options;
  options.experiment = "roles/walker";
  options.engine = "none";
  options.duration = 10;
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
    EXPECT_EQ(played.role, expected) << name;
    EXPECT_LE(played.changes, 2) << name << " oscillates";
  }
}

}  // namespace
}  // namespace volvox::experiments::roles
