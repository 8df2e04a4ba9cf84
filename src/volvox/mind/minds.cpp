#include "volvox/mind/minds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/exchange/particle_sight.h"
#include "volvox/mind/ask_for.h"
#include "volvox/world/matter.h"

namespace volvox::mind {

// Calls a behaviour. An exception stops the run with a message, not the program.
template <class Call>
void Minds::guarded(AgentIndex i, std::size_t slot, const char* doing, Call&& call) {
  VOLVOX_ASSERT(i < agents_.size());
  VOLVOX_ASSERT(slot >= first_slot_[i] && slot < first_slot_[i + 1]);
  VOLVOX_ASSERT(slots_[slot].behavior != nullptr);
  const Slot& running = slots_[slot];
  agents_[i].running_ = slot - first_slot_[i];
  try {
    call(*running.behavior, agents_[i]);
  } catch (const std::exception& error) {
    failures_[i] = fmt::format("behavior '{}' failed in {}: {}", running.name, doing, error.what());
  } catch (...) {
    failures_[i] = fmt::format("behavior '{}' failed in {} with an exception of an unknown type", running.name, doing);
  }
  agents_[i].running_ = 0;
}

template <class Call>
void Minds::each_behavior(AgentIndex i, const char* doing, Call&& call) {
  VOLVOX_ASSERT(first_slot_.size() == agents_.size() + 1 && failures_.size() == agents_.size());
  if (agents_[i].off_) return;
  for (std::size_t slot = first_slot_[i]; slot < first_slot_[i + 1] && failures_[i].empty(); ++slot)
    guarded(i, slot, doing, call);
}

StepStatus Minds::failed(AgentIndex i, std::string what) const {
  return {.what = std::move(what), .who = fmt::format("module '{}'", agents_[i].name_)};
}

StepStatus Minds::first_failure() {
  for (const AgentIndex i : indices<AgentIndex>(failures_))
    if (!failures_[i].empty()) return failed(i, std::exchange(failures_[i], {}));
  return {};
}

namespace {

// A key that nobody has read is a mistake in the world, or in a behaviour that reads it later.
Result<void> check_parameters(const Parameters& parameters) {
  if (auto values = parameters.check(false); !values.ok()) return values;
  const auto all_read = parameters.check();
  if (all_read.ok()) return {};
  Error error;
  for (Diagnostic unread : all_read.error().diagnostics()) {
    unread.what += ", or does not read it in start()";
    unread.fix +=
        "; a behavior of your own that reads it only in step() is to read it in start() and to keep the value";
    error.add(std::move(unread));
  }
  return error;
}

}  // namespace

Result<void> Minds::start(const world::World& world, double dt) {
  ThreadPool alone(1);
  if (const StepStatus failure = sense(world, dt, alone); !failure.ok())
    return Error(failure.who + ": " + failure.what, "correct the sensor, or leave it out");
  for (const AgentIndex i : indices<AgentIndex>(agents_)) {
    agents_[i].dt_ = dt;
    each_behavior(i, "start", [](Behavior& b, Agent& a) {
      b.start(a);
      const double period = a.program().period = b.period();
      if (!(period >= 0 && period < 1e9))
        throw AgentError(fmt::format("its period is {} s; give 0 or a positive time", period));
    });
    if (const StepStatus failure = first_failure(); !failure.ok()) {
      const model::Mind& mind = *world.model().placements[agents_[i].placement_].effective_mind();
      return Diagnostic{mind.file, mind.line, failure.who + ": " + failure.what,
                        "correct the behavior, or give the module what it asks for"};
    }
    for (const Agent::Program& program : agents_[i].programs_)
      if (auto checked = check_parameters(program.parameters); !checked.ok()) return checked;
    for (std::size_t slot = first_slot_[i]; slot < first_slot_[i + 1]; ++slot)
      if (auto added = add_controller(world, i, slot); !added.ok()) return added;
  }
  return {};
}

Result<void> Minds::add_controller(const world::World& world, AgentIndex i, std::size_t slot) {
  const Behavior::OnBoard wanted = slots_[slot].behavior->on_board();
  if (wanted.actions.empty()) return {};
  const Agent& agent = agents_[i];
  const Anatomy& anatomy = *agent.anatomy_;
  const auto wrong = [&](const std::string& what, const std::string& fix) -> Result<void> {
    const model::Mind& mind = *world.model().placements[agent.placement_].effective_mind();
    return Diagnostic{mind.file, mind.line,
                      fmt::format("module '{}': behavior '{}' {}", agent.name_, slots_[slot].name, what), fix};
  };
  if (controller_of_.empty()) controller_of_.assign(agents_.size(), -1);
  if (controller_of_[i] >= 0)
    return wrong("is the module's second behavior that runs on board", "combine the two in one behavior");
  Controller controller{i, slot, {}, {}, {}};
  for (const std::string& name : wanted.percepts) {
    const auto found = anatomy.percepts.find(name);
    if (found == anatomy.percepts.end())
      return wrong(fmt::format("reads '{}' on board, which the module does not have", name),
                   "give the module that sensor");
    const std::size_t percept = found->second;
    if (!anatomy.sensors[percept]->on_board())
      return wrong(fmt::format("reads '{}' on board, which is read once a tick only", name), "read it in step()");
    controller.percepts.push_back(percept);
    for (std::size_t k = 0; k < noises_[i].percepts.size(); ++k)
      if (noises_[i].percepts[k].index == found->second) controller.noises.push_back(k);
  }
  for (const std::string& name : wanted.actions) {
    const auto found = anatomy.actions.find(name);
    if (found == anatomy.actions.end())
      return wrong(fmt::format("commands '{}' on board, which the module does not have", name),
                   "give the module that actuator");
    if (!anatomy.actuators[found->second]->on_board())
      return wrong(fmt::format("commands '{}' on board, which acts once a tick only", name), "command it in step()");
    controller.actions.push_back(found->second);
  }
  controller_of_[i] = narrow<std::int32_t>(controllers_.size());
  controllers_.push_back(std::move(controller));
  return {};
}

// A controller changes only its own agent and the forces and motors of its own module, so the order of modules does not
// matter.
std::string Minds::control_one(world::World& world, std::size_t c, Time substep_begin, double step) {
  VOLVOX_ASSERT(c < controllers_.size() && step > 0);
  const Controller& controller = controllers_[c];
  const AgentIndex i = controller.agent;
  Agent& agent = agents_[i];
  if (agent.off_) return {};
  const Anatomy& anatomy = *agent.anatomy_;
  const SenseContext context{world, agent.placement_, step, {}, {}, exchange_.get(), i};
  for (const std::size_t p : controller.percepts) anatomy.sensors[p]->read(context, agent.percepts_[p]);
  for (const std::size_t k : controller.noises) {
    NoiseSlot& noise = noises_[i].percepts[k];
    noise.chain.apply(agent.percepts_[noise.index]);
  }
  agent.now_ = substep_begin;
  guarded(i, controller.slot, "control", [step](Behavior& b, Agent& a) { b.control(a, step); });
  if (!failures_[i].empty()) return {};
  Value room;
  for (const std::size_t a : controller.actions) {
    if (!agent.action_set_[a]) continue;
    const Value& command = disturbed(i, a, room);
    if (std::string problem = command_problem(i, a, command); !problem.empty()) return problem;
    anatomy.actuators[a]->apply({world, agent.placement_}, command);
  }
  return {};
}

StepStatus Minds::control(world::World& world, Time substep_begin, double step, ThreadPool& threads) {
  parallel_for(&threads, controllers_.size(), 16, [&](std::size_t c) {
    std::string problem;
    try {
      problem = control_one(world, c, substep_begin, step);
    } catch (const std::exception& error) {  // of a sensor, a noise or an actuator
      problem = fmt::format("on board: {}", error.what());
    }
    if (!problem.empty()) failures_[controllers_[c].agent] = std::move(problem);
  });
  parallel_for(&threads, bearers_.size(), 16, [&](std::size_t b) { bear(world, b); });
  return first_failure();
}

StepStatus Minds::cast_rays(const world::World& world, double dt, ThreadPool& threads) {
  rays_.clear();
  ray_spans_.clear();
  first_ray_span_.assign(agents_.size() + 1, 0);
  for (const AgentIndex i : indices<AgentIndex>(agents_)) {
    first_ray_span_[i] = ray_spans_.size();
    const Anatomy& anatomy = *agents_[i].anatomy_;
    for (const int percept : anatomy.ray_sensors) {
      const std::size_t first = rays_.size();
      try {
        anatomy.sensors[percept]->rays({world, agents_[i].placement_, dt, {}, {}, exchange_.get(), i}, rays_);
      } catch (const std::exception& error) {
        return failed(i, error.what());
      }
      ray_spans_.push_back({percept, first, rays_.size() - first});
      VOLVOX_ASSERT(rays_.size() >= first);
    }
  }
  first_ray_span_[agents_.size()] = ray_spans_.size();
  hits_.assign(rays_.size(), {});
  sight_.update(world, &threads);
  sight_.cast(rays_, hits_, &threads);
  exchange::cast_at_particles(world, rays_, hits_, &threads);
  return {};
}

namespace {

// Water, grains and cloth push links, too: the mean force of the last tick.
void add_pushes(const world::World& world, double dt, std::vector<double>& forces) {
  if (world.matter() == nullptr) return;
  for (const world::LinkIndex link : indices<world::LinkIndex>(forces)) {
    const double force = length(world.matter()->impulse(link).force) / dt;
    if (force > 0) forces[link] = std::max(forces[link], 0.0) + force;
  }
}

}  // namespace

// Sums forces by link; -1 for links without contacts.
void Minds::collect_contacts(const world::World& world) {
  contacts_.clear();
  world.contacts(contacts_);
  contact_forces_.assign(world.links(), -1);
  for (const physics::Contact& contact : contacts_) {
    for (const physics::BodyId body : {contact.a, contact.b}) {
      const world::LinkIndex link = world.link_of(body);
      if (link == world::nobody) continue;
      contact_forces_[link] = std::max(contact_forces_[link], 0.0) + contact.force;
    }
  }
}

void Minds::sense_one(const world::World& world, double dt, AgentIndex i) {
  VOLVOX_ASSERT(i < agents_.size() && dt > 0);
  VOLVOX_ASSERT(agents_[i].percepts_.size() == agents_[i].anatomy_->sensors.size());
  VOLVOX_ASSERT(!casts_rays_ || first_ray_span_.size() == agents_.size() + 1);
  Agent& agent = agents_[i];
  const Anatomy& anatomy = *agent.anatomy_;
  SenseContext context{world,           agent.placement_, dt, {},
                       contact_forces_, exchange_.get(),  i,  neighbor_range_ > 0 ? &neighborhood_ : nullptr};
  std::size_t span = casts_rays_ ? first_ray_span_[i] : 0;
  sense_joints_and_docks(context);
  for (std::size_t p = anatomy.first_other_percept; p < anatomy.sensors.size(); ++p) {
    if (casts_rays_ && span < first_ray_span_[i + 1] && ray_spans_[span].percept == narrow<int>(p)) {
      context.hits = std::span(hits_).subspan(ray_spans_[span].first, ray_spans_[span].count);
      ++span;
    }
    anatomy.sensors[p]->read(context, agent.percepts_[p]);
  }
  for (NoiseSlot& slot : noises_[i].percepts) slot.chain.apply(agent.percepts_[slot.index]);
}

// As their sensors read them; but the percepts of docks only where something can have changed. Noise changes percepts,
// so that a module with noise reads all.
void Minds::sense_joints_and_docks(const SenseContext& context) {
  Agent& agent = agents_[context.agent];
  const Anatomy& anatomy = *agent.anatomy_;
  const auto number = [&](int percept) -> double& { return *agent.percepts_[percept].get<double>(); };
  for (const Anatomy::OfJoint& of : anatomy.joint_percepts) {
    const physics::JointState state = context.world.joint_state(context.joint(of.joint));
    number(of.angle) = state.position;
    number(of.velocity) = state.velocity;
    if (of.torque >= 0) number(of.torque) = state.torque;
  }
  SeenDocks& seen = seen_docks_[context.agent];
  const std::uint32_t changes = context.world.dock_changes(agent.placement_);
  const bool all = seen.changes != changes || !noises_[context.agent].percepts.empty();
  if (!all && !seen.held) return;
  seen = {changes, false};
  for (const Anatomy::OfDock& of : anatomy.dock_percepts) {
    const bool held = context.world.dock_status(context.dock(of.dock)).phase != world::DockPhase::free;
    seen.held = seen.held || held;
    if (all) anatomy.sensors[of.state]->read(context, agent.percepts_[of.state]);
    if (all || held) anatomy.sensors[of.load]->read(context, agent.percepts_[of.load]);
  }
}

StepStatus Minds::sense(const world::World& world, double dt, ThreadPool& threads) {
  if (casts_rays_)
    if (StepStatus status = cast_rays(world, dt, threads); !status.ok()) return status;
  if (needs_contacts_) collect_contacts(world), add_pushes(world, dt, contact_forces_);
  if (neighbor_range_ > 0) neighborhood_.update(world, neighbor_range_);
  parallel_for(&threads, agents_.size(), 64, [&](std::size_t i) {
    if (i + 4 < agents_.size()) ask_for(&agents_[i + 4], sizeof(Agent));
    if (i + 2 < agents_.size()) ask_for(agents_[i + 2].percepts_);
    try {
      sense_one(world, dt, i);
    } catch (const std::exception& error) {
      failures_[i] = error.what();
    }
  });
  return first_failure();
}

StepStatus Minds::think(Time tick_begin, double dt, ThreadPool& threads) {
  VOLVOX_ASSERT(order_.empty() || order_.size() == agents_.size());
  parallel_for(&threads, agents_.size(), 16, [&](std::size_t k) {
    const AgentIndex i = order_.empty() ? AgentIndex(k) : order_[k];
    if (k + 4 < agents_.size()) ask_for(&agents_[k + 4], sizeof(Agent));
    if (k + 2 < agents_.size()) {
      ask_for(agents_[k + 2].programs_), ask_for(agents_[k + 2].actions_);
      if (const std::size_t slot = first_slot_[k + 2]; slot < first_slot_[k + 3])
        ask_for(slots_[slot].behavior.get(), 64);
    }
    agents_[i].now_ = tick_begin;
    agents_[i].dt_ = dt;
    for (const Agent::Observation& seen : agents_[i].observations_) {
      if (!failures_[i].empty() || agents_[i].off_) break;
      guarded(i, first_slot_[i] + seen.program, "an observer",
              [&](Behavior&, Agent&) { seen.call(seen.of->percepts_[seen.percept]); });
    }
    each_behavior(i, "step", [tick_begin](Behavior& b, Agent& a) {
      Agent::Program& program = a.program();
      // Both times are rounded to whole nanoseconds; a period of one tick must not skip a tick.
      if (tick_begin + Time{1} < program.next_step) return;
      if (program.period > 0) {
        const double periods = std::floor(((tick_begin - program.next_step).seconds() + 1e-9) / program.period) + 1;
        program.next_step += Time::seconds(periods * program.period);
      }
      b.step(a);
    });
  });
  return first_failure();
}

StepStatus Minds::send(const world::World& world, std::int64_t tick, double dt) {
  dt_ = dt;
  if (exchange_) exchange_->begin_tick(world);
  for (const AgentIndex i : indices<AgentIndex>(agents_)) {
    Agent& agent = agents_[i];
    for (Outgoing& out : agent.outbox_) {
      if (exchange_ && exchange_->carries(i, out.outlet)) send_on_network(i, out);
      else send_ideal(world, tick, i, out);
    }
    agent.outbox_.clear();
  }
  if (exchange_) exchange_->all_sent(world, sight_);
  return first_failure();
}

// Applies the noise of the outlet to a message.
MessageFate Minds::disturb(AgentIndex i, Outgoing& out) {
  VOLVOX_ASSERT(out.outlet >= 0 && out.outlet < std::ssize(agents_[i].anatomy_->outlet_names));
  MessageFate fate;
  for (NoiseSlot& slot : noises_[i].messages) {
    if (slot.index != out.outlet) continue;
    const MessageFate step = slot.chain.apply(out.payload);
    fate.lost = fate.lost || step.lost;
    fate.delay_ticks += step.delay_ticks;
  }
  return fate;
}

// Ideal links: a message sent at a dock arrives at the start of the next tick, at the module that was attached when it
// was sent.
void Minds::send_ideal(const world::World& world, std::int64_t tick, AgentIndex i, Outgoing& out) {
  VOLVOX_ASSERT(out.outlet >= 0 && out.outlet < std::ssize(world.module_model(agents_[i].placement_).docks));
  VOLVOX_ASSERT(agent_of_placement_.size() == world.placements());
  const Agent& agent = agents_[i];
  ++network_.sent;
  const world::DockIndex dock = world.part(agent.placement_).first_dock + out.outlet;
  const world::DockIndex partner = world.graph().partner(dock);
  const world::PlacementIndex neighbor = world.graph().neighbor(dock);
  // A dock that is still latching does not carry messages.
  const bool closed = world.dock_status(dock).phase == world::DockPhase::engaged;
  if (!closed || agent_of_placement_[neighbor] == world::nobody) {
    ++network_.lost;
    return;
  }
  const MessageFate fate = disturb(i, out);
  if (fate.lost) {
    ++network_.lost;
    return;
  }
  Message message;
  message.outlet = narrow<int>(partner - world.part(neighbor).first_dock);
  message.mailbox = out.options.mailbox;
  message.sent = agent.now_;
  message.payload = std::move(out.payload);
  in_flight_.push_back({tick + fate.delay_ticks, agent_of_placement_[neighbor], std::move(message), i});
}

void Minds::send_on_network(AgentIndex i, Outgoing& out) {
  VOLVOX_ASSERT(exchange_ && exchange_->carries(i, out.outlet));
  ++network_.sent;
  const MessageFate fate = out.poll ? MessageFate{} : disturb(i, out);
  if (fate.lost) {
    ++network_.lost;
    return;
  }
  const Time at = fate.delay_ticks > 0 ? exchange_->network().now() + Time::seconds(fate.delay_ticks * dt_) : Time{-1};
  const auto sent = exchange_->send(i, out, at);
  if (!sent.ok()) {
    const Diagnostic& wrong = sent.error().diagnostics().front();
    failures_[i] = fmt::format("a message at '{}' cannot be sent: {} ({})",
                               agents_[i].anatomy_->outlet_names[out.outlet], wrong.what, wrong.fix);
  } else if (!*sent) {
    ++network_.lost;
  }
}

// Messages that a callback has sent leave at once on the discrete-event network; at ideal docks they wait for the next
// tick.
void Minds::answer(AgentIndex i) {
  std::vector<Outgoing>& outbox = agents_[i].outbox_;
  if (!exchange_ || outbox.empty()) return;
  for (Outgoing& out : outbox)
    if (exchange_->carries(i, out.outlet)) send_on_network(i, out);
  std::erase_if(outbox, [&](const Outgoing& out) { return exchange_->carries(i, out.outlet); });
}

// A message has arrived: Behavior::receive may consume it, otherwise it goes into the mailbox.
void Minds::hand_over(AgentIndex i, AgentIndex sender, Message message) {
  VOLVOX_ASSERT(i < agents_.size());
  VOLVOX_ASSERT(message.outlet >= 0 && message.outlet < std::ssize(agents_[i].anatomy_->outlet_names));
  VOLVOX_ASSERT(agents_[i].mailbox_.size() <= Agent::mailbox_capacity);
  if (!failures_[i].empty()) return;
  Agent& agent = agents_[i];
  agent.now_ = message.arrived;
  const int owner = agent.off_ ? -1 : agent.owner_of(message.mailbox);
  if (owner < 0) {
    ++network_.lost;
    return;
  }
  ++network_.delivered;
  if (watch_arrivals_) arrivals_.push_back({i, message.outlet, message.sent, message.arrived, sender, message.payload});
  bool taken = false;
  if (const std::size_t slot = first_slot_[i] + owner; slot < first_slot_[i + 1])
    guarded(i, slot, "receive", [&](Behavior& b, Agent& a) { taken = b.receive(a, message); });
  answer(i);
  if (taken) return;
  if (agent.mailbox_.size() >= Agent::mailbox_capacity) {
    agent.mailbox_.erase(agent.mailbox_.begin());
    ++agent.dropped_;
    ++network_.lost;
  }
  agent.mailbox_.push_back(std::move(message));
}

void Minds::received(AgentIndex agent, AgentIndex sender, Message message) {
  last_called_ = agent;
  hand_over(agent, sender, std::move(message));
}

void Minds::sent(AgentIndex agent, const SendReport& report) {
  last_called_ = agent;
  agents_[agent].now_ = exchange_->network().now();
  each_behavior(agent, "sent", [&](Behavior& b, Agent& a) { b.sent(a, report); });
  answer(agent);
}

StepStatus Minds::deliver(const world::World& world, Time tick_end, std::int64_t tick) {
  arrivals_.clear();
  if (exchange_) {
    last_called_ = 0;
    const auto ran = exchange_->run(tick_end);
    if (!ran.ok()) return failed(last_called_, "the network cannot go on: " + ran.error().text());
  }
  // Sorts by tick of arrival, then by receiver; messages to one receiver keep the order of sending.
  std::stable_sort(in_flight_.begin(), in_flight_.end(), [](const InFlight& a, const InFlight& b) {
    return a.due != b.due ? a.due < b.due : a.receiver < b.receiver;
  });
  std::size_t arrived = 0;
  for (; arrived < in_flight_.size() && in_flight_[arrived].due <= tick; ++arrived) {
    InFlight& flight = in_flight_[arrived];
    VOLVOX_ASSERT(flight.receiver < agents_.size());
    flight.message.arrived = tick_end;
    hand_over(flight.receiver, flight.sender, std::move(flight.message));
  }
  in_flight_.erase(in_flight_.begin(), in_flight_.begin() + arrived);
  if (exchange_) exchange_->update_links(world);
  for (const AgentIndex i : indices<AgentIndex>(agents_)) {
    agents_[i].now_ = tick_end;
    each_behavior(i, "end_tick", [](Behavior& b, Agent& a) { b.end_tick(a); });
  }
  return first_failure();
}

void Minds::publish_logs(Log& log, Time tick_begin) {
  constexpr std::size_t most_lines = 1000;  // of all modules in a tick: more would fill disks and hide what matters
  log_lines_.clear();
  const auto publish = [&](AgentIndex i, std::string line) {
    log.info(fmt::format("{:9.3f} s  {}: {}", tick_begin.seconds(), agents_[i].name_, line));
    log_lines_.push_back({i, std::move(line)});
  };
  std::size_t dropped = 0;
  AgentIndex talker = 0;  // the last whose lines were dropped
  for (const AgentIndex i : indices<AgentIndex>(agents_)) {
    for (std::string& line : agents_[i].log_) {
      if (log_lines_.size() < most_lines) {
        publish(i, std::move(line));
      } else {
        ++dropped;
        talker = i;
      }
    }
    agents_[i].log_.clear();
  }
  if (dropped > 0)
    publish(talker,
            fmt::format("{} more log lines of this tick were dropped: at most {} are kept", dropped, most_lines));
}

void Minds::switch_off(AgentIndex i) {
  VOLVOX_ASSERT(i < agents_.size());
  Agent& agent = agents_[i];
  agent.off_ = true;
  agent.mailbox_.clear();
  agent.outbox_.clear();
  for (std::size_t a = 0; a < agent.actions_.size(); ++a) {
    JointCommand* motor = agent.actions_[a].get<JointCommand>();
    if (motor != nullptr) *motor = {physics::Control::off, 0};
    agent.action_set_[a] = motor != nullptr;
  }
  if (exchange_) exchange_->switch_radios_off(i);
}

// Calls tune() of every behaviour of the module that has read a parameter of this name.
bool Minds::tune(AgentIndex i, const std::string& name, const std::string& value) {
  bool tuned = false;
  for (std::size_t slot = first_slot_[i]; slot < first_slot_[i + 1]; ++slot)
    tuned = tune_slot(i, slot, name, value) || tuned;
  return tuned;
}

bool Minds::tune_slot(AgentIndex i, std::size_t slot, const std::string& name, const std::string& value) {
  VOLVOX_ASSERT(slot >= first_slot_[i] && slot < first_slot_[i + 1]);
  Agent::Program& program = agents_[i].programs_[slot - first_slot_[i]];
  if (!program.parameters.asked().contains(name)) return false;
  const Agent before = agents_[i];
  Behavior& behavior = *slots_[slot].behavior;
  SaveArchive state;
  if (behavior.lists_state()) behavior.archive_state(state);
  const auto tell = [&] { guarded(i, slot, "tune", [](Behavior& b, Agent& a) { b.tune(a); }); };
  program.parameters.set(name, value);
  tell();
  if (failures_[i].empty() && program.parameters.check().ok()) {
    program.tuned[name] = value;
    return true;
  }
  // A refused value has no effect: tune() is called again with the old value, and the state of the behaviour and its
  // module is restored.
  agents_[i] = before;
  tell();
  failures_[i].clear();
  agents_[i] = before;
  LoadArchive load(state.bytes());
  if (behavior.lists_state()) behavior.archive_state(load);
  return false;
}

std::string Minds::cannot_save() const {
  for (const AgentIndex i : indices<AgentIndex>(agents_)) {
    for (std::size_t slot = first_slot_[i]; slot < first_slot_[i + 1]; ++slot)
      if (!slots_[slot].behavior->lists_state())
        return fmt::format(
            "behavior '{}' of module '{}' does not list its state; add VOLVOX_STATE(its members) to the class",
            slots_[slot].name, agents_[i].name_);
    for (const auto* slots : {&noises_[i].percepts, &noises_[i].actions, &noises_[i].messages})
      for (const NoiseSlot& slot : *slots)
        if (slot.chain.unlisted() != nullptr)
          return fmt::format(
              "a noise model of module '{}' does not list its state; add VOLVOX_STATE(its members) to the class",
              agents_[i].name_);
  }
  return {};
}

// Calls tune() again for parameters that were changed before the snapshot. Its effects on the agent are undone, because
// the snapshot already contains them.
bool Minds::tune_again(AgentIndex i) {
  const bool any = std::any_of(agents_[i].programs_.begin(), agents_[i].programs_.end(),
                               [](const Agent::Program& p) { return !p.tuned.empty(); });
  if (!any) return true;
  Agent known = agents_[i];
  bool good = true;
  for (std::size_t slot = first_slot_[i]; slot < first_slot_[i + 1]; ++slot) {
    for (const auto& [name, value] : known.programs_[slot - first_slot_[i]].tuned)
      good = tune_slot(i, slot, name, value) && good;
  }
  for (std::size_t k = 0; k < known.programs_.size(); ++k)
    std::swap(known.programs_[k].parameters, agents_[i].programs_[k].parameters);
  agents_[i] = std::move(known);
  return good;
}

}  // namespace volvox::mind
