// Drives a buggy: it stands for 3 s, drives straight at a speed, and from `at` on steers by one angle. The springs are
// the motors of its sliders, which hold their unloaded length; speed is held on board, by the rear tyres. SI units;
// several threads, each with its own agent.
#pragma once

#include "volvox/mind/behavior.h"

namespace volvox::robots {

class BuggyDriver final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  void control(mind::Agent& agent, double step) override;
  OnBoard on_board() const override {
    return {{"velocity"}, {"front_left_tyre", "front_right_tyre", "rear_left_tyre", "rear_right_tyre"}};
  }
  VOLVOX_STATE()

 private:
  double speed_ = 0, steer_ = 0, at_ = 0;  // m/s, rad, s
};

}  // namespace volvox::robots
