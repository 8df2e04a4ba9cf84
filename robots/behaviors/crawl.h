// A snake that keeps its wave by messages: the module whose front is free leads, and each tells the
// one behind it where the wave stands. No module knows how many there are, or which it is. Whichever
// side it lies on, it bends up and down: each module feels which of its two bending joints does that.
// The head keeps its course by its gyroscope; what it steers travels with the wave.
#pragma once

#include "chain_phase.h"

namespace volvox::robots {

class Crawl final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void tune(mind::Agent& agent) override { read_parameters(agent); }
  void step(mind::Agent& agent) override;
  bool receive(mind::Agent& agent, const mind::Message& message) override {
    return !listens_ || phase_.receive(agent, message);
  }
  VOLVOX_STATE(phase_, begin_, up_, heading_)

 private:
  void read_parameters(mind::Agent& agent);
  void feel(mind::Agent& agent);

  ChainPhase phase_;
  double begin_ = 0;       // s, by its own clock
  Vec3 up_{0, 0, 1};       // in the module's frame, as its accelerometer has felt it of late
  double heading_ = 0;     // rad to the left since the start, as the gyroscope of the head has it
  double amplitude_ = 0;   // rad, of the pitch wave
  double wavelength_ = 0;  // modules
  double frequency_ = 0;   // Hz
  bool listens_ = true;    // false: what becomes of the wave without messages
};

}  // namespace volvox::robots
