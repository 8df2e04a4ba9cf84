// The minds of all modules, and the phases of a tick that are theirs: sense, think, send,
// act and deliver. The loop (sim/simulation.cpp) calls them in order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "volvox/base/log.h"
#include "volvox/base/thread_pool.h"
#include "volvox/mind/agent.h"
#include "volvox/mind/behavior.h"
#include "volvox/world/world.h"

namespace volvox::mind {

// Why a mind could not go on.
struct MindFailure {
  std::string module;
  std::string what;
  bool ok() const { return what.empty(); }
};

struct NetworkCounters {
  std::int64_t sent = 0, delivered = 0, lost = 0;  // lost: no neighbour, noise, or a full mailbox
  template <class A>
  void archive(A& ar) { ar("sent", sent); ar("delivered", delivered); ar("lost", lost); }
};

class Minds {
 public:
  // Makes an agent for every module of the world. Behaviours are started by start().
  static Result<std::unique_ptr<Minds>> create(const world::World& world, const Registries& registries,
                                               std::uint64_t seed);

  // The first sensing and every behaviour's start(), before tick 0.
  Result<void> start(const world::World& world, double dt);

  // The phases.
  void sense(const world::World& world, double dt, ThreadPool& threads);
  MindFailure think(Time tick_begin, double dt, ThreadPool& threads);
  void send(const world::World& world, std::int64_t tick);
  MindFailure act(world::World& world, ActStage stage);
  MindFailure deliver(Time tick_end, std::int64_t tick);
  void publish_logs(Log& log, Time tick_begin);

  // Changes a parameter of a module's behaviour between two ticks. False: it has none of this
  // name, or does not take the value; then it keeps the one that it had.
  bool tune(std::size_t agent, const std::string& parameter, const std::string& value);

  // What agents logged and what messages arrived in the last tick, for recorders and viewers.
  struct LogLine {
    std::uint32_t agent = 0;
    std::string text;
  };
  const std::vector<LogLine>& log_lines() const { return log_lines_; }
  struct Arrival {
    std::uint32_t agent = 0;  // who received it
    int dock = 0;             // of the receiver: where it came in
    Time sent, arrived;
    std::uint32_t bytes = 0;
  };
  void watch_arrivals() { watch_arrivals_ = true; }  // they are kept only if somebody watches
  const std::vector<Arrival>& arrivals() const { return arrivals_; }

  // For the test that order does not matter: behaviours run in this order instead.
  void set_order(std::vector<std::uint32_t> order) { order_ = std::move(order); }

  std::size_t size() const { return agents_.size(); }
  const Agent& agent(std::size_t i) const { return agents_[i]; }
  Agent& agent(std::size_t i) { return agents_[i]; }
  const Behavior* behavior(std::size_t i) const { return behaviors_[i].get(); }
  const NetworkCounters& network() const { return network_; }
  // The rays of all sensors in the last sense phase, for those who look on; an owner to ignore is
  // the placement that cast it, plus one.
  std::span<const physics::Ray> rays() const { return rays_; }
  std::span<const physics::RayHit> ray_hits() const { return hits_; }

  // Why a snapshot cannot be taken ("" if it can): a behaviour or noise that lists no state.
  std::string cannot_save() const;
  void archive(Archive& ar);
  std::size_t memory_bytes() const;

 private:
  struct InFlight {  // a message between two modules
    std::int64_t due = 0;       // the tick at whose end it arrives
    std::uint32_t receiver = 0; // agent
    Message message;
    template <class A>
    void archive(A& ar) { ar("due", due); ar("receiver", receiver); ar("message", message); }
  };
  struct NoiseSlot {
    int index;  // of the percept, action or dock
    NoiseChain chain;
    template <class A>
    void archive(A& ar) { chain.archive(ar); }
  };
  struct Noises {
    std::vector<NoiseSlot> percepts, actions, messages;
    template <class A>
    void archive(A& ar) {
      for (auto* slots : {&percepts, &actions, &messages})
        for (NoiseSlot& slot : *slots) slot.archive(ar);
    }
  };

  Minds() = default;
  Result<void> add(const world::World& world, std::uint32_t placement, const Registries& registries, std::uint64_t seed);
  Result<void> add_noise(const Agent& agent, const Registries& registries, std::uint64_t seed);
  void cast_rays(const world::World& world, double dt);
  void collect_contacts(const world::World& world);
  void sense_one(const world::World& world, double dt, std::size_t i);
  template <class Call>
  void guarded(std::size_t i, const char* doing, Call&& call);
  MindFailure first_failure();

  std::vector<Agent> agents_;
  std::vector<std::unique_ptr<Behavior>> behaviors_;  // by agent; null: none
  std::vector<Noises> noises_;
  std::vector<std::string> behavior_names_;
  std::vector<std::string> failures_;                 // by agent, of this tick
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> agent_of_placement_;
  bool needs_contacts_ = false, casts_rays_ = false;

  std::vector<InFlight> in_flight_;  // sorted by arrival, receiver and sending order
  NetworkCounters network_;

  bool watch_arrivals_ = false;
  std::vector<Arrival> arrivals_;
  std::vector<LogLine> log_lines_;

  // Scratch of a tick.
  std::vector<physics::Ray> rays_;
  std::vector<physics::RayHit> hits_;
  struct RaySpan { int percept; std::size_t first, count; };
  std::vector<RaySpan> ray_spans_;
  std::vector<std::size_t> first_ray_span_;  // by agent
  std::vector<physics::Contact> contacts_;
  std::vector<double> contact_forces_;
};

}  // namespace volvox::mind
