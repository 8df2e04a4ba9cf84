// Floods over DPRSim's ideal links: the counts and times of graph theory, with 40 seeds on every lattice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "study.h"
#include "volvox/base/test/temporary_folder.h"

namespace volvox::experiments {
namespace {

std::vector<sim::CloudItem> items_of(const sim::Run& run) {
  std::vector<sim::CloudItem> items;
  run.cloud()->cloud_items(items);
  return items;
}

TEST(DprsimFlood, CountsAndTimesAreThoseOfTheGraph) {
  for (const char* lattice : {"square", "hex", "cubic", "bcc", "fcc"}) {
    for (const std::uint64_t seed : seeds(401, 440)) {
      const auto report =
          run("dprsim/flood", {{"lattice", lattice}, {"side", "12"}, {"filled", "0.7"}}, 2, seed, "none");
      ASSERT_GT(metric(report, "connected"), 1) << lattice << " seed " << seed;
      EXPECT_EQ(metric(report, "reached"), metric(report, "connected")) << lattice << " seed " << seed;
      EXPECT_EQ(metric(report, "ticks_to_all"), metric(report, "eccentricity")) << lattice << " seed " << seed;
      EXPECT_EQ(metric(report, "messages"), metric(report, "messages_expected")) << lattice << " seed " << seed;
    }
  }
}

TEST(DprsimGradient, DistancesAreThoseOfTheGraph) {
  for (const char* lattice : {"square", "hex", "cubic", "bcc", "fcc"}) {
    for (const std::uint64_t seed : seeds(501, 540)) {
      const auto report =
          run("dprsim/gradient", {{"lattice", lattice}, {"side", "12"}, {"filled", "0.6"}}, 2, seed, "none");
      ASSERT_GT(metric(report, "reachable"), 1) << lattice << " seed " << seed;
      EXPECT_EQ(metric(report, "wrong"), 0) << lattice << " seed " << seed;
      EXPECT_EQ(metric(report, "ticks_to_all"), metric(report, "farthest")) << lattice << " seed " << seed;
      EXPECT_LE(metric(report, "messages"), metric(report, "link_ends")) << lattice << " seed " << seed;
    }
  }
  // Delayed messages come in another order: the distances are right all the same, with more of them.
  const auto slow = run("dprsim/gradient", {{"side", "10"}, {"capacity", "1"}}, 4, 1, "none");
  EXPECT_EQ(metric(slow, "wrong"), 0);
  EXPECT_GT(metric(slow, "ticks_to_all"), 2 * metric(slow, "farthest"));
}

// From yellow to violet, a colour for each distance. (The ramp ended at the distance of the first catom: of a cube all
// but the catoms around a source were violet.)
TEST(DprsimGradient, EveryDistanceHasItsColour) {
  for (const std::uint64_t seed : {581, 582, 583}) {
    sim::RunOptions options;
    options.experiment = "dprsim/gradient";
    options.engine = "none";
    options.seed = seed;
    options.settings = {{"side", "14"}, {"sources", "1"}};
    const auto run = prepared(options);
    for (int tick = 0; tick < 60; ++tick) ASSERT_TRUE(run->step().ok());
    std::vector<float> distances;
    run->cloud()->cloud_values(0, distances);
    std::map<float, std::set<std::array<std::uint8_t, 3>>> colors;
    std::set<std::array<std::uint8_t, 3>> all;
    const auto items = items_of(*run);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!(distances[i] < 1e6)) continue;
      colors[distances[i]].insert(items[i].color);
      all.insert(items[i].color);
    }
    EXPECT_GT(colors.size(), 8u) << seed;
    EXPECT_EQ(all.size(), colors.size()) << seed;
    for (const auto& [distance, seen] : colors) EXPECT_EQ(seen.size(), 1u) << seed << " " << distance;
  }
}

// The heap, and who gives way, are by chance; nobody chose these seeds.
TEST(DprsimShape, AHeapBecomesTheShapeWithAnySeed) {
  for (const char* shape : {"disc", "rectangle", "wrench"}) {
    for (const std::uint64_t seed : seeds(541, 580)) {
      const auto report = run("dprsim/shape", {{"shape", shape}, {"catoms", "60"}}, 60, seed, "none");
      EXPECT_EQ(metric(report, "filled"), 1) << shape << " seed " << seed;
      EXPECT_EQ(metric(report, "pieces"), 1) << shape << " seed " << seed;
      EXPECT_GT(metric(report, "moves_per_catom"), 5) << shape << " seed " << seed;
    }
  }
}

