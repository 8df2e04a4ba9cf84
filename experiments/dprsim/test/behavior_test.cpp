// Behaviours of physical modules on the catoms of a lattice world (robots/behaviors/behavior_modules.h).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "behavior_modules.h"
#include "behaviors.h"
#include "flood.h"
#include "study.h"
#include "volvox/base/test/temporary_folder.h"
#include "volvox/cluster/test/thread_ranks.h"

namespace volvox::experiments {
namespace {

using lattice::CatomWorld;
using robots::BehaviorModules;

struct OnLattice {
  explicit OnLattice(const std::string& behavior, const std::map<std::string, std::string>& parameters = {},
                     lattice::Kind kind = lattice::Kind::square, const lattice::WorldOptions& options = {},
                     int threads = 1)
      : pool(threads), world(lattice::Lattice(kind), options, &pool) {
    robots::register_behaviors(registry);
    auto made = BehaviorModules::make({behavior, parameters, "test.sdf", 7}, registry, world);
    if (!made.ok()) {
      error = made.error().text();
      return;
    }
    modules = made->get();
    EXPECT_TRUE(world.load_modules(std::move(*made)).ok());
  }
  // The error that ended it, or nothing.
  std::string run(std::int32_t x, std::int32_t y, std::int64_t ticks) {
    if (!error.empty()) return error;
    EXPECT_TRUE(world.add_box({0, 0, 0}, {x - 1, y - 1, 0}).ok());
    if (const auto started = world.start(); !started.ok()) return started.error().text();
    for (std::int64_t t = 0; t < ticks; ++t)
      if (const auto done = world.tick(); !done.ok()) return done.error().text();
    return "";
  }
  const robots::Coloured& coloured(std::uint32_t catom) const {
    return modules->agent(catom).model<robots::Coloured>();
  }

