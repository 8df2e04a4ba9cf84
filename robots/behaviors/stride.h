// Walks a structure of SuperBots on legs at its sides: a spine docked front to back, legs of one or
// more modules at the left and right docks of the spine. Every module finds out what it is from its
// own docks; the foremost of the spine leads, and legs that are neighbours or face each other step in turn.
#pragma once

#include "chain_phase.h"

namespace volvox::robots {

class Stride final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void tune(mind::Agent& agent) override { read_parameters(agent); }
  void step(mind::Agent& agent) override;
  bool receive(mind::Agent& agent, const mind::Message& message) override;
  VOLVOX_STATE(phase_, begin_)

 private:
  void read_parameters(mind::Agent& agent);
  void be_a_hip(mind::Agent& agent, double phase, bool left);

  ChainPhase phase_;
  double begin_ = 0;      // s, by its own clock
  double frequency_ = 0;  // Hz
  double swing_ = 0;      // rad, of hips fore and aft
  double lift_ = 0;       // rad, by which knees open
  double stand_ = 0;      // s, before it walks
  bool listens_ = true;   // false: what becomes of the gait without messages
};

}  // namespace volvox::robots