// As large as in the README, and with rolls that are seen on their way.
TEST(DprsimShape, ALargeHeapBecomesTheShapeAlsoWithSlowMotions) {
  const auto becomes = [](const char* shape, const char* catoms, const char* ticks, double seconds,
                          std::uint64_t seed) {
    const auto report =
        run("dprsim/shape", {{"shape", shape}, {"catoms", catoms}, {"motion_ticks", ticks}}, seconds, seed, "none");
    EXPECT_EQ(metric(report, "filled"), 1) << shape << " of " << catoms << ", seed " << seed;
    EXPECT_EQ(metric(report, "pieces"), 1) << shape << " of " << catoms << ", seed " << seed;
  };
  std::uint64_t seed = 581;
  for (const char* shape : {"disc", "rectangle", "wrench"}) {
    if (!sanitized) becomes(shape, "300", "1", 150, seed);
    becomes(shape, "60", "3", 120, seed);
    becomes(shape, "60", "3", 120, seed + 3);
    ++seed;
  }
  if (!sanitized) becomes("wrench", "300", "3", 300, 587);
}

// Whatever was drawn before, what is restored in place is drawn as it was.
TEST(DprsimShape, WhatIsRestoredInPlaceIsDrawnAnew) {
  for (const char* ticks : {"1", "3"}) {
    sim::RunOptions options;
    options.experiment = "dprsim/shape";
    options.engine = "none";
    options.settings = {{"catoms", "30"}, {"motion_ticks", ticks}};
    const auto run = prepared(options);
    std::vector<std::string> snapshots;
    std::vector<std::vector<sim::CloudItem>> items;
    for (int tick = 0; tick < 40; ++tick) {
      ASSERT_TRUE(run->step().ok());
      const auto saved = run->snapshot();
      ASSERT_TRUE(saved.ok());
      snapshots.push_back(*saved);
      items.push_back(items_of(*run));
    }
    for (std::size_t before = 0; before < items.size(); ++before) {
      for (std::size_t after = 0; after < items.size(); ++after) {
        ASSERT_TRUE(run->restore(snapshots[before]).ok());
        (void)items_of(*run);
        ASSERT_TRUE(run->restore(snapshots[after]).ok());
        const auto drawn = items_of(*run);
        for (std::size_t i = 0; i < drawn.size(); ++i)
          ASSERT_EQ(drawn[i].position, items[after][i].position) << "catom " << i << ", " << before << " to " << after;
      }
    }
  }
}

TEST(DprsimShape, IsTheSameAtAnyNumberOfThreadsAndGoesOnFromASnapshot) {
  const TemporaryFolder folder;
  sim::RunOptions options;
  options.experiment = "dprsim/shape";
  options.engine = "none";
  options.settings = {{"catoms", "300"}, {"motion_ticks", "3"}};
  options.duration = 10;
  options.save_to = folder / "half.snap";
  (void)run(options);
  options.save_to = {};
  options.duration = 15;
  const auto whole = run(options);
  options.threads = 3;
  EXPECT_EQ(run(options).state_hash, whole.state_hash);
  options.restore_from = folder / "half.snap";
  const auto parts = run(options);
  EXPECT_EQ(parts.state_hash, whole.state_hash);
  EXPECT_GT(metric(whole, "moves"), 100);
}

// Between its old and its new cell: rolls of three ticks are seen at a third of the way.
TEST(DprsimShape, CatomsAreSeenOnTheirWay) {
  sim::RunOptions options;
  options.experiment = "dprsim/shape";
  options.engine = "none";
  options.settings = {{"catoms", "20"}, {"motion_ticks", "3"}};
  const auto run = prepared(options);
  const double row = std::sqrt(0.75);
  int between = 0;
  for (int tick = 0; tick < 60; ++tick) {
    ASSERT_TRUE(run->step().ok());
    for (const sim::CloudItem& item : items_of(*run)) {
      const double rows = item.position[1] / row;
      between += std::abs(rows - std::round(rows)) > 0.05 ? 1 : 0;
    }
  }
  EXPECT_GT(between, 10);
}

