// Switches the magnets of a catom one after another, as the windings of a stepper motor: its feature `first` is on, and
// at each step the next one on that side. What touches a catom that does the same in the other direction, with the
// other pole, rolls about it (seed 001, figure 2). Open loop, by the clock: who is driven too fast misses steps. With
// `micro` the poles of two features fade into each other over a step, as currents do in microstepping.
#pragma once

#include <vector>

#include "volvox/mind/behavior.h"

namespace volvox::robots {

class Stepper final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  VOLVOX_STATE()

 private:
  std::vector<mind::Action<double>> features_;
  std::int64_t first_ = 0, steps_ = 0;
  int direction_ = 1;
  double rate_ = 0, begin_ = 0;  // 1/s, s
  double pole_ = 1;
  bool repel_ = false, micro_ = false;
};

}  // namespace volvox::robots
