// An agent's state on its way to a copy of it in another process, and back (plugin/isolated.h).
#pragma once

#include "volvox/mind/agent.h"

namespace volvox::mind {

class AgentTransfer {
 public:
  // Everything that a behaviour can see or change.
  static void archive(Agent& agent, Archive& ar) {
    agent.archive(ar);
    ar("now", agent.now_);
    ar("dt", agent.dt_);
    std::uint64_t running = agent.running_;
    ar("running", running);
    if (ar.loading() && running < agent.programs_.size()) agent.running_ = running;
    ar("log", agent.log_);
  }
  // The parameters of the behaviour that runs.
  static Parameters& parameters(Agent& agent) { return agent.program().parameters; }
  // Calls back those observers of the behaviour that runs, with the module's own percepts.
  static void call_observers(Agent& agent) {
    for (const Agent::Observation& seen : agent.observations_)
      if (seen.program == agent.running_) seen.call(seen.of->percepts_[seen.percept]);
  }
};

}  // namespace volvox::mind
