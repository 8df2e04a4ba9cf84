// Snapshots of minds, and their state hash.
#include <cmath>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/mind/minds.h"

namespace volvox::mind {

namespace {

// The percepts of thousands of agents are scattered over memory: the next agent's are prefetched while this agent's are
// hashed.
template <class T>
void prefetch(const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  for (std::size_t at = 0; at < values.size() * sizeof(T); at += 64) __builtin_prefetch(bytes + at);
}

}  // namespace

void Minds::archive(Archive& ar) {
  VOLVOX_ASSERT(first_slot_.size() == agents_.size() + 1 && first_slot_.back() == slots_.size());
  VOLVOX_ASSERT(noises_.size() == agents_.size() && failures_.size() == agents_.size());
  // The number and the types of percepts and actions come from the description. A damaged snapshot must not change
  // them, or nothing could be loaded afterwards.
  if (ar.loading()) seen_docks_.assign(agents_.size(), {});
  if (ar.loading())
    for (std::string& failure : failures_) failure.clear();  // of a tick that is over: several modules may have failed
  const auto load = [&](Agent& agent) {
    std::vector<Value> percepts = agent.percepts_, actions = agent.actions_;
    const std::size_t set = agent.action_set_.size();
    agent.archive(ar);
    if (agent.percepts_.size() != percepts.size() || agent.actions_.size() != actions.size() ||
        agent.action_set_.size() != set)
      ar.fail("it has other percepts or actions");
    if (ar.ok()) return;
    agent.percepts_ = std::move(percepts);
    agent.actions_ = std::move(actions);
    agent.action_set_.resize(set);
  };
  for (const AgentIndex i : indices<AgentIndex>(agents_)) {
    if (i + 1 < agents_.size()) {
      prefetch(agents_[i + 1].percepts_), prefetch(agents_[i + 1].actions_), prefetch(agents_[i + 1].programs_);
      for (std::size_t slot = first_slot_[i + 1]; slot < first_slot_[i + 2]; ++slot)
        __builtin_prefetch(slots_[slot].behavior.get());
    }
    if (ar.loading()) load(agents_[i]);
    else agents_[i].archive(ar);
    if (ar.loading() && ar.ok() && !tune_again(i)) ar.fail("a parameter of it is not accepted any more");
    ar.section(agents_[i].name_, "behavior and noise");
    for (std::size_t slot = first_slot_[i]; slot < first_slot_[i + 1]; ++slot)
      if (slots_[slot].behavior->lists_state()) slots_[slot].behavior->archive_state(ar);
    noises_[i].archive(ar);
  }
  ar.section("", "messages in flight");
  ar("in flight", in_flight_);
  if (ar.loading())
    for (InFlight& flight : in_flight_) flight.sender = world::nobody;  // it is no part of the state
  ar("network", network_);
  if (exchange_) exchange_->archive(ar);
  if (!ar.loading() || !ar.ok()) return;
  const auto has_outlet = [&](AgentIndex i, int outlet) {
    return outlet >= 0 && outlet < std::ssize(agents_[i].anatomy_->outlet_names);
  };
  // Times are subtracted from each other: what lies a century away would overflow.
  const auto possible = [](Time time) { return time >= Time::seconds(-4e9) && time <= Time::seconds(4e9); };
  const auto possible_message = [&](const Message& m) { return possible(m.sent) && possible(m.arrived); };
  bool good = true;
  for (const InFlight& flight : in_flight_)
    good = good && flight.receiver < agents_.size() && has_outlet(flight.receiver, flight.message.outlet) &&
           possible_message(flight.message);
  for (const AgentIndex i : indices<AgentIndex>(agents_)) {
    const Agent& agent = agents_[i];
    good = good && agent.percepts_.size() == agent.anatomy_->sensors.size() &&
           agent.actions_.size() == agent.anatomy_->actuators.size() &&
           agent.action_set_.size() == agent.actions_.size();
    good = good && possible(agent.now_) && std::isfinite(agent.clock_.offset) && std::isfinite(agent.clock_.drift_ppm);
    for (const Message& message : agent.mailbox_)
      good = good && has_outlet(i, message.outlet) && possible_message(message);
    for (const Agent::Program& program : agent.programs_) good = good && possible(program.next_step);
    for (const Outgoing& out : agent.outbox_) good = good && has_outlet(i, out.outlet);
    for (const Agent::OpenMailbox& open : agent.open_) good = good && open.program < agent.programs_.size();
  }
  if (!good) ar.fail("it refers to docks, modules or times that do not exist");
}

std::size_t Minds::memory_bytes() const {
  std::size_t bytes =
      sizeof *this +
      agents_.capacity() * (sizeof(Agent) + sizeof(Agent::Program) + sizeof(Noises) + sizeof(std::string) + 4) +
      slots_.capacity() * sizeof(Slot);
  for (const Agent& agent : agents_)
    bytes += (agent.percepts_.capacity() + agent.actions_.capacity()) * sizeof(Value) + agent.action_set_.capacity() +
             agent.mailbox_.capacity() * sizeof(Message) + agent.outbox_.capacity() * sizeof(Outgoing) +
             agent.name_.capacity();
  return bytes + in_flight_.capacity() * sizeof(InFlight) + (exchange_ ? exchange_->memory_bytes() : 0);
}

}  // namespace volvox::mind
