// The same bits at any number of threads, with minds that sense, send messages, draw random numbers and keep state.
// Small enough for the thread sanitizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "behaviors.h"
#include "experiments.h"
#include "volvox/physics/engine.h"
#include "volvox/sim/run.h"

namespace volvox {
namespace {

struct Gossip {
  double value = 0;
  std::vector<double> trail;
};
VOLVOX_TYPE(Gossip, value, trail)

// Uses every feature of an agent.
class Chatter final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override {
    // It replaces behaviours that have parameters, and a parameter that is never read is an error.
    for (const char* name : {"index", "amplitude", "wavelength", "frequency"}) agent.parameter(name, 0.0);
    agent.parameter("sync", "");
  }
  void step(mind::Agent& agent) override {
    Gossip& model = agent.model<Gossip>();
    while (const auto message = agent.read())
      if (const auto gossip = message->as<Gossip>()) model.value = 0.5 * (model.value + gossip->value);
    model.value += 0.1 * agent.random().normal();
    model.trail.push_back(agent.angle("pitch"));
    agent.move_to("pitch", 0.3 * volvox::sin(agent.time() + model.value));
    agent.move_to("yaw", 0.1 * agent.random().uniform(-1, 1));
    agent.broadcast(Gossip{model.value, {agent.angle("yaw")}});
    agent.log("{:.3f}", model.value);
    ++steps_;
  }
  bool receive(mind::Agent& agent, const mind::Message&) override { return agent.random().chance(0.3); }
  VOLVOX_STATE(steps_)

 private:
  int steps_ = 0;
};

struct Outcome {
  std::uint64_t hash = 0;
  std::vector<std::string> log;
};

Outcome run(const std::string& experiment, int modules, int threads, int ticks, bool shuffled) {
  sim::Library library;
  robots::register_behaviors(library.minds.behaviors);
  experiments::register_experiments(library.experiments);
  for (const char* name : {"alternate", "snake"})
    library.minds.behaviors.add(name, [] { return std::make_unique<Chatter>(); });
  Outcome outcome;
  Log log([&](LogLevel, std::string_view line) { outcome.log.emplace_back(line); });
  sim::RunOptions options;
  options.experiment = experiment;
  options.threads = threads;
  options.settings["modules"] = std::to_string(modules);
  auto run = sim::Run::prepare(options, library, log);
  EXPECT_TRUE(run.ok()) << run.error().text();
  if (!run.ok()) return outcome;
  sim::Simulation& simulation = (*run)->simulation();
  if (shuffled) {
    std::vector<mind::AgentIndex> order(simulation.minds().size());
    std::iota(order.begin(), order.end(), 0u);
    RandomStream random(7, 0, "order");
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    simulation.minds().set_order(order);
  }
  for (int i = 0; i < ticks; ++i) {
    const StepStatus status = simulation.step();
    EXPECT_TRUE(status.ok()) << status.text();
    if (!status.ok()) break;
  }
  outcome.hash = simulation.hash();
  return outcome;
}

class Threads : public testing::TestWithParam<const char*> {};

TEST_P(Threads, GiveTheSameBits) {
  const Outcome alone = run(GetParam(), 100, 1, 20, false);
  for (const int threads : {2, 3, 8}) {
    const Outcome together = run(GetParam(), 100, threads, 20, false);
    EXPECT_EQ(alone.hash, together.hash) << threads << " threads";
    EXPECT_EQ(alone.log, together.log) << threads << " threads";
  }
}

TEST_P(Threads, TheOrderOfModulesDoesNotMatter) {
  const Outcome in_order = run(GetParam(), 100, 4, 20, false);
  const Outcome shuffled = run(GetParam(), 100, 4, 20, true);
  EXPECT_EQ(in_order.hash, shuffled.hash);
  EXPECT_EQ(in_order.log, shuffled.log);
}

// A pile in one group of contacts, large enough to be cut into strips that several threads sweep
// (physics/native/contact_sweep.cpp: 200 contacts a strip).
std::uint64_t pile(int threads) {
  ThreadPool pool(threads);
  auto engine = physics::built_in_engines().make("native", {.threads = &pool});
  EXPECT_TRUE(engine.ok());
  const auto solid = [](const model::Shape& shape) {
    auto geometry = std::make_shared<model::Geometry>();
    geometry->colliders.push_back({"solid", shape, {}, {}});
    return geometry;
  };
  physics::BodyDesc ground;
  ground.motion = physics::Motion::fixed;
  ground.geometry = solid(model::Plane{});
  EXPECT_TRUE((*engine)->add_body(ground).ok());
  physics::BodyDesc box;
  box.geometry = solid(model::Box{{0.1, 0.1, 0.1}});
  box.moments = {0.002, 0.002, 0.002};
  for (int i = 0; i < 14 * 6 * 3; ++i) {
    box.pose.position = {0.101 * (i % 14) + 0.02 * (i / 84), 0.101 * (i / 14 % 6), 0.049 + 0.099 * (i / 84)};
    EXPECT_TRUE((*engine)->add_body(box).ok());
  }
  for (int tick = 0; tick < 6; ++tick) {
    const StepStatus status = (*engine)->advance(Time::seconds(tick / 60.0), Time::seconds((tick + 1) / 60.0));
    EXPECT_TRUE(status.ok()) << status.what;
  }
  std::vector<physics::Contact> contacts;
  (*engine)->contacts(contacts);
  EXPECT_GT(contacts.size(), 800u) << "or there are too few strips to see anything";
  HashArchive hash;
  (*engine)->archive(hash);
  return hash.value();
}

TEST(ThreadsInPhysics, SweepALargePileInStrips) {
  const std::uint64_t alone = pile(1);
  for (const int threads : {2, 4}) EXPECT_EQ(pile(threads), alone) << threads << " threads";
}

// Minds think on several threads, and what they say goes through wires and radios.
TEST(ThreadsInTheNetwork, FloodABoard) {
  const auto flood = [](int threads) {
    sim::Library library;
    robots::register_behaviors(library.minds.behaviors);
    experiments::register_experiments(library.experiments);
    Log log;
    sim::RunOptions options;
    options.experiment = "vouivre/checkerboard";
    options.settings["simulation"] = "8";  // wires and radio
    options.duration = 1;
    options.threads = threads;
    auto run = sim::Run::prepare(options, library, log);
    EXPECT_TRUE(run.ok()) << run.error().text();
    (*run)->finish();
    return (*run)->report().state_hash;
  };
  EXPECT_EQ(flood(4), flood(1));
}

INSTANTIATE_TEST_SUITE_P(Experiments, Threads, testing::Values("remod3d/snake", "remod3d/scatter"),
                         [](const auto& one) { return std::string(one.param).substr(8); });

}  // namespace
}  // namespace volvox
