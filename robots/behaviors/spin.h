// Turns every motor at a constant speed: ATRONs that spin, wheels that roll.
#pragma once

#include "volvox/mind/behavior.h"

namespace volvox::robots {

class Spin final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override {
    const double speed = agent.parameter("speed", 1.05);  // rad/s
    for (const std::string& action : agent.actions())
      if (agent.has_percept(action + ".angle")) agent.turn(action, speed);
  }
  void step(mind::Agent&) override {}
  VOLVOX_STATE()
};

}  // namespace volvox::robots
