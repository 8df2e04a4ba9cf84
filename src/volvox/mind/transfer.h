// Agents outside of mind/minds.h: transfers an agent's state to its copy in another process, and back
// (plugin/isolated.h); and what is needed to run one elsewhere, such as on a lattice (robots/behaviors).
// Bytes of this machine alone: both processes are copies of one program. The thread that calls the behaviour.
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
  // Loads what came back from the other process, which may be anything: an answer that no behaviour can give is
  // refused, and the agent stays as `sent` describes it.
  static bool load(Agent& agent, Archive& back, std::span<const std::byte> sent);
  // The parameters of the behaviour that is being called.
  static Parameters& parameters(Agent& agent) { return agent.program().parameters; }
  // Of the log lines of one call, those after the first `before`, at most these are sent back.
  static constexpr std::size_t most_log_lines = 100;
  static std::size_t log_lines(const Agent& agent) { return agent.log_.size(); }
  static void shorten_log(Agent& agent, std::size_t before);
  // Calls the callbacks (Agent::observe) of the behaviour that is being called.
  static void call_observers(Agent& agent) {
    for (const Agent::Observation& seen : agent.observations_)
      if (seen.program == agent.running_) seen.call(seen.of->percepts_[seen.percept]);
  }

  // --- An agent with one behaviour that no Minds owns -------------------------------------------
  struct Birth {
    std::string name;
    std::uint32_t number = 0;  // its placement and address
    std::shared_ptr<const Anatomy> anatomy;
    Parameters parameters;
    RandomStream random;
  };
  static void make(Agent& agent, Birth birth);
  static void set_time(Agent& agent, Time now, double dt) { agent.now_ = now, agent.dt_ = dt; }
  static Value& percept(Agent& agent, std::size_t i) { return agent.percepts_[i]; }
  // Messages that the behaviour has sent since the last call.
  static std::vector<Outgoing> take_outbox(Agent& agent) { return std::exchange(agent.outbox_, {}); }
  // Whether the behaviour reads this mailbox; and a message for it that `receive` did not take.
  static bool has_opened(const Agent& agent, MailboxNumber mailbox) { return agent.owner_of(mailbox) >= 0; }
  static void put_in_mailbox(Agent& agent, Message message);
  static std::vector<std::string> take_log(Agent& agent) { return std::exchange(agent.log_, {}); }
  static void set_period(Agent& agent, double seconds) { agent.program().period = seconds; }
  // Whether a step is due in a tick that begins then; it is taken for done.
  static bool take_step(Agent& agent, Time tick_begin);

 private:
  static bool possible(const Agent& agent);
};

}  // namespace volvox::mind
