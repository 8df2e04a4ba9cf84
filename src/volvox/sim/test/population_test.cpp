#include "volvox/sim/population.h"

#include <gtest/gtest.h>

#include <fstream>

#include "volvox/base/test/temporary_folder.h"
#include "worlds.h"

namespace volvox::sim {
namespace {

struct PopulationTest : testing::Test {
  TemporaryFolder folder;
  Stage stage;

  PopulationTest() { std::ofstream(folder / "world.sdf") << chain_world; }
  std::shared_ptr<sim::Run> prepare(std::uint64_t seed) {
    RunOptions options;
    options.experiment = (folder / "world.sdf").string();
    options.duration = 1;
    options.seed = seed;
    auto run = sim::Run::prepare(options, stage.library, stage.log);
    if (!run.ok()) throw std::runtime_error(run.error().text());
    return std::move(*run);
  }
  std::vector<std::uint64_t> hashes(int threads, std::size_t runs, std::int64_t ticks) {
    std::vector<std::shared_ptr<sim::Run>> all;
    for (std::size_t i = 0; i < runs; ++i) all.push_back(prepare(i + 1));
    Population population(all, threads);
    for (const StepStatus& status : population.step(ticks)) EXPECT_TRUE(status.ok()) << status.text();
    std::vector<std::uint64_t> found;
    for (const auto& run : all) found.push_back(run->simulation().hash());
    return found;
  }
};

// A world has the same bits alone and among others, at any number of threads.
TEST_F(PopulationTest, WorldsAreTheSameAloneAndTogether) {
  constexpr std::size_t runs = 7;
  constexpr std::int64_t ticks = 30;
  std::vector<std::uint64_t> alone;
  for (std::size_t i = 0; i < runs; ++i) {
    const auto run = prepare(i + 1);
    for (std::int64_t tick = 0; tick < ticks; ++tick) ASSERT_TRUE(run->step().ok());
    alone.push_back(run->simulation().hash());
  }
  EXPECT_NE(alone[0], alone[1]);
  for (const int threads : {1, 2, 5}) EXPECT_EQ(hashes(threads, runs, ticks), alone) << threads;
}

TEST_F(PopulationTest, StepsOnlyThoseThatAreNamed) {
  const std::vector<std::shared_ptr<sim::Run>> all = {prepare(1), prepare(2), prepare(3)};
  Population population(all, 2);
  const std::vector<std::size_t> which = {2, 0};
  std::vector<StepStatus> statuses(2);
  population.step(5, which, statuses);
  EXPECT_EQ(all[0]->simulation().tick(), 5);
  EXPECT_EQ(all[1]->simulation().tick(), 0);
  EXPECT_EQ(all[2]->simulation().tick(), 5);
}

TEST_F(PopulationTest, OneThatFailsDoesNotStopTheOthers) {
  const std::vector<std::shared_ptr<sim::Run>> all = {prepare(1), prepare(2)};
  all[0]->simulation().add_script(
      [](Simulation& simulation) {
        if (simulation.tick() == 3) throw std::runtime_error("enough");
      },
      "a script");
  Population population(all, 2);
  const std::vector<StepStatus> statuses = population.step(10);
  EXPECT_NE(statuses[0].text().find("enough"), std::string::npos) << statuses[0].text();
  EXPECT_TRUE(statuses[1].ok());
  EXPECT_EQ(all[0]->simulation().tick(), 3);
  EXPECT_EQ(all[1]->simulation().tick(), 10);
  // And is left alone as long as its status says so.
  std::vector<StepStatus> again = statuses;
  population.step(1, std::vector<std::size_t>{0, 1}, again);
  EXPECT_EQ(all[0]->simulation().tick(), 3);
  EXPECT_EQ(all[1]->simulation().tick(), 11);
}

// In place: back to an earlier tick, forth to a later one, and the samples go with it.
TEST_F(PopulationTest, RunsAreRestoredInPlace) {
  const std::shared_ptr<sim::Run> run = prepare(4);
  const auto step = [&](int ticks) {
    for (int i = 0; i < ticks; ++i) ASSERT_TRUE(run->step().ok());
  };
  step(10);
  const auto early = run->snapshot();
  ASSERT_TRUE(early.ok());
  step(20);
  const std::uint64_t later = run->simulation().hash();
  const auto late = run->snapshot();
  ASSERT_TRUE(late.ok());
  ASSERT_TRUE(run->restore(*early).ok());
  EXPECT_EQ(run->simulation().tick(), 10);
  EXPECT_LE(run->report().history.back().time, run->simulation().now().seconds() + 1e-9);
  step(20);
  EXPECT_EQ(run->simulation().hash(), later);
  ASSERT_TRUE(run->restore(*early).ok());
  ASSERT_TRUE(run->restore(*late).ok());
  EXPECT_EQ(run->simulation().hash(), later);
  for (std::size_t i = 1; i < run->report().history.size(); ++i)
    EXPECT_LT(run->report().history[i - 1].time, run->report().history[i].time);
}

// Fails in every module from a time on, until somebody says that it need not.
class Fails final : public mind::Behavior {
 public:
  explicit Fails(const bool& spared) : spared_(spared) {}
  void step(mind::Agent& agent) override {
    if (agent.time() > 0.1 && !spared_) throw std::runtime_error("enough");
  }
  VOLVOX_STATE()

 private:
  const bool& spared_;
};

TEST_F(PopulationTest, ARunThatFailedGoesOnFromASnapshot) {
  bool spared = false;
  stage.library.minds.behaviors.add("busy", [&spared] { return std::make_unique<Fails>(spared); });
  const std::shared_ptr<sim::Run> run = prepare(1);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(run->step().ok());
  const auto snapshot = run->snapshot();
  ASSERT_TRUE(snapshot.ok());
  StepStatus status;
  for (int i = 0; i < 10 && status.ok(); ++i) status = run->step();
  EXPECT_NE(status.text().find("module 'm0'"), std::string::npos) << status.text();
  EXPECT_EQ(run->report().status, "failed");
  ASSERT_TRUE(run->restore(*snapshot).ok());
  EXPECT_EQ(run->report().status, "done");
  spared = true;
  for (int i = 0; i < 10; ++i) {
    status = run->step();
    ASSERT_TRUE(status.ok()) << status.text();  // and not of what another module did in the tick that failed
  }
}

TEST_F(PopulationTest, ASnapshotThatIsRefusedChangesNothing) {
  const std::shared_ptr<sim::Run> run = prepare(4), other = prepare(5);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(run->step().ok() && other->step().ok());
  const std::uint64_t before = run->simulation().hash();
  const auto foreign = other->snapshot();
  ASSERT_TRUE(foreign.ok());
  EXPECT_FALSE(run->restore(*foreign).ok());
  auto damaged = *run->snapshot();
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_FALSE(run->restore(damaged).ok());
  EXPECT_FALSE(run->restore("").ok());
  EXPECT_EQ(run->simulation().hash(), before);
}

}  // namespace
}  // namespace volvox::sim
