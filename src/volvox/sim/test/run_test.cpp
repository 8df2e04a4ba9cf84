#include "volvox/sim/run.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "volvox/base/platform/clock.h"
#include "volvox/base/test/temporary_folder.h"
#include "worlds.h"

namespace volvox::sim {
namespace fs = std::filesystem;
namespace {

// A folder with a world, and how to run it.
struct RunTest : testing::Test {
  TemporaryFolder folder;
  Stage stage;
  RunOptions options;

  RunTest() { write_world(chain_world); }
  void write_world(const std::string& text) {
    std::ofstream(folder / "world.sdf") << text;
    options.experiment = (folder / "world.sdf").string();
  }
  std::unique_ptr<sim::Run> prepare(const RunOptions& with) {
    auto run = sim::Run::prepare(with, stage.library, stage.log);
    if (!run.ok()) throw std::runtime_error(run.error().text());
    return std::move(*run);
  }
  // From a snapshot or from the beginning, and into another one.
  RunReport run_on(const std::string& engine, double seconds, const char* from, const char* to, int threads = 1) {
    RunOptions with = options;
    with.engine = engine;
    with.duration = seconds;
    with.threads = threads;
    if (from != nullptr) with.restore_from = folder / from;
    if (to != nullptr) with.save_to = folder / to;
    const auto run = prepare(with);
    run->finish();
    if (!run->write(folder / "out").ok()) throw std::runtime_error("not written");
    return run->report();
  }
};

class Idle final : public mind::Behavior {
 public:
  void step(mind::Agent&) override {}
};

// The time of slow observers is not part of the wall time of the run.
TEST_F(RunTest, OnlookersDoNotCount) {
  const auto run = prepare(options);
  double looked = 0;
  run->add_onlooker([&](const Simulation&) {
    const double begin = platform::monotonic_seconds();
    while (platform::monotonic_seconds() - begin < 0.005) {}
    looked += platform::monotonic_seconds() - begin;
  });
  const double begin = platform::monotonic_seconds();
  run->finish();
  const double passed = platform::monotonic_seconds() - begin;
  EXPECT_GE(looked, 0.1);
  EXPECT_LE(run->report().wall_time, passed - looked);
  EXPECT_GT(run->report().wall_time, 0);
}

// The folder of a killed run shows that it did not end.
TEST_F(RunTest, SaysThatItIsRunning) {
  const auto run = prepare(options);
  const auto status = [&] {
    std::ifstream in(folder / "out/summary.json");
    return nlohmann::json::parse(in)["status"].get<std::string>();
  };
  ASSERT_TRUE(run->announce(folder / "out").ok());
  EXPECT_EQ(status(), "running");
  run->finish();
  ASSERT_TRUE(run->write(folder / "out").ok());
  EXPECT_EQ(status(), "done");
  std::ofstream(folder / "file") << "not a folder";
  EXPECT_FALSE(run->announce(folder / "file").ok());
}

TEST_F(RunTest, AWorldFileRunsAndWritesItsResults) {
  options.settings["count"] = "3";
  const auto run = prepare(options);
  run->finish();
  const RunReport& report = run->report();
  EXPECT_EQ(report.status, "done") << report.failure;
  EXPECT_EQ(report.modules, 3u);
  EXPECT_EQ(report.ticks, 30);
  ASSERT_TRUE(run->write(folder / "out").ok());
  EXPECT_TRUE(fs::exists(folder / "out/summary.json"));
  EXPECT_TRUE(fs::exists(folder / "out/metrics.csv"));
  EXPECT_FALSE(run->write("/proc/nowhere").ok());
}

TEST_F(RunTest, BadOptionsAreRefusedBeforeAnythingRuns) {
  const auto refusal = [&](const std::function<void(RunOptions&)>& change) {
    RunOptions changed = options;
    change(changed);
    auto run = sim::Run::prepare(changed, stage.library, stage.log);
    return run.ok() ? "" : run.error().text();
  };
  EXPECT_EQ(refusal([](RunOptions&) {}), "");
  EXPECT_NE(refusal([](RunOptions& o) { o.engine = "bulet"; }).find("did you mean 'bullet'?"), std::string::npos);
  EXPECT_NE(refusal([](RunOptions& o) { o.experiment = "remod3d/snak"; }).find("did you mean"), std::string::npos);
  EXPECT_NE(refusal([](RunOptions& o) { o.experiment = "nowhere.sdf"; }).find("no file"), std::string::npos);
  EXPECT_NE(refusal([](RunOptions& o) { o.threads = 0; }).find("give 1 to 1024"), std::string::npos);
  EXPECT_NE(refusal([](RunOptions& o) { o.settings["cout"] = "3"; }).find("count"), std::string::npos);
  EXPECT_NE(refusal([](RunOptions& o) { o.settings["count"] = "30"; }).find("9"), std::string::npos);
  EXPECT_NE(refusal([](RunOptions& o) { o.restore_from = "nowhere.snap"; }).find("there is no such file"),
            std::string::npos);
}

// A snapshot on the way is that of a run that ended there, and the run that wrote it goes on as if it had not.
TEST_F(RunTest, SavesOnTheWay) {
  const auto hash_of = [&](const RunOptions& with) {
    const auto run = prepare(with);
    run->finish();
    return run->report().state_hash;
  };
  const std::uint64_t truth = hash_of(options);
  RunOptions saving = options;
  saving.save_to = folder / "a.snap";
  saving.save_every = 0.2;
  EXPECT_EQ(hash_of(saving), truth);  // not written: only the snapshots on the way are there, the last at 0.4 s
  RunOptions going_on = options;
  going_on.restore_from = folder / "a.snap";
  const auto run = prepare(going_on);
  EXPECT_EQ(run->simulation().tick(), 24);
  run->finish();
  EXPECT_EQ(run->report().state_hash, truth);
}

// Of a long run the history in memory has ever fewer samples, from the start to the end; metrics.csv has all.
TEST_F(RunTest, TheHistoryIsBounded) {
  std::string text = chain_world;
  text.replace(text.find("busy"), 4, "idle");
  write_world(text);
  stage.library.minds.behaviors.add("idle", [] { return std::make_unique<Idle>(); });
  options.engine = "none";
  options.dt = *TickLength::parse("1/20");
  options.duration = 2000;
  options.settings["count"] = "1";
  const auto run = prepare(options);
  ASSERT_TRUE(run->announce(folder / "out").ok());
  std::size_t samples = 1;
  run->add_sample_observer([&](const TimePoint&) { ++samples; });
  run->finish();
  ASSERT_TRUE(run->write(folder / "out").ok());
  const auto& history = run->report().history;
  EXPECT_EQ(samples, 40'001u);
  EXPECT_LT(history.size(), RunReport::longest_history);
  EXPECT_GT(history.size(), RunReport::longest_history / 2);
  EXPECT_EQ(history.front().time, 0);
  EXPECT_NEAR(history.back().time, 2000, 1e-9);
  for (std::size_t i = 1; i < history.size(); ++i)
    EXPECT_NEAR(history[i].time - history[i - 1].time, history[1].time, 1e-9) << i;
  std::ifstream in(folder / "out/metrics.csv");
  std::size_t lines = 0;
  for (std::string line; std::getline(in, line);) ++lines;
  EXPECT_EQ(lines, 40'002u);
}

TEST_F(RunTest, WhatCannotBeWrittenDoesNotCostTheRest) {
  options.save_to = folder / "a.snap";
  fs::create_directories(folder / "out/summary.json");  // cannot be replaced by a file
  const auto run = prepare(options);
  run->finish();
  const auto written = run->write(folder / "out");
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().text().find("summary.json"), std::string::npos);
  EXPECT_TRUE(fs::exists(folder / "out/metrics.csv"));
  EXPECT_TRUE(fs::exists(folder / "a.snap"));
}

// A run that is saved halfway and restored gives the same report as the whole run.
TEST_F(RunTest, ARestoredRunEndsAlike) {
  const auto run_to = [&](double seconds, const char* from, const char* to) {
    return run_on("none", seconds, from, to);  // restores exactly: saving does not change the run
  };
  const RunReport whole = run_to(1.0, nullptr, nullptr);
  run_to(0.4, nullptr, "half.snap");
  const RunReport rest = run_to(1.0, "half.snap", nullptr);
  EXPECT_EQ(rest.state_hash, whole.state_hash);
  EXPECT_EQ(rest.ticks, whole.ticks);
  for (const Metric& metric : whole.metrics.all())
    EXPECT_EQ(rest.metrics.find(metric.name)->value, metric.value) << metric.name;
}

// A snapshot of one engine is taken by another; what is lost is named; without --engine that of the snapshot goes on.
TEST_F(RunTest, AnotherEngineGoesOnFromASnapshot) {
  const std::vector<std::string> engines = {"native", "bullet", "ode", "mujoco"};
  for (const std::string& from : engines) {
    run_on(from, 0.4, nullptr, "half.snap", 1);
    for (const std::string& to : engines) {
      const RunReport rest = run_on(to, 1.0, "half.snap", nullptr, 1);
      EXPECT_EQ(rest.status, "done") << from << " to " << to << ": " << rest.failure;
      EXPECT_EQ(rest.engine, to);
      EXPECT_EQ(rest.restored->engine, from);
      const bool nothing_lost = from == to || ((from == "ode" || from == "mujoco") && to != "mujoco");
      EXPECT_EQ(rest.restored->not_carried.empty(), nothing_lost) << from << " to " << to;
      EXPECT_EQ(rest.state_hash, run_on(to, 1.0, "half.snap", nullptr, 3).state_hash) << from << " to " << to;
    }
    const RunReport same = run_on("", 1.0, "half.snap", nullptr, 1);
    EXPECT_EQ(same.engine, from);
    EXPECT_EQ(same.state_hash, run_on(from, 1.0, "half.snap", nullptr, 1).state_hash);
  }
}

// The engine that wrote a snapshot reads it in its precision; the run goes on in its own, and says so.
TEST_F(RunTest, AnotherEngineGoesOnFromFloats) {
  const auto run_to = [&](double seconds, const std::string& engine, std::optional<physics::Precision> precision,
                          const char* from, const char* to) {
    options.precision = precision;
    return run_on(engine, seconds, from, to);
  };
  run_to(0.2, "native", physics::Precision::mixed, nullptr, "floats.snap");
  const RunReport other = run_to(0.4, "bullet", {}, "floats.snap", "bullet.snap");
  EXPECT_EQ(std::pair(other.engine, other.precision), std::pair(std::string("bullet"), std::string("double")));
  const RunReport back = run_to(0.6, "native", physics::Precision::mixed, "bullet.snap", "back.snap");
  EXPECT_EQ(std::pair(back.engine, back.precision), std::pair(std::string("native"), std::string("mixed")));
  EXPECT_EQ(run_to(0.8, "native", physics::Precision::mixed, "back.snap", nullptr).status, "done");
}

// The world of a folder, as a registered experiment.
struct Registered : Experiment {
  explicit Registered(fs::path folder) : home(std::move(folder)) {}
  Result<std::vector<model::ParameterDesc>> parameters(const fs::path&) const override {
    return Experiment::parameters(home);
  }
  Result<model::WorldModel> init(Setup& setup) override {
    setup.folder = home;
    return Experiment::init(setup);
  }
  fs::path home;
};

TEST_F(RunTest, ASnapshotIsOfItsExperiment) {
  for (const char* name : {"one", "other"})
    stage.library.experiments.add(name, [&] { return std::make_unique<Registered>(folder.path()); });
  options.experiment = "one";
  options.save_to = folder / "one.snap";
  const auto run = prepare(options);
  run->finish();
  ASSERT_TRUE(run->write(folder / "out").ok());
  options.save_to.reset();
  options.restore_from = folder / "one.snap";
  prepare(options);
  options.experiment = "other";
  const auto refused = sim::Run::prepare(options, stage.library, stage.log);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("the experiment was one, now it is other"), std::string::npos)
      << refused.error().text();
}

struct Throwing final : Registered {
  using Registered::Registered;
  void shutdown(const Simulation&, Metrics&) override { throw 42; }
  Result<void> write(const fs::path&) const override { throw std::runtime_error("on purpose"); }
};

// What an experiment throws at the end fails the run, and its results are written all the same.
TEST_F(RunTest, KeepsTheResultsWhereShutdownThrows) {
  stage.library.experiments.add("throwing", [&] { return std::make_unique<Throwing>(folder.path()); });
  options.experiment = "throwing";
  const auto run = prepare(options);
  run->finish();
  EXPECT_EQ(run->report().status, "failed");
  EXPECT_NE(run->report().failure.find("experiment 'throwing'"), std::string::npos) << run->report().failure;
  const auto written = run->write(folder / "out");
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().text().find("on purpose"), std::string::npos) << written.error().text();
  std::ifstream summary(folder / "out" / "summary.json");
  const std::string text(std::istreambuf_iterator<char>(summary), {});
  EXPECT_NE(text.find("\"failed\""), std::string::npos);
  EXPECT_TRUE(fs::exists(folder / "out" / "metrics.csv"));
}

// Three boxes in one place, one beside them that lies on the ground as it should, and one whose inertia is nonsense.
TEST_F(RunTest, WarnsOnceOfWhatOverlapsAndOfInertiaThatCannotBe) {
  const auto box = [](const std::string& name, const std::string& at, const std::string& inertia) {
    return "<model name='" + name + "'><pose>" + at +
           " 0 0 0</pose><link name='body'><inertial><mass>1</mass><inertia><ixx>" + inertia + "</ixx><iyy>" + inertia +
           "</iyy><izz>" + inertia +
           "</izz></inertia></inertial><collision name='c'><geometry><box><size>0.1 0.1 0.1</size></box></geometry>"
           "</collision></link></model>\n";
  };
  write_world(
      "<?xml version='1.0'?>\n<sdf version='1.9' xmlns:volvox='https://volvox.sim/sdf'><world name='boxes'>\n"
      "<volvox:run duration='0.1' dt='1/60'/>\n"
      "<model name='ground'><static>true</static><link name='g'><collision name='c'><geometry><plane><normal>0 0 "
      "1</normal></plane></geometry></collision></link></model>\n" +
      box("a", "0 0 1", "0.0017") + box("b", "0.02 0 1", "0.0017") + box("c", "0 0.05 1", "0.0017") +
      box("apart", "2 0 0.05", "0.0017") + box("odd", "3 0 0.05", "1e-12") + "</world></sdf>\n");
  const auto run = prepare(options);
  run->finish();
  std::vector<std::string> overlaps, inertias;
  for (const std::string& warning : run->report().warnings) {
    if (warning.find("overlap") != std::string::npos) overlaps.push_back(warning);
    if (warning.find("moment of inertia") != std::string::npos) inertias.push_back(warning);
  }
  ASSERT_EQ(overlaps.size(), 1u);
  for (const char* word : {"3 pairs", "'a.body' and 'b.body' by 80 mm", "place them apart"})
    EXPECT_NE(overlaps[0].find(word), std::string::npos) << overlaps[0];
  EXPECT_EQ(overlaps[0].find("apart.body"), std::string::npos) << overlaps[0];
  ASSERT_EQ(inertias.size(), 1u);
  EXPECT_NE(inertias[0].find("'odd.body'"), std::string::npos) << inertias[0];
}

}  // namespace
}  // namespace volvox::sim
