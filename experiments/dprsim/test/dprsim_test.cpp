// Floods over DPRSim's ideal links: the counts and times of graph theory, with 40 seeds on every lattice.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "study.h"

namespace volvox::experiments {
namespace {

TEST(DprsimFlood, CountsAndTimesAreThoseOfTheGraph) {
  for (const char* lattice : {"square", "hex", "cubic", "bcc", "fcc"}) {
    for (std::uint64_t seed = 401; seed <= 440; ++seed) {
      const auto report =
          run("dprsim/flood", {{"lattice", lattice}, {"side", "12"}, {"filled", "0.7"}}, 2, seed, "none");
      ASSERT_GT(metric(report, "connected"), 1) << lattice << " seed " << seed;
      EXPECT_EQ(metric(report, "reached"), metric(report, "connected")) << lattice << " seed " << seed;
      EXPECT_EQ(metric(report, "ticks_to_all"), metric(report, "eccentricity")) << lattice << " seed " << seed;
      EXPECT_EQ(metric(report, "messages"), metric(report, "messages_expected")) << lattice << " seed " << seed;
    }
  }
}

// 4 bytes at 2 bytes a tick: each hop takes two ticks.
TEST(DprsimFlood, ACapacityOfHalfAMessageTakesTwiceTheTime) {
  const std::map<std::string, std::string> full = {{"side", "8"}, {"filled", "1"}};
  std::map<std::string, std::string> slow = full;
  slow["capacity"] = "2";
  const auto fast = run("dprsim/flood", full, 2, 1, "none"), half = run("dprsim/flood", slow, 2, 1, "none");
  EXPECT_EQ(metric(half, "ticks_to_all"), 2 * metric(fast, "ticks_to_all"));
  EXPECT_EQ(metric(half, "messages"), metric(fast, "messages"));
}

TEST(DprsimMeld, TheStateHashCoversTheCatoms) {
  const auto hash = [](const char* program) {
    return run("dprsim/meld", {{"program", program}, {"cells", "4x4x4"}}, 0.5, 1, "none").state_hash;
  };
  EXPECT_EQ(hash("gradient"), hash("gradient"));
  EXPECT_NE(hash("gradient"), hash("tree"));
}

TEST(DprsimFlood, TheStateHashCoversTheCatoms) {
  const auto hash = [](const char* side) { return run("dprsim/flood", {{"side", side}}, 0.5, 1, "none").state_hash; };
  EXPECT_EQ(hash("5"), hash("5"));
  EXPECT_NE(hash("5"), hash("6"));
}

TEST(DprsimFlood, GoesOnFromASnapshot) {
  const auto file = std::filesystem::temp_directory_path() / ("volvox_dprsim_" + std::to_string(getpid()) + ".snap");
  sim::RunOptions options;
  options.experiment = "dprsim/flood";
  options.engine = "none";
  options.settings = {{"side", "12"}, {"capacity", "3"}};
  options.duration = 0.2;
  options.save_to = file;
  (void)run(options);
  options.save_to = {};
  options.duration = 1.5;
  const auto whole = run(options);
  options.restore_from = file;
  const auto parts = run(options);
  std::filesystem::remove(file);
  for (const char* name : {"ticks_to_all", "messages", "catoms_hash_high", "catoms_hash_low"})
    EXPECT_EQ(metric(parts, name), metric(whole, name)) << name;
  EXPECT_EQ(parts.state_hash, whole.state_hash);
}

TEST(DprsimFlood, TakesItsCellsFromAFile) {
  const auto folder = std::filesystem::temp_directory_path() / ("volvox_dprsim_cells_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "row.csv") << "x,y,z\n0,0,0\n1,0,0\n2,0,0\n9,9,9\n";
  std::ofstream(folder / "twice.csv") << "0,0,0\n1,0,0\n0,0,0\n";
  const auto row = run("dprsim/flood", {{"cells", (folder / "row.csv").string()}}, 1, 1, "none");
  EXPECT_EQ(metric(row, "catoms"), 4);
  EXPECT_EQ(metric(row, "reached"), 3);
  EXPECT_EQ(metric(row, "messages"), 2);
  ASSERT_EQ(row.files.size(), 1u);  // so that a change is noticed
  EXPECT_EQ(std::filesystem::path(row.files.begin()->first).filename(), "row.csv");
  EXPECT_THROW((void)run("dprsim/flood", {{"cells", (folder / "twice.csv").string()}}, 1, 1, "none"), std::exception);
  std::filesystem::remove_all(folder);
}

TEST(DprsimMeld, FindsASpanningTreeInTwoFactsALink) {
  const auto report = run("dprsim/meld", {{"program", "tree"}, {"cells", "6x5x4"}}, 2, 1, "none");
  EXPECT_EQ(metric(report, "catoms"), 120);
  EXPECT_EQ(metric(report, "messages"), 2 * (5 * 5 * 4 + 6 * 4 * 4 + 6 * 5 * 3));
  EXPECT_EQ(metric(report, "colored"), 120);
  EXPECT_EQ(metric(report, "facts_lost"), 0);
}

TEST(DprsimMeld, GoesOnFromASnapshotWithTapsAndDelays) {
  const auto folder = std::filesystem::temp_directory_path() / ("volvox_dprsim_meld_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "blink.meld")
      << "type linear on(node, int). type route neighbor(node, node, int).\n"
         "tap(A) -o on(A, 5).\n"
         "on(A, N), N > 0 -o !setColor2(A, N), {B | !neighbor(A, B, _) | on(B, N - 1)@+50ms}.\n";
  std::ofstream(folder / "wrong.meld") << "type a(node, int).\n!a(X, true).\n";
  sim::RunOptions options;
  options.experiment = "dprsim/meld";
  options.engine = "none";
  options.settings = {
      {"program", (folder / "blink.meld").string()}, {"cells", "4x4"}, {"lattice", "square"}, {"taps", "0.1:0,0.5:15"}};
  options.duration = 0.3;
  options.save_to = folder / "half.snap";
  (void)run(options);
  options.save_to = {};
  options.duration = 1.5;
  const auto whole = run(options);
  options.restore_from = folder / "half.snap";
  const auto parts = run(options);
  for (const char* name : {"ticks_to_rest", "messages", "catoms_hash_high", "catoms_hash_low"})
    EXPECT_EQ(metric(parts, name), metric(whole, name)) << name;
  EXPECT_GT(metric(whole, "messages"), 10);
  EXPECT_THROW((void)run("dprsim/meld", {{"program", (folder / "wrong.meld").string()}}, 1, 1, "none"), std::exception);
  EXPECT_THROW((void)run("dprsim/meld", {{"taps", "1:1000000"}}, 1, 1, "none"), std::exception);
  EXPECT_THROW((void)run("dprsim/meld", {{"lattice", "hex"}, {"cells", "3x3x3"}}, 1, 1, "none"), std::exception);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace volvox::experiments
