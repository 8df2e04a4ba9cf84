// Holds every motor at its initial angle, for the modules of a rigid structure.
#pragma once

#include "volvox/mind/behavior.h"

namespace volvox::robots {

class Hold final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override {
    for (const std::string& action : agent.actions())
      if (agent.has_percept(action + ".angle")) agent.move_to(action, agent.angle(action));
  }
  void step(mind::Agent&) override {}
  VOLVOX_STATE()
};

}  // namespace volvox::robots
