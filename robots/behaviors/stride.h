// A walking structure of SuperBots: a spine docked front to back, and legs of one or more modules at the
// left and right docks of the spine. Every module finds its role from its own docks. The first module of
// the spine leads; neighbouring and opposite legs step alternately.
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
  double swing_ = 0;      // rad, amplitude of the hips forwards and backwards
  double lift_ = 0;       // rad, by which a leg is lifted
  double stand_ = 0;      // s, before it walks
  bool listens_ = true;   // false: ignores messages, to show what the gait does without them
};

}  // namespace volvox::robots
