#include "volvox/sim/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "worlds.h"

namespace volvox::sim {
namespace {

constexpr int ticks = 90;

std::uint64_t hash_after(Stage& stage, int threads, std::uint64_t seed = 1) {
  auto simulation = stage.simulate(stage.busy_world(), threads, seed);
  advance(*simulation, ticks);
  return simulation->hash();
}

TEST(Simulation, SameBitsAtAnyNumberOfThreads) {
  Stage stage;
  const auto reference = hash_after(stage, 1);
  for (const int threads : {1, 2, 3, 4, 8}) EXPECT_EQ(hash_after(stage, threads), reference) << threads;
  EXPECT_NE(hash_after(stage, 1, 2), reference) << "another seed must matter";
}

TEST(Simulation, TheOrderOfModulesDoesNotMatter) {
  Stage stage;
  const auto reference = hash_after(stage, 1);
  RandomStream random(9, 0, "shuffle");
  for (int round = 0; round < 3; ++round) {
    auto simulation = stage.simulate(stage.busy_world(), 2);
    for (int tick = 0; tick < ticks; ++tick) {
      std::vector<mind::AgentIndex> order(simulation->minds().size());
      std::iota(order.begin(), order.end(), 0u);
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
      simulation->minds().set_order(order);
      advance(*simulation, 1);
    }
    EXPECT_EQ(simulation->hash(), reference);
  }
}

TEST(Simulation, GoesOnAfterRestoreAsIfItHadNotStopped) {
  Stage stage;
  for (const std::string& engine : stage.library.engines.names()) {
    auto first = stage.simulate(stage.busy_world(), 1, 1, engine);
    advance(*first, 50);
    auto snapshot = first->save();
    ASSERT_TRUE(snapshot.ok());
    auto second = stage.simulate(stage.busy_world(), 2, 1, engine);
    ASSERT_TRUE(second->restore(*snapshot).ok());
    EXPECT_EQ(second->tick(), 50);
    EXPECT_EQ(first->hash(), second->hash());
    for (int i = 0; i < 5; ++i) {
      advance(*first, 10);
      advance(*second, 10);
      ASSERT_EQ(first->hash(), second->hash()) << engine << " after " << (i + 1) * 10;
    }
  }
}

TEST(Simulation, SavingDoesNotDisturbAnEngineThatRestoresExactly) {
  Stage stage;
  for (const std::string& engine : stage.library.engines.names()) {
    auto plain = stage.simulate(stage.busy_world(), 1, 1, engine);
    if (!plain->world().engine_info().exact_restore) continue;
    auto saved = stage.simulate(stage.busy_world(), 1, 1, engine);
    advance(*plain, 40);
    advance(*saved, 20);
    ASSERT_TRUE(saved->save().ok());
    advance(*saved, 20);
    EXPECT_EQ(plain->hash(), saved->hash()) << engine;
  }
}

TEST(Simulation, HashingChangesNothing) {
  Stage stage;
  auto quiet = stage.simulate(stage.busy_world()), hashed = stage.simulate(stage.busy_world());
  for (int i = 0; i < 40; ++i) {
    advance(*quiet, 1);
    advance(*hashed, 1);
    hashed->hash();
  }
  EXPECT_EQ(quiet->hash(), hashed->hash());
}

TEST(Simulation, DamagedAndForeignSnapshotsAreRefused) {
  Stage stage;
  auto simulation = stage.simulate(stage.busy_world());
  advance(*simulation, 10);
  const auto snapshot = *simulation->save();
  const auto refusal = [&](std::vector<std::byte> bytes, std::uint64_t seed = 1) {
    auto other = stage.simulate(stage.busy_world(), 1, seed);
    const auto restored = other->restore(bytes);
    return restored.ok() ? "" : restored.error().text();
  };
  EXPECT_EQ(refusal(snapshot), "");
  EXPECT_NE(refusal({}).find("not a snapshot"), std::string::npos);
  EXPECT_NE(refusal(snapshot, 2).find("another run"), std::string::npos);
  for (const std::size_t keep : {snapshot.size() / 3, snapshot.size() - 1}) {
    auto cut = snapshot;
    cut.resize(keep);
    EXPECT_NE(refusal(cut).find("damaged"), std::string::npos) << keep;
  }
  auto longer = snapshot;
  longer.push_back({});
  EXPECT_NE(refusal(longer).find("damaged"), std::string::npos);
  auto version = snapshot;
  version[8] = std::byte{99};
  EXPECT_NE(refusal(version).find("format 99"), std::string::npos);
}

TEST(Simulation, ABehaviorThatListsNoStateIsNamed) {
  Stage stage;
  auto simulation = stage.simulate(stage.busy_world("forgetful"));
  advance(*simulation, 2);
  const auto saved = simulation->save();
  ASSERT_FALSE(saved.ok());
  EXPECT_NE(saved.error().text().find("'forgetful' of module 'c0_0'"), std::string::npos) << saved.error().text();
}

// The ground supports a long chain along its whole length: the loads of its docks are almost zero, also right after the
// start.
TEST(Simulation, AChainThatLiesOnTheGroundStaysWhole) {
  Stage stage;
  model::ModelLibrary models;
  for (const double height : {0.042, 0.05}) {
    model::WorldBuilder builder("lying");
    builder.add_ground();
    builder.add_chain(*models.load("superbot"), 150, "back", "front", 0, Pose{{0, 0, height}, {}}, "m");
    auto world = std::make_shared<const model::WorldModel>(*builder.build());
    stage.library.minds.behaviors.add("idle", [] { return std::make_unique<Forgetful>(); });
    auto simulation = stage.simulate(world);
    double bending = 0;
    for (int tick = 0; tick < 30; ++tick) {
      advance(*simulation, 1);
      for (world::DockIndex d = 0; d < simulation->world().docks(); ++d)
        bending = std::max(bending, simulation->world().dock_load(d).bending);
    }
    EXPECT_EQ(simulation->world().docks_broken(), 0) << height;
    EXPECT_LT(bending, 10) << height;  // N m; their strength is 20
  }
}

TEST(Simulation, ObserversSeeEveryTick) {
  Stage stage;
  auto simulation = stage.simulate(stage.busy_world());
  std::vector<std::int64_t> seen;
  simulation->add_observer([&](const Simulation& s) { seen.push_back(s.tick()); });
  advance(*simulation, 3);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_GT(simulation->phase_times().of(Phase::move), 0);
}

// Extensions are called before scripts in the input phase and after observers in the publish phase; measures come last.
TEST(Simulation, HooksTakeTheirTurns) {
  std::vector<std::string> turns;
  class Listener final : public mind::Extension {
   public:
    explicit Listener(std::vector<std::string>& turns) : turns_(turns) {}
    void before_tick(Simulation& s) override {
      turns_.push_back("hears");
      s.give(JointInput{"c0_0", "pitch", 0.1});
    }
    void after_tick(const Simulation& s) override { turns_.push_back("tells of " + std::to_string(s.inputs().size())); }

   private:
    std::vector<std::string>& turns_;
  } listener(turns);
  Stage stage;
  auto simulation = stage.simulate(stage.busy_world());
  simulation->add_measure([&](const Simulation&) { turns.push_back("measures"); });
  simulation->add_observer([&](const Simulation& s) { turns.push_back("looks at " + std::to_string(s.tick())); });
  simulation->add_script([&](Simulation& s) { turns.push_back("acts at " + std::to_string(s.tick())); }, "script");
  simulation->attach("listener", listener);
  advance(*simulation, 1);
  EXPECT_EQ(turns, (std::vector<std::string>{"hears", "acts at 0", "looks at 1", "tells of 1", "measures"}));
}

TEST(Simulation, WhatAHookThrowsNamesIt) {
  Stage stage;
  auto simulation = stage.simulate(stage.busy_world());
  bool acts = false;
  simulation->add_script([&](Simulation&) { acts ? throw std::runtime_error("too late") : void(); }, "experiment 'x'");
  simulation->add_measure([](const Simulation& s) { s.tick() == 1 ? throw 42 : void(); }, "a meter");
  StepStatus status = simulation->step();
  EXPECT_EQ(status.text(), "a meter at 0.017 s, in measure: an exception of an unknown type");
  EXPECT_EQ(simulation->tick(), 1) << "the tick itself was whole";
  acts = true;
  status = simulation->step();
  EXPECT_EQ(status.phase, "input");
  EXPECT_EQ(status.who, "experiment 'x'");
  EXPECT_EQ(status.what, "too late");
  EXPECT_EQ(simulation->tick(), 1);
}

// Fails on board at a given substep.
class Failing final : public mind::Behavior {
 public:
  explicit Failing(int substep) : left_(substep) {}
  OnBoard on_board() const override { return {{}, {"pitch"}}; }
  void control(mind::Agent&, double) override {
    if (left_-- == 0) throw mind::AgentError("enough");
  }
  void step(mind::Agent&) override {}