TEST(DprsimShape, TakesItsShapeFromAFile) {
  const TemporaryFolder folder;
  std::ofstream(folder / "bar.csv") << "5,3\n6,3\n7,3\n5,4\n6,4\n7,4\n8,4\n";
  const auto bar = run("dprsim/shape", {{"shape", (folder / "bar.csv").string()}}, 20, 3, "none");
  EXPECT_EQ(metric(bar, "shape_cells"), 7);
  EXPECT_EQ(metric(bar, "filled"), 1);
  std::ofstream(folder / "two.csv") << "0,0\n1,0\n4,4\n";
  EXPECT_THROW((void)run("dprsim/shape", {{"shape", (folder / "two.csv").string()}}, 1, 1, "none"), std::exception);
  EXPECT_THROW((void)run("dprsim/shape", {{"shape", "banana"}}, 1, 1, "none"), std::exception);
  EXPECT_THROW((void)run("dprsim/shape", {{"shape", (folder / "none.csv").string()}}, 1, 1, "none"), std::exception);
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

// Recordings hold the hash of the publish phase, and replay --verify compares it with that of the whole tick.
TEST(DprsimMeld, ATapDoesNotChangeTheStateThatWasPublished) {
  const TemporaryFolder folder;
  std::ofstream(folder / "tap.meld") << "type linear on(node, int).\ntap(A) -o on(A, 5).\n";
  sim::RunOptions options;
  options.experiment = "dprsim/meld";
  options.engine = "none";
  options.settings = {{"program", (folder / "tap.meld").string()}, {"cells", "3x3"}, {"lattice", "square"}};
  const auto run = prepared(options);
  std::uint64_t published = 0;
  run->simulation().add_observer([&](const sim::Simulation& simulation) { published = simulation.hash(); });
  for (int tick = 0; tick < 4; ++tick) {
    if (tick == 1) run->simulation().give(sim::TapInput{4});
    ASSERT_TRUE(run->step().ok());
    EXPECT_EQ(published, run->simulation().hash()) << "tick " << tick;
  }
}

TEST(DprsimFlood, TheStateHashCoversTheCatoms) {
  const auto hash = [](const char* side) { return run("dprsim/flood", {{"side", side}}, 0.5, 1, "none").state_hash; };
  EXPECT_EQ(hash("5"), hash("5"));
  EXPECT_NE(hash("5"), hash("6"));
}

// 30,000 catoms: enough for several pieces of work a tick.
TEST(DprsimFlood, TheNumberOfThreadsDoesNotMatter) {
  const auto with = [](int threads) {
    return run("dprsim/flood", {{"side", "32"}, {"filled", "0.9"}}, 1, 7, "none", threads).state_hash;
  };
  EXPECT_EQ(with(1), with(2));
  EXPECT_EQ(with(1), with(3));
}

TEST(DprsimFlood, GoesOnFromASnapshot) {
  const TemporaryFolder folder;
  const auto file = folder / "half.snap";
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
  for (const char* name : {"ticks_to_all", "messages", "catoms_hash_high", "catoms_hash_low"})
    EXPECT_EQ(metric(parts, name), metric(whole, name)) << name;
  EXPECT_EQ(parts.state_hash, whole.state_hash);
}

TEST(DprsimFlood, ItsCatomsAreACloud) {
  sim::RunOptions options;
  options.experiment = "dprsim/flood";
  options.engine = "none";
  options.settings = {{"side", "5"}, {"filled", "1"}};
  const auto run = prepared(options);
  ASSERT_NE(run->cloud(), nullptr);
  const sim::CloudLook look = run->cloud()->cloud_look();
  EXPECT_EQ(look.noun, "catom");
  ASSERT_EQ(look.values.at(0), "hops");
  const auto before = items_of(*run);
  ASSERT_EQ(before.size(), 125u);
  EXPECT_EQ(std::count_if(before.begin(), before.end(), [](const auto& i) { return i.shown == sim::CloudItem::open; }),
            125 - 27);
  EXPECT_EQ(before[0].position, (std::array<float, 3>{2, 2, 2}));  // the source
  for (int tick = 0; tick < 3; ++tick) ASSERT_TRUE(run->step().ok());
  const auto after = items_of(*run);
  std::vector<float> hops;
  run->cloud()->cloud_values(0, hops);
  std::size_t reached = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(before[i].color != after[i].color, i != 0 && std::isfinite(hops[i])) << i;
    reached += std::isfinite(hops[i]) ? 1 : 0;
  }
  EXPECT_EQ(reached, 25u);  // within two links of the source
  EXPECT_NE(run->cloud()->cloud_state(0).at(0).find("hops"), std::string::npos);
}

