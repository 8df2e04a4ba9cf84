// A small neural network over percepts: one hidden layer, tanh. Inputs are numbers that the module perceives, a sine
// and a cosine of its own clock, and a constant; outputs are the positions of its joints.
#pragma once

#include "volvox/mind/behavior.h"

namespace volvox::robots {

// Parameters: inputs ("pitch.angle yaw.velocity": percepts that are numbers), outputs ("pitch yaw": joints), hidden
// (neurons), frequency (Hz, of the clock's sine), reach (rad, of an output of 1), weights (as many numbers as
// `(inputs + 3) * hidden + (hidden + 1) * outputs`; fewer or more are an error that says how many).
class Neural final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  VOLVOX_STATE()

 private:
  std::vector<mind::Percept<double>> inputs_;
  std::vector<std::string> outputs_;
  std::vector<double> weights_, values_, hidden_;
  double frequency_ = 0, reach_ = 0;
};

}  // namespace volvox::robots
