// Coupled oscillators: every module has a phase, pulls it towards what its docked neighbours say, and moves each of its
// joints by a sine of it. A gait for any body, and what evolution (src/volvox/evolve) changes most often.
#pragma once

#include "volvox/mind/behavior.h"

namespace volvox::robots {

// Where the sender is in the gait of all: its phase without its own lag, rad.
struct OscillatorMessage {
  double phase = 0;
};
VOLVOX_TYPE(OscillatorMessage, phase)

// Parameters: frequency (Hz), coupling (1/s), lag (rad, of this module behind the others), ramp (s until the full
// amplitude); for every joint J with a motor: J.amplitude, J.offset (rad), J.phase (rad).
class Oscillators final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void tune(mind::Agent& agent) override { read_parameters(agent); }
  void step(mind::Agent& agent) override;
  VOLVOX_STATE(phase_, age_)

 private:
  struct Motion {
    std::string joint;
    double amplitude = 0, offset = 0, phase = 0;
  };
  void read_parameters(mind::Agent& agent);

  std::vector<Motion> motions_;
  double frequency_ = 0, coupling_ = 0, lag_ = 0, ramp_ = 0;
  double phase_ = 0;  // rad, of the gait
  double age_ = 0;    // s
};

}  // namespace volvox::robots
