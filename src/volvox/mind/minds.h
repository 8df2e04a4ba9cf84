// The agents and behaviours of all modules, and the phases of a tick that concern them: sense, think, send, act and
// deliver. Simulation::step calls these in order, from one thread; sense, think, act and control run in parallel
// inside, with the same result at any number of threads.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "volvox/base/log.h"
#include "volvox/base/step_status.h"
#include "volvox/base/thread_pool.h"
#include "volvox/exchange/exchange.h"
#include "volvox/exchange/neighborhood.h"
#include "volvox/exchange/sight.h"
#include "volvox/mind/agent.h"
#include "volvox/mind/behavior.h"
#include "volvox/world/world.h"

namespace volvox::mind {

using world::AgentIndex;

struct NetworkCounters {
  // Messages. Lost: no neighbour or link, noise, a full queue, or a mailbox that no behaviour has opened. Frames that
  // collide or are cut off are counted by Exchange::network().
  std::int64_t sent = 0, delivered = 0, lost = 0;
  template <class A>
  void archive(A& ar) {
    ar("sent", sent);
    ar("delivered", delivered);
    ar("lost", lost);
  }
};

class Minds final : private exchange::Receiver {
 public:
  ~Minds();  // in the .cpp: see Simulation
  // Makes an agent for every module of the world. Behaviours are started by start().
  static Result<std::unique_ptr<Minds>> create(const world::World& world, const Registries& registries,
                                               std::uint64_t seed);

  // Senses for the first time and calls start() of every behaviour, before tick 0.
  Result<void> start(const world::World& world, double dt);

  // The phases.
  StepStatus sense(const world::World& world, double dt, ThreadPool& threads);
  StepStatus think(Time tick_begin, double dt, ThreadPool& threads);
  StepStatus send(const world::World& world, std::int64_t tick, double dt);
  StepStatus act(world::World& world, ThreadPool& threads);
  // Behavior::control, and actuators that always act, at the beginning of every substep of the move phase.
  bool any_on_board() const { return !controllers_.empty() || !bearers_.empty(); }
  StepStatus control(world::World& world, Time substep_begin, double step, ThreadPool& threads);
  StepStatus deliver(const world::World& world, Time tick_end, std::int64_t tick);
  void publish_logs(Log& log, Time tick_begin);

  // Changes a parameter of a module's behaviour between two ticks. False: there is no parameter of this name, or the
  // value is refused; the old value then stays.
  bool tune(AgentIndex agent, const std::string& parameter, const std::string& value);

  // The module's power fails, between two ticks: its behaviours, controllers and observers stop for good, it neither
  // sends nor receives (frames that wait at a wire still leave), its motors go limp, and its rotors and thrusters push
  // no more; its tyres bear and roll. Its docks stay as they are.
  void switch_off(AgentIndex agent);
  bool is_off(AgentIndex agent) const { return agents_[agent].off_; }

  // The log lines and the messages that arrived in the last tick, for recorders and viewers.
  struct LogLine {
    AgentIndex agent = 0;
    std::string text;
  };
  const std::vector<LogLine>& log_lines() const { return log_lines_; }
  struct Arrival {
    AgentIndex agent = 0;  // the receiver
    int outlet = 0;        // of the receiver
    Time sent, arrived;
    AgentIndex sender;  // nobody: it was sent before the snapshot that the run began with
    Payload payload;
  };
  void watch_arrivals() { watch_arrivals_ = true; }  // arrivals() is empty without it
  const std::vector<Arrival>& arrivals() const { return arrivals_; }

  // Behaviours run in this order: for the test that the order does not matter.
  void set_order(std::vector<AgentIndex> order) { order_ = std::move(order); }

  std::size_t size() const { return agents_.size(); }
  const Agent& agent(AgentIndex i) const { return agents_[i]; }
  Agent& agent(AgentIndex i) { return agents_[i]; }
  // The first behaviour of a module; null if it has none.
  const Behavior* behavior(AgentIndex i) const {
    return first_slot_[i] < first_slot_[i + 1] ? slots_[first_slot_[i]].behavior.get() : nullptr;
  }
  const NetworkCounters& network() const { return network_; }
  // The discrete-event network; null if no module has an interface to it and all docks are ideal.
  const exchange::Exchange* exchange() const { return exchange_.get(); }
  // Keeps the network's events of the last tick, for recorders: exchange()->frames().
  void keep_frames(bool keep) {
    if (exchange_) exchange_->keep_frames(keep);
  }
  // The rays of all sensors in the last sense phase, for viewers. The owner that a ray ignores is the placement that
  // casts it, plus one.
  std::span<const Ray> rays() const { return rays_; }
  std::span<const RayHit> ray_hits() const { return hits_; }

  // Why no snapshot can be taken: a behaviour or noise without VOLVOX_STATE; "" if one can be taken.
  std::string cannot_save() const;
  void archive(Archive& ar);
  std::size_t memory_bytes() const;

