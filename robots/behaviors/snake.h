// Sinusoidal snake locomotion (seed 000, section IV.B): every module of a chain follows the
// one before it with a constant delay in phase, so that waves of pitch and yaw travel along.
#pragma once

#include "volvox/mind/behavior.h"

namespace volvox::robots {

class Snake final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void tune(mind::Agent& agent) override { start(agent); }
  void step(mind::Agent& agent) override;
  VOLVOX_STATE(index_)

 private:
  int index_ = 0;  // its place in the chain, 0 at the head
  double pitch_amplitude_ = 0, pitch_wavelength_ = 0;  // rad, modules
  double yaw_amplitude_ = 0, yaw_wavelength_ = 0;
  double frequency_ = 0;  // Hz
  double ramp_ = 0;       // s, over which the waves rise to their amplitudes
};

}  // namespace volvox::robots