  mind::BehaviorRegistry registry{"behavior"};
  ThreadPool pool;
  CatomWorld world;
  BehaviorModules* modules = nullptr;
  std::string error;
};

TEST(BehaviorOnLattice, AFloodTakesATickForEachLink) {
  OnLattice flood("flood", {{"0.source", "true"}});
  ASSERT_EQ(flood.run(6, 5, 12), "");
  const double dt = TickLength{}.seconds();
  for (std::uint32_t i = 0; i < 30; ++i) {
    const robots::Coloured& known = flood.coloured(i);
    EXPECT_EQ(known.sequence, 1u) << i;
    EXPECT_EQ(known.hops, i % 6 + i / 6) << i;
    EXPECT_NEAR(known.at, known.hops * dt, 1e-8) << i;
  }
  // 2 E - (N - 1): as the code module Flood.
  EXPECT_EQ(flood.world.traffic().delivered, 2u * (5 * 5 + 6 * 4) - 29);
  const auto light = flood.modules->light(7);
  ASSERT_TRUE(light);
  EXPECT_NEAR((*light)[0], robots::Flood::color_of(flood.coloured(7).by).red, 1e-12);
}

// The same behaviour on a chain of SuperBots whose docks are ideal: the same hops at the same times.
TEST(BehaviorOnLattice, AFloodIsTheSameOnPhysicalModulesWithIdealDocks) {
  const TemporaryFolder folder;
  std::string chain;
  for (int i = 0; i < 5; ++i) {
    const std::string name(1, static_cast<char>('a' + i)), before(1, static_cast<char>('a' + i - 1));
    chain += "<volvox:module name=\"" + name + "\" robot=\"superbot\"" + (i == 0 ? " pose=\"0 0 0.1 0 0 0\"" : "") +
             "><volvox:mind behavior=\"flood\">" +
             (i == 0 ? "<volvox:parameter name=\"source\" value=\"true\"/>" : "") + "</volvox:mind></volvox:module>";
    if (i > 0) chain += "<volvox:connect from=\"" + before + ".front\" to=\"" + name + ".back\"/>";
  }
  std::ofstream(folder / "world.sdf") << "<?xml version=\"1.0\"?><sdf version=\"1.9\" "
                                         "xmlns:volvox=\"https://volvox.sim/sdf\"><world name=\"chain\">"
                                      << chain << "</world></sdf>";
  sim::RunOptions options;
  options.experiment = (folder / "world.sdf").string();
  options.engine = "none";
  options.duration = 0.2;
  const auto run = prepared(options);
  while (run->simulation().tick() < run->ticks()) ASSERT_TRUE(run->step().ok());
  OnLattice flood("flood", {{"0.source", "true"}});
  ASSERT_EQ(flood.run(5, 1, 12), "");
  for (std::uint32_t i = 0; i < 5; ++i) {
    const auto& there = run->simulation().minds().agent(i).model<robots::Coloured>();
    EXPECT_EQ(flood.coloured(i).hops, there.hops) << i;
    EXPECT_EQ(flood.coloured(i).by, there.by) << i;
    EXPECT_NEAR(flood.coloured(i).at, there.at, 1e-8) << i;
  }
}

TEST(BehaviorOnLattice, ByRadioEverybodyInRangeHearsIt) {
  OnLattice flood("flood", {{"0.source", "true"}, {"wired", "false"}}, lattice::Kind::square, {.radio_range = 2.1});
  ASSERT_EQ(flood.run(6, 1, 8), "");
  EXPECT_EQ(flood.modules->agent(1).find_model<robots::Coloured>(),
            nullptr);  // it looks for a signal, which is not there
}

// Who uses only docks, messages, a lamp and its own clock runs, and who does something with all motors that there are:
// a catom has none. All others are refused by the name of what is missing.
TEST(BehaviorOnLattice, OfTodaysBehaviorsThoseThatOnlyTalkRun) {
  mind::BehaviorRegistry registry{"behavior"};
  robots::register_behaviors(registry);
  std::set<std::string> runs;
  for (const std::string& name : registry.names()) {
    OnLattice one(name);
    const std::string error = one.run(3, 3, 3);
    if (error.empty()) {
      runs.insert(name);
      continue;
    }
    EXPECT_NE(error.find("behavior '" + name + "'"), std::string::npos) << error;
    const bool named = error.find("it has no ") != std::string::npos || error.find(" on board") != std::string::npos ||
                       error.find("other modules") != std::string::npos ||
                       error.find("no extension") != std::string::npos || error.find("give ") != std::string::npos;
    EXPECT_TRUE(named) << error;
  }
  const std::set<std::string> expected = {"alternate", "code_flood", "code_gradient", "code_leader", "code_tree",
                                          "commanded", "flood",      "hold",          "idle",        "oscillators",
                                          "pass_on",   "spin",       "stepper"};
  EXPECT_EQ(runs, expected);
}

// Of a catom in no cell, whatever it turns towards its neighbour.
TEST(BehaviorOnLattice, ADockKnowsTheConnectorThatFacesIt) {
  OnLattice flood("flood");
  ASSERT_EQ(flood.run(3, 1, 1), "");
  ASSERT_TRUE(flood.world.loosen(2).ok());
  const std::vector<lattice::Touch> touches = {{1, 2, 2, 3}};  // p2 of the one to p3 of the other
  flood.world.place_loose({{2, flood.world.place(1) + Vec3{1, 0, 0}}}, touches, {});
  ASSERT_TRUE(flood.world.tick().ok());
  const auto neighbor = [&](std::uint32_t catom, const char* dock) {
    return flood.modules->agent(catom).dock(dock).neighbor;
  };
  EXPECT_EQ(neighbor(1, "p2"), "p3");
  EXPECT_EQ(neighbor(2, "p3"), "p2");
  std::set<std::string> on_lattice;
  for (int port = 0; port < 4; ++port) on_lattice.insert(neighbor(0, fmt::format("p{}", port).c_str()));
  EXPECT_EQ(on_lattice.size(), 2u);  // its only neighbour, and nobody
}

TEST(BehaviorOnLattice, WhatIsMissingIsNamed) {
  OnLattice snake("snake");
  const std::string error = snake.run(2, 1, 2);
  EXPECT_NE(error.find("catom 0 at (0, 0, 0)"), std::string::npos) << error;
  EXPECT_NE(error.find("behavior 'snake'"), std::string::npos) << error;
  EXPECT_NE(error.find("it has no "), std::string::npos) << error;
  OnLattice unread("flood", {{"sourc", "true"}});
  EXPECT_NE(unread.run(2, 1, 2).find("sourc"), std::string::npos);
  EXPECT_NE(OnLattice("figure_eight").error.find("on board"), std::string::npos) << OnLattice("figure_eight").error;
  EXPECT_NE(OnLattice("nothing").error.find("there is no behavior named 'nothing'"), std::string::npos);
}

TEST(BehaviorOnLattice, TheSameHashAtAnyNumberOfThreadsAndRanksAndAfterASnapshot) {
  const std::map<std::string, std::string> parameters = {{"5.source", "true"}};
  OnLattice one("flood", parameters), two("flood", parameters, lattice::Kind::square, {}, 3);
  ASSERT_EQ(one.run(9, 9, 6), "");
  ASSERT_EQ(two.run(9, 9, 6), "");
  EXPECT_EQ(one.world.hash(), two.world.hash());
  SaveArchive ar;
  one.world.archive(ar);
  ASSERT_TRUE(ar.ok()) << ar.failure();
  for (int t = 0; t < 10; ++t) ASSERT_TRUE(one.world.tick().ok());
  LoadArchive back(ar.bytes());
  two.world.archive(back);
  ASSERT_TRUE(back.ok()) << back.failure();
  for (int t = 0; t < 10; ++t) ASSERT_TRUE(two.world.tick().ok());
  EXPECT_EQ(one.world.hash(), two.world.hash());
  cluster::ThreadRanks(3).run([&](cluster::Exchange& ranks) {
    OnLattice part("flood", parameters, lattice::Kind::square, {.ranks = &ranks});
    EXPECT_EQ(part.run(9, 9, 16), "");
    const std::uint64_t hash = part.world.hash();
    if (ranks.rank() == 0) {
      EXPECT_EQ(hash, one.world.hash());
    }
    return true;
  });
}

TEST(BehaviorOnLattice, AWorldFileGivesCatomsAMind) {
  const TemporaryFolder folder;
  std::ofstream(folder / "world.sdf") << R"(<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf"><world name="cells"><volvox:run duration="0.3"/>
<volvox:population name="c" type="cells" lattice="fcc" cells="4x4x4">
<volvox:mind behavior="flood"><volvox:parameter name="3.source" value="true"/></volvox:mind></volvox:population></world></sdf>)";
  sim::RunOptions options;
  options.experiment = (folder / "world.sdf").string();
  const sim::RunReport report = run(options);
  EXPECT_EQ(report.status, "done") << report.failure;
  EXPECT_GT(metric(report, "messages"), 63);
}

}  // namespace
}  // namespace volvox::experiments