 private:
  bool tune_again(AgentIndex agent);
  bool tune_slot(AgentIndex agent, std::size_t slot, const std::string& parameter, const std::string& value);
  struct InFlight {        // a message between two modules
    std::int64_t due = 0;  // the tick at whose end it arrives
    AgentIndex receiver = 0;
    Message message;
    AgentIndex sender{};  // for arrivals() only: no part of the state
    template <class A>
    void archive(A& ar) {
      ar("due", due);
      ar("receiver", receiver);
      ar("message", message);
    }
  };
  struct NoiseSlot {
    int index;  // of the percept, action or dock
    NoiseChain chain;
    template <class A>
    void archive(A& ar) {
      chain.archive(ar);
    }
  };
  struct Noises {
    std::vector<NoiseSlot> percepts, actions, messages;
    template <class A>
    void archive(A& ar) {
      for (auto* slots : {&percepts, &actions, &messages})
        for (NoiseSlot& slot : *slots) slot.archive(ar);
    }
  };

  Minds();
  Result<void> add(const world::World& world, world::PlacementIndex placement, const Registries& registries,
                   std::uint64_t seed);
  Result<void> add_behavior(const model::Mind& spec, const Registries& registries, std::uint64_t seed);
  Result<void> add_noise(const Agent& agent, const Registries& registries, std::uint64_t seed);
  Result<void> add_controller(const world::World& world, AgentIndex i, std::size_t slot);
  std::string command_problem(AgentIndex i, std::size_t action, const Value& command) const;
  const Value& disturbed(AgentIndex i, std::size_t action, Value& room);
  std::string control_one(world::World& world, std::size_t controller, Time substep_begin, double step);
  StepStatus cast_rays(const world::World& world, double dt, ThreadPool& threads);
  void collect_contacts(const world::World& world);
  void sense_one(const world::World& world, double dt, AgentIndex i);
  void sense_joints_and_docks(const SenseContext& context);
  bool act_one(world::World& world, AgentIndex i, bool alone);
  void take_commands(std::size_t bearer);
  void bear(world::World& world, std::size_t bearer);
  template <class Call>
  void guarded(AgentIndex i, std::size_t slot, const char* doing, Call&& call);
  template <class Call>
  void each_behavior(AgentIndex i, const char* doing, Call&& call);
  MessageFate disturb(AgentIndex i, Outgoing& out);
  void send_ideal(const world::World& world, std::int64_t tick, AgentIndex i, Outgoing& out);
  void send_on_network(AgentIndex i, Outgoing& out);
  void answer(AgentIndex i);
  void hand_over(AgentIndex i, AgentIndex sender, Message message);
  void received(AgentIndex agent, AgentIndex sender, Message message) override;
  void sent(AgentIndex agent, const SendReport& report) override;
  StepStatus failed(AgentIndex i, std::string what) const;
  StepStatus first_failure();

  std::vector<Agent> agents_;
  struct Slot {  // a behaviour on a module
    std::unique_ptr<Behavior> behavior;
    std::string name;
  };
  std::vector<Slot> slots_;  // of agent i: first_slot_[i] to first_slot_[i + 1]
  std::vector<std::uint32_t> first_slot_;
  struct Controller {  // the inner control loop of a behaviour (Behavior::on_board)
    AgentIndex agent = 0;
    std::size_t slot = 0;
    std::vector<std::size_t> percepts, actions;
    std::vector<std::size_t> noises;  // of its percepts
    bool on_board(std::size_t action) const {
      return std::find(actions.begin(), actions.end(), action) != actions.end();
    }
  };
  std::vector<Controller> controllers_;      // by agent, at most one each
  std::vector<std::int32_t> controller_of_;  // by agent; negative: none. Empty: no agent has one
  struct Bearer {                            // the actuators of an agent that always act
    struct Bearing {
      std::size_t action = 0;
      Value command;  // of this tick, with its noise: act() sets it before move, so it is no part of the state
    };
    AgentIndex agent = 0;
    std::vector<Bearing> bearings;
  };
  std::vector<Bearer> bearers_;  // by agent
  std::vector<Noises> noises_;
  std::vector<std::string> failures_;  // by agent, of this tick
  std::vector<AgentIndex> order_;
  std::vector<AgentIndex> agent_of_placement_;
  bool needs_contacts_ = false, casts_rays_ = false;
  double neighbor_range_ = 0;  // m; 0: no sensor looks for neighbours

  std::vector<InFlight> in_flight_;  // sorted by arrival, receiver and sending order
  NetworkCounters network_;
  std::unique_ptr<exchange::Exchange> exchange_;
  AgentIndex last_called_ = 0;  // the agent that the network called last
  double dt_ = 0;               // s

  // What the percepts of an agent's docks were made of: they are made anew when it changes.
  struct SeenDocks {
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    std::uint32_t changes = none;  // World::dock_changes
    bool held = false;             // a dock is not free, so that it bears a load
  };
  std::vector<SeenDocks> seen_docks_;     // by agent
  std::vector<std::uint8_t> acts_alone_;  // scratch of the act phase, by agent

  bool watch_arrivals_ = false;
  std::vector<Arrival> arrivals_;
  std::vector<LogLine> log_lines_;

  exchange::Sight sight_;

  // Scratch of a tick.
  std::vector<Ray> rays_;
  std::vector<RayHit> hits_;
  struct RaySpan {
    int percept;
    std::size_t first, count;
  };
  std::vector<RaySpan> ray_spans_;
  std::vector<std::size_t> first_ray_span_;  // by agent
  std::vector<physics::Contact> contacts_;
  std::vector<double> contact_forces_;
  exchange::Neighborhood neighborhood_;
};

}  // namespace volvox::mind
