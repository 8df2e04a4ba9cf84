// Scouts that drive on wheels, alone or docked in a chain (seed 002, section 3.1: "the snake moves using
// the Scout's wheels with constant velocity", "the main hinges of the robots are controlled to form
// U-shaped snake"). Each module knows only its own joints: first its hinge bends, then its wheels turn.
#pragma once

#include "volvox/mind/behavior.h"

namespace volvox::robots {

class RollOn final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void tune(mind::Agent& agent) override { start(agent); }
  void step(mind::Agent& agent) override;
  VOLVOX_STATE()

 private:
  double speed_ = 0;  // m/s
  double yaw_ = 0;    // rad/s, to the left
  double bend_ = 0;   // rad, of the hinge
  double ramp_ = 0;   // s, duration of the bending, before it drives
};

}  // namespace volvox::robots
