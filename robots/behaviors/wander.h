// Drives a Wheelbot forward and turns away from obstacles in its range sensor.
#pragma once

#include "volvox/mind/behavior.h"

namespace volvox::robots {

class Wander final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  VOLVOX_STATE(turning_)

 private:
  double speed_ = 0;     // rad/s, of the wheels
  double distance_ = 0;  // m, below which it turns
  int turning_ = 0;      // -1: to the right, 1: to the left, until the way is clear
};

}  // namespace volvox::robots
