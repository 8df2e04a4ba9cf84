// Worlds of SuperBots with minds of every kind, for the tests of the loop.
#pragma once

#include <numeric>

#include "volvox/mind/behavior.h"
#include "volvox/sim/experiment.h"

namespace volvox::sim {

struct Gossip {
  int hops = 0;
  double phase = 0;
};
VOLVOX_TYPE(Gossip, hops, phase)

struct Belief {
  std::vector<double> phases;
  int heard = 0;
};
VOLVOX_TYPE(Belief, phases, heard)

// Uses everything that a mind has: noise, messages, a model, random numbers, docks.
class Busy final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override {
    phase_ = agent.random().uniform(0, 2 * pi);
    agent.send("front", Gossip{0, phase_});
  }
  void step(mind::Agent& agent) override {
    phase_ += agent.dt() * (2 + 0.1 * agent.random().normal() + 0.1 * agent.percept<Vec3>("accelerometer").z);
    agent.move_to("pitch", 0.3 * volvox::sin(phase_));
    agent.move_to("yaw", 0.2 * volvox::cos(phase_));
    agent.broadcast(Gossip{hops_, phase_});
    while (auto message = agent.read())
      // A corrupted message still arrives, but its content may be meaningless.
      if (auto gossip = message->as<Gossip>(); gossip && std::fabs(gossip->phase) < 1e3) {
        hops_ = std::max(hops_, gossip->hops % 1000 + 1) % 1000;
        phase_ += 0.01 * volvox::sin(gossip->phase - phase_);
        agent.model<Belief>().phases.push_back(gossip->phase);
        if (agent.model<Belief>().phases.size() > 20) agent.model<Belief>().phases.clear();
      }
    if (agent.random().chance(0.01)) agent.disable_dock("front");
    if (agent.random().chance(0.05)) agent.enable_dock("front");
  }
  bool receive(mind::Agent& agent, const mind::Message&) override {
    int& heard = agent.model<Belief>().heard;
    heard = heard % 1000 + 1;  // whatever a damaged snapshot said
    if (heard % 5 == 0) agent.send("back", Gossip{hops_, phase_});
    return agent.random().chance(0.3);
  }
  void end_tick(mind::Agent& agent) override {
    if (agent.random().chance(0.1)) agent.broadcast(Gossip{hops_, -phase_});
  }
  VOLVOX_STATE(phase_, hops_)

 private:
  double phase_ = 0;
  int hops_ = 0;
};

class Forgetful final : public mind::Behavior {
 public:
  void step(mind::Agent&) override { ++count_; }
  int count_ = 0;
};

// A chain of SuperBots on the ground, as a world file.
inline constexpr const char* chain_world = R"(<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf">
<world name="pair">
  <volvox:parameter name="count" value="2" min="1" max="9">how many</volvox:parameter>
  <volvox:run duration="0.5" dt="1/60"/>
  <model name="ground"><static>true</static><link name="g"><collision name="c"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>
  <volvox:population name="m" type="chain" robot="superbot" count="${count}" pose="0 0 0.05 0 0 0" from="back" to="front">
    <volvox:mind behavior="busy"/>
  </volvox:population>
</world>
</sdf>)";

struct Stage {
  Stage() {
    library.minds.behaviors.add("busy", [] { return std::make_unique<Busy>(); });
    library.minds.behaviors.add("forgetful", [] { return std::make_unique<Forgetful>(); });
  }

  // A few chains of noisy SuperBots on the ground, near enough to meet.
  std::shared_ptr<const model::WorldModel> busy_world(const std::string& behavior = "busy") {
    model::ModelLibrary models;
    auto superbot = models.load("superbot");
    if (!superbot.ok()) throw std::runtime_error(superbot.error().text());
    model::ModuleModel noisy = **superbot;
    noisy.percept_noise["accelerometer"] = {{"gaussian", {{"deviation", "0.2"}}, 0}, {"delay", {{"ticks", "3"}}, 0}};
    noisy.sensors.push_back({"eye", "camera", 0, {}, {{"width", "6"}, {"height", "4"}, {"max_range", "2"}}, 0});
    noisy.percept_noise["eye"] = {{"gaussian", {{"deviation", "0.01"}}, 0}};
    noisy.action_noise["pitch"] = {{"gaussian", {{"deviation", "0.01"}}, 0}};
    noisy.message_noise["*"] = {{"dropout", {{"probability", "0.2"}}, 0},
                                {"corrupt", {{"probability", "0.1"}}, 0},
                                {"delay", {{"ticks", "2"}}, 0}};
    const auto model = std::make_shared<const model::ModuleModel>(std::move(noisy));
    model::WorldBuilder builder("busy");
    builder.add_ground();
    model::PlacementOptions options;
    options.mind = model::Mind{behavior, {}, "test", 1};
    for (int i = 0; i < 3; ++i)
      builder.add_chain(model, 4, "back", "front", 0, Pose{{0, 0.25 * i, 0.05}, {}}, "c" + std::to_string(i) + "_",
                        options);
    auto built = builder.build();
    if (!built.ok()) throw std::runtime_error(built.error().text());
    return std::make_shared<const model::WorldModel>(std::move(*built));
  }

  std::unique_ptr<Simulation> simulate(std::shared_ptr<const model::WorldModel> world, int threads = 1,
                                       std::uint64_t seed = 1, const std::string& engine = physics::default_engine) {
    SimulationSettings settings;
    settings.threads = threads;
    settings.seed = seed;
    settings.engine = engine;
    auto made = Simulation::create(std::move(world), settings, library.engines, library.minds, log);
    if (!made.ok()) throw std::runtime_error(made.error().text());
    return std::move(*made);
  }

  Library library;
  Log log;
};

inline void advance(Simulation& simulation, int ticks) {
  for (int i = 0; i < ticks; ++i) {
    const StepStatus status = simulation.step();
    if (!status.ok()) throw std::runtime_error(status.text());
  }
}

}  // namespace volvox::sim
