// Moves all motors between two states in an alternating pattern: the behaviour of seed 000's
// scalability test (section IV.G).
#pragma once

#include "volvox/mind/behavior.h"

namespace volvox::robots {

class Alternate final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override {
    amplitude_ = agent.parameter("amplitude", 0.5);
    period_ = agent.parameter("period", 2.0);
    for (const std::string& action : agent.actions())
      if (agent.has_percept(action + ".angle")) joints_.push_back(agent.find_action<mind::JointCommand>(action));
  }
  void step(mind::Agent& agent) override {
    const bool first_half = std::fmod(agent.time(), period_) < period_ / 2;
    const double target = first_half ? amplitude_ : -amplitude_;
    for (const mind::Action<mind::JointCommand> joint : joints_)
      agent.act(joint, mind::JointCommand{physics::Control::position, target});
  }
  VOLVOX_STATE()

 private:
  double amplitude_ = 0;  // rad
  double period_ = 0;     // s, of a whole cycle
  std::vector<mind::Action<mind::JointCommand>> joints_;
};

}  // namespace volvox::robots
