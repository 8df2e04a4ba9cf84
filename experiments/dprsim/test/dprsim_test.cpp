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

}  // namespace
}  // namespace volvox::experiments
