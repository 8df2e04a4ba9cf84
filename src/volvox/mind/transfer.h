// Transfers an agent's state to its copy in another process, and back (plugin/isolated.h).
#pragma once

#include "volvox/mind/agent.h"

namespace volvox::mind {

class AgentTransfer {
 public:
  // The state that a behaviour can read or change.
  static void archive(Agent& agent, Archive& ar) {
    agent.archive(ar);
    ar("now", agent.now_);
    ar("dt", agent.dt_);
    std::uint64_t running = agent.running_;
    ar("running", running);
    if (ar.loading() && running < agent.programs_.size()) agent.running_ = running;
    ar("log", agent.log_);
  }
  // The parameters of the behaviour that is being called.
  static Parameters& parameters(Agent& agent) { return agent.program().parameters; }
  // Calls the callbacks (Agent::observe) of the behaviour that is being called.
  static void call_observers(Agent& agent) {
    for (const Agent::Observation& seen : agent.observations_)
      if (seen.program == agent.running_) seen.call(seen.of->percepts_[seen.percept]);
  }
};

}  // namespace volvox::mind