 private:
  int left_;
};

TEST(Simulation, AFailureOnBoardHappensAtItsSubstep) {
  for (const int substep : {0, 5}) {
    Stage stage;
    stage.library.minds.behaviors.add("failing", [&] { return std::make_unique<Failing>(substep); });
    auto simulation = stage.simulate(stage.busy_world("failing"));
    StepStatus status = simulation->step();
    if (status.ok()) status = simulation->step();
    EXPECT_EQ(status.phase, "move");
    EXPECT_NEAR(status.time.seconds(), substep / 240.0, 1e-8);
    EXPECT_EQ(status.who, "module 'c0_0'");
  }
}

TEST(Input, ActionsOfManyModulesGoThroughTheirRecord) {
  const ActionInput given{physics::Control::velocity, 1, {0, 3, 1}, {2, 0, 1}, {0.1, -1.0 / 3, 1e-300}};
  const auto read = input_of(record_of(given));
  ASSERT_TRUE(read.ok());
  const auto& back = std::get<ActionInput>(*read);
  EXPECT_EQ(back.control, given.control);
  EXPECT_EQ(back.width, given.width);
  EXPECT_EQ(back.agents, given.agents);
  EXPECT_EQ(back.actions, given.actions);
  EXPECT_EQ(back.values, given.values);
  for (const char* bad : {"", "position", "position 0", "position 9 0 0 0", "spin 1 0 0 0", "position 1 0",
                          "position 1 0 0", "position 1 0 0 x", "position 1 -1 0 0", "position 3 0 0 1 2"})
    EXPECT_FALSE(input_of({"action", "", "", bad, 0, {}}).ok()) << bad;
}

// It counts at once, is part of a snapshot, and is recorded with the next tick; given to that tick it does the same.
TEST(Input, ActionsTakeEffectNow) {
  Stage stage;
  auto now = stage.simulate(stage.busy_world()), later = stage.simulate(stage.busy_world());
  const mind::Agent& agent = now->minds().agent(0);
  const auto& names = agent.actions();
  const auto pitch = static_cast<std::uint32_t>(std::find(names.begin(), names.end(), "pitch") - names.begin());
  ASSERT_LT(pitch, names.size());
  const ActionInput input{physics::Control::position, 1, {0}, {pitch}, {0.25}};
  const std::uint64_t before = now->hash();
  ASSERT_TRUE(now->give_now(input).ok());
  EXPECT_NE(now->hash(), before);
  EXPECT_EQ(now->taken_inputs().size(), 1u);
  later->give(input);
  ASSERT_TRUE(now->step().ok());
  ASSERT_TRUE(later->step().ok());
  EXPECT_EQ(now->hash(), later->hash());
  EXPECT_EQ(now->inputs().size(), 1u);
  EXPECT_EQ(now->inputs_so_far(), 1);
  EXPECT_TRUE(now->taken_inputs().empty());

  const std::uint64_t same = now->hash();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ActionInput& bad : {ActionInput{physics::Control::position, 1, {9999}, {0}, {0}},
                                 ActionInput{physics::Control::position, 1, {0}, {9999}, {0}},
                                 ActionInput{physics::Control::position, 1, {0}, {pitch}, {nan}},
                                 ActionInput{physics::Control::position, 3, {0}, {pitch}, {0, 0, 0}},
                                 ActionInput{physics::Control::position, 1, {0, 0}, {pitch}, {0}}})
    EXPECT_FALSE(now->give_now(bad).ok());
  EXPECT_EQ(now->hash(), same);
  EXPECT_TRUE(now->taken_inputs().empty());
}

// The recorded row of an input gives the same input again.
TEST(Input, GoesThroughItsRecord) {
  const Twist rolling{{0.5, -0.0, 0}, {0, 0, 1e-300}};
  for (const Input& input :
       {Input(ParameterInput{"", "speed", "2.5"}), Input(JointInput{"m", "neck", 0.1}),
        Input(DockInput{"m", "front", true}), Input(PushInput{"m", "", {1, 2, 3}}),
        Input(PerceptInput{"m", "stick", -0.3}), Input(PoseInput{"m", {{1, 2, 0.1}, {0, 0, 0, 1}}}),
        Input(PoseInput{"m", {{1, 2, 0.1}, {1, 0, 0, 0}}, rolling}), Input(TapInput{4'000'000'000})}) {
    const InputRecord record = record_of(input);
    const auto again = input_of(record);
    ASSERT_TRUE(again.ok()) << again.error().text();
    ASSERT_EQ(again->index(), input.index()) << record.kind;
    EXPECT_EQ(module_of(*again), module_of(input));
    const InputRecord second = record_of(*again);
    EXPECT_EQ(second.name, record.name);
    EXPECT_EQ(second.text, record.text);
    EXPECT_EQ(second.value, record.value);
    EXPECT_EQ(second.force, record.force);
    if (const auto* pose = std::get_if<PoseInput>(&input)) {
      EXPECT_EQ(std::get<PoseInput>(*again).pose, pose->pose);
      EXPECT_EQ(std::get<PoseInput>(*again).velocity, pose->velocity);
    }
  }
  for (const char* bad : {"", "1 2 3", "1 2 3 0 0 0 1 2", "1 2 3 0 0 0 one"})
    EXPECT_FALSE(input_of({"pose", "m", "", bad, 0, {}}).ok()) << bad;
  EXPECT_FALSE(input_of({"nonsense", "m", "", "", 0, {}}).ok());
}

}  // namespace
}  // namespace volvox::sim
