// Sinusoidal snake locomotion (seed 000, section IV.B): every module of a chain follows the one at its
// front with a constant phase lag, so that waves of pitch and yaw travel along the chain and move it. The
// phase comes in messages from the end where the waves begin (sync="messages"), or from the module's clock
// and its given index, as in a gait control table (sync="clock").
#pragma once

#include "chain_phase.h"

namespace volvox::robots {

class Snake final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void tune(mind::Agent& agent) override { read_parameters(agent); }
  void step(mind::Agent& agent) override;
  bool receive(mind::Agent& agent, const mind::Message& message) override { return phase_.receive(agent, message); }
  VOLVOX_STATE(index_, began_, phase_)

 private:
  void read_parameters(mind::Agent& agent);

  int index_ = 0;                                      // its place in the chain, 0 where the waves begin
  double pitch_amplitude_ = 0, pitch_wavelength_ = 0;  // rad, modules
  double yaw_amplitude_ = 0, yaw_wavelength_ = 0;
  double frequency_ = 0;  // Hz
  double ramp_ = 0;       // s, until the waves have their full amplitudes
  bool by_messages_ = false;
  double patience_ = 0;  // s, for which it stays straight without messages; then it uses its own clock
  double began_ = 0;     // s, by its own clock
  ChainPhase phase_;
};

}  // namespace volvox::robots