// What a person does is an input, and felt in the next tick.
TEST(DprsimMeld, PeopleTapCatoms) {
  const TemporaryFolder folder;
  std::ofstream(folder / "tap.meld") << "type taps(node, int).\ntap(A) -o !taps(A, 7), !setColor(A, 10, 20, 30).\n";
  sim::RunOptions options;
  options.experiment = "dprsim/meld";
  options.engine = "none";
  options.settings = {{"program", (folder / "tap.meld").string()}, {"cells", "3x3"}};
  const auto run = prepared(options);
  EXPECT_TRUE(run->cloud()->cloud_look().can_be_tapped);
  run->simulation().give(sim::TapInput{4});
  run->simulation().give(sim::TapInput{1'000'000});  // nobody
  for (int tick = 0; tick < 3; ++tick) ASSERT_TRUE(run->step().ok());
  const auto items = items_of(*run);
  EXPECT_EQ(items[4].color, (std::array<std::uint8_t, 3>{10, 20, 30}));
  EXPECT_NE(items[5].color, items[4].color);
  std::vector<float> taps;
  ASSERT_EQ(run->cloud()->cloud_look().values, std::vector<std::string>{"taps"});
  run->cloud()->cloud_values(0, taps);
  EXPECT_EQ(taps[4], 7);
  EXPECT_TRUE(std::isnan(taps[5]));
}

TEST(DprsimFlood, TakesItsCellsFromAFile) {
  const TemporaryFolder folder;
  std::ofstream(folder / "row.csv") << "x,y,z\n0,0,0\n1,0,0\n2,0,0\n9,9,9\n";
  std::ofstream(folder / "twice.csv") << "0,0,0\n1,0,0\n0,0,0\n";
  const auto row = run("dprsim/flood", {{"cells", (folder / "row.csv").string()}}, 1, 1, "none");
  EXPECT_EQ(metric(row, "catoms"), 4);
  EXPECT_EQ(metric(row, "reached"), 3);
  EXPECT_EQ(metric(row, "messages"), 2);
  ASSERT_EQ(row.files.size(), 1u);  // so that a change is noticed
  EXPECT_EQ(std::filesystem::path(row.files.begin()->first).filename(), "row.csv");
  EXPECT_THROW((void)run("dprsim/flood", {{"cells", (folder / "twice.csv").string()}}, 1, 1, "none"), std::exception);
}

TEST(DprsimMeld, RollsOnSquareLatticesIfAsked) {
  const TemporaryFolder folder;
  std::ofstream(folder / "roll.meld") << "type linear go(node). type linear done(node).\n"
                                         "node2int(A) < 1 -o go(A)@+20ms.\n"
                                         "go(A) -o !roll(A, 1, 0).\n"
                                         "moved(A) -o done(A), !setColor2(A, 1).\n";
  std::map<std::string, std::string> settings = {
      {"program", (folder / "roll.meld").string()}, {"lattice", "square"}, {"cells", "2x1"}};
  try {
    (void)run("dprsim/meld", settings, 1, 1, "none");
    ADD_FAILURE() << "catoms on a square lattice usually slide";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("--set motion=roll"), std::string::npos) << error.what();
  }
  settings["motion"] = "roll";
  settings["motion_ticks"] = "5";
  const auto report = run("dprsim/meld", settings, 1, 1, "none");
  EXPECT_EQ(metric(report, "moves"), 1);
  EXPECT_EQ(metric(report, "colored"), 1);
  settings["lattice"] = "cubic";
  EXPECT_THROW((void)run("dprsim/meld", settings, 1, 1, "none"), std::exception);
}

TEST(DprsimMeld, FindsASpanningTreeInTwoFactsALink) {
  for (const std::uint64_t seed : test_seeds) {  // which decide who is heard first
    const auto report = run("dprsim/meld", {{"program", "tree"}, {"cells", "6x5x4"}}, 2, seed, "none");
    EXPECT_EQ(metric(report, "catoms"), 120) << seed;
    EXPECT_EQ(metric(report, "messages"), 2 * (5 * 5 * 4 + 6 * 4 * 4 + 6 * 5 * 3)) << seed;
    EXPECT_EQ(metric(report, "colored"), 120) << seed;
    EXPECT_EQ(metric(report, "facts_lost"), 0) << seed;
  }
}

TEST(DprsimMeld, GoesOnFromASnapshotWithTapsAndDelays) {
  const TemporaryFolder folder;
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
}

}  // namespace
}  // namespace volvox::experiments
