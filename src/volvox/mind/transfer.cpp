#include "volvox/mind/transfer.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/check.h"
#include "volvox/mind/actuator.h"

namespace volvox::mind {
namespace {

constexpr std::size_t most_log_lines_of_tick = 100'000;  // of many calls, each with AgentTransfer::most_log_lines
constexpr std::size_t longest_log_line = 4096;

}  // namespace

void AgentTransfer::shorten_log(Agent& agent, std::size_t before) {
  VOLVOX_ASSERT(before <= agent.log_.size());
  const std::size_t lines = agent.log_.size() - before;
  if (lines > most_log_lines) {
    agent.log_.resize(before + most_log_lines);
    agent.log_.push_back(fmt::format("{} more log lines of this call were dropped: at most {} are kept",
                                     lines - most_log_lines, most_log_lines));
  }
  for (std::string& line : agent.log_)
    if (line.size() > longest_log_line) line.replace(longest_log_line, std::string::npos, " ...");
}

// True if every number that serves as an index, a count or a command is one that the loop can work with.
bool AgentTransfer::possible(const Agent& agent) {
  const std::ptrdiff_t outlets = std::ssize(agent.anatomy_->outlet_names);
  const auto is_outlet = [&](int outlet) { return outlet >= 0 && outlet < outlets; };
  if (agent.percepts_.size() != agent.anatomy_->percept_names.size() ||
      agent.actions_.size() != agent.anatomy_->action_names.size() ||
      agent.action_set_.size() != agent.actions_.size() || agent.mailbox_.size() > Agent::mailbox_capacity ||
      agent.log_.size() > most_log_lines_of_tick)
    return false;
  for (const Value& action : agent.actions_) {
    bool finite = true;
    const_cast<Value&>(action).each_number([&](double& x) { finite = finite && std::isfinite(x); });
    const JointCommand* command = action.get<JointCommand>();
    if (!finite || (command != nullptr && command->control > physics::Control::torque)) return false;
  }
  return std::all_of(agent.mailbox_.begin(), agent.mailbox_.end(),
                     [&](const Message& m) { return is_outlet(m.outlet) && m.mailbox <= largest_mailbox; }) &&
         std::all_of(agent.outbox_.begin(), agent.outbox_.end(),
                     [&](const Outgoing& m) { return is_outlet(m.outlet) && m.options.mailbox <= largest_mailbox; }) &&
         std::all_of(agent.open_.begin(), agent.open_.end(), [&](const Agent::OpenMailbox& open) {
           return open.number <= largest_mailbox && open.program < agent.programs_.size();
         });
}

void AgentTransfer::make(Agent& agent, Birth birth) {
  agent.name_ = std::move(birth.name);
  agent.placement_ = birth.number;
  agent.address_ = narrow<int>(birth.number);
  agent.anatomy_ = std::move(birth.anatomy);
  Agent::Program& program = agent.programs_.emplace_back();
  program.parameters = std::move(birth.parameters);
  program.random = birth.random;
  for (const auto& sensor : agent.anatomy_->sensors) agent.percepts_.push_back(Value::of(sensor->type()));
  for (const auto& actuator : agent.anatomy_->actuators) agent.actions_.push_back(Value::of(actuator->type()));
  agent.action_set_.assign(agent.actions_.size(), 0);
}

void AgentTransfer::put_in_mailbox(Agent& agent, Message message) {
  if (agent.mailbox_.size() >= Agent::mailbox_capacity) {
    agent.mailbox_.erase(agent.mailbox_.begin());
    ++agent.dropped_;
  }
  agent.mailbox_.push_back(std::move(message));
}

// As Minds::think does it.
bool AgentTransfer::take_step(Agent& agent, Time tick_begin) {
  Agent::Program& program = agent.program();
  if (tick_begin + Time{1} < program.next_step) return false;
  if (program.period > 0) {
    const double periods = std::floor(((tick_begin - program.next_step).seconds() + 1e-9) / program.period) + 1;
    program.next_step += Time::seconds(periods * program.period);
  }
  return true;
}

bool AgentTransfer::load(Agent& agent, Archive& back, std::span<const std::byte> sent) {
  const Time now = agent.now_;
  const double dt = agent.dt_;
  const model::Clock clock = agent.clock_;
  const std::size_t running = agent.running_;
  const bool off = agent.off_;
  const auto unchanged = [&] {
    return agent.now_ == now && agent.dt_ == dt && agent.running_ == running && agent.off_ == off &&
           agent.clock_.offset == clock.offset && agent.clock_.drift_ppm == clock.drift_ppm;
  };
  std::vector<Value> percepts = agent.percepts_;  // they are the world's: no behaviour changes them
  std::vector<Time> next_steps;
  for (const Agent::Program& program : agent.programs_) next_steps.push_back(program.next_step);
  try {
    archive(agent, back);
    bool same_steps = true;
    for (std::size_t i = 0; i < next_steps.size(); ++i)
      same_steps = same_steps && agent.programs_[i].next_step == next_steps[i];
    if (back.ok() && same_steps && unchanged() && possible(agent)) {
      agent.percepts_ = std::move(percepts);
      return true;
    }
  } catch (const std::exception&) {
    // Numbers without sense can ask for more memory than there is.
  }
  // Vectors of typed values can only be loaded into values of those types, so those must be there again.
  agent.percepts_.clear(), agent.actions_.clear();
  for (const auto& sensor : agent.anatomy_->sensors) agent.percepts_.push_back(Value::of(sensor->type()));
  for (const auto& actuator : agent.anatomy_->actuators) agent.actions_.push_back(Value::of(actuator->type()));
  LoadArchive before(sent);
  archive(agent, before);
  return false;
}

}  // namespace volvox::mind
