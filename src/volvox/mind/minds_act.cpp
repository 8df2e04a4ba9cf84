// The act phase: what agents have set reaches motors, docks and actuators.
#include <fmt/format.h>

#include <cmath>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/mind/ask_for.h"
#include "volvox/mind/minds.h"

namespace volvox::mind {

// The command after its noise; `room` stores it if there is noise.
const Value& Minds::disturbed(AgentIndex i, std::size_t action, Value& room) {
  VOLVOX_ASSERT(action < agents_[i].actions_.size() && agents_[i].action_set_[action]);
  const Value& command = agents_[i].actions_[action];
  VOLVOX_ASSERT(noises_.size() == agents_.size());
  for (NoiseSlot& noise : noises_[i].actions) {
    if (noise.index != narrow<int>(action)) continue;
    room = command;
    noise.chain.apply(room);
    return room;
  }
  return command;
}

std::string Minds::command_problem(AgentIndex i, std::size_t action, const Value& command) const {
  if (const JointCommand* joint = command.get<JointCommand>(); joint != nullptr && std::isfinite(joint->target))
    return {};
  bool good = true;
  const_cast<Value&>(command).each_number([&](double& x) { good = good && std::isfinite(x); });
  if (good) return {};
  // A command does not say which of the module's behaviours gave it.
  std::string who;
  for (std::size_t slot = first_slot_[i]; slot < first_slot_[i + 1]; ++slot)
    who += fmt::format("{}'{}'", who.empty() ? "behavior " : " or ", slots_[slot].name);
  return fmt::format("{} commanded a value that is not a number for the action '{}'", who.empty() ? "an input" : who,
                     agents_[i].anatomy_->action_names[action]);
}

// Carries out what an agent has set. With `alone` it may be called for one agent at a time only; without, false says
// that it must be called so, and that nothing was done.
bool Minds::act_one(world::World& world, AgentIndex i, bool alone) {
  const Agent& agent = agents_[i];
  const Anatomy& anatomy = *agent.anatomy_;
  VOLVOX_ASSERT(agent.actions_.size() == anatomy.actuators.size());
  if (!alone)
    for (std::size_t a = 0; a < agent.actions_.size(); ++a)
      if (agent.action_set_[a] && !anatomy.actuators[a]->on_board()) return false;
  const Controller* controller =
      controller_of_.empty() || controller_of_[i] < 0 ? nullptr : &controllers_[controller_of_[i]];
  Value room;
  for (std::size_t a = 0; a < agent.actions_.size(); ++a) {
    if (!agent.action_set_[a] || anatomy.actuators[a]->always()) continue;
    // control_one applies it at every substep
    if (controller && controller->on_board(a) && !agent.off_) continue;
    try {
      const Value& command = disturbed(i, a, room);
      if (std::string problem = command_problem(i, a, command); !problem.empty()) {
        failures_[i] = std::move(problem);
        return true;
      }
      anatomy.actuators[a]->apply({world, agent.placement_}, command);
    } catch (const std::exception& error) {
      failures_[i] = fmt::format("noise on the action '{}': {}", anatomy.action_names[a], error.what());
      return true;
    }
  }
  return true;
}

// Who uses only what may also be used on board goes side by side; the others follow one by one, in their order.
StepStatus Minds::act(world::World& world, ThreadPool& threads) {
  VOLVOX_ASSERT(controller_of_.empty() || controller_of_.size() == agents_.size());
  acts_alone_.resize(agents_.size());
  parallel_for(&threads, agents_.size(), 64, [&](std::size_t i) {
    if (i + 2 < agents_.size()) ask_for(agents_[i + 2].actions_), ask_for(agents_[i + 2].action_set_);
    acts_alone_[i] = !act_one(world, i, false);
  });
  for (const AgentIndex i : indices<AgentIndex>(agents_))
    if (acts_alone_[i] != 0) act_one(world, i, true);
  parallel_for(&threads, bearers_.size(), 16, [&](std::size_t b) { take_commands(b); });
  return first_failure();
}

// What the actuators of an agent that always act do in this tick.
void Minds::take_commands(std::size_t b) {
  const AgentIndex i = bearers_[b].agent;
  const Agent& agent = agents_[i];
  const Controller* controller =
      controller_of_.empty() || controller_of_[i] < 0 ? nullptr : &controllers_[controller_of_[i]];
  Value room;
  for (Bearer::Bearing& bearing : bearers_[b].bearings) {
    const std::size_t a = bearing.action;
    bearing.command = Value::of(agent.anatomy_->actuators[a]->type());
    if (agent.off_ || !agent.action_set_[a] || (controller && controller->on_board(a)) || !failures_[i].empty())
      continue;
    try {
      const Value& command = disturbed(i, a, room);
      if (std::string problem = command_problem(i, a, command); !problem.empty()) failures_[i] = std::move(problem);
      else bearing.command = command;
    } catch (const std::exception& error) {
      failures_[i] = fmt::format("noise on the action '{}': {}", agent.anatomy_->action_names[a], error.what());
    }
  }
}

// At a substep, after the controllers, which have applied what they command.
void Minds::bear(world::World& world, std::size_t b) {
  const AgentIndex i = bearers_[b].agent;
  const Agent& agent = agents_[i];
  const Controller* controller =
      controller_of_.empty() || controller_of_[i] < 0 ? nullptr : &controllers_[controller_of_[i]];
  for (const Bearer::Bearing& bearing : bearers_[b].bearings) {
    const std::size_t a = bearing.action;
    const bool done = controller && controller->on_board(a) && !agent.off_ && agent.action_set_[a];
    if (done || !failures_[i].empty()) continue;
    try {
      agent.anatomy_->actuators[a]->apply({world, agent.placement_}, bearing.command);
    } catch (const std::exception& error) {
      failures_[i] = fmt::format("the action '{}': {}", agent.anatomy_->action_names[a], error.what());
    }
  }
}

}  // namespace volvox::mind
