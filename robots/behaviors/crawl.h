// A snake that synchronizes its wave by messages: the module whose front is free is the head, and each
// module sends the phase to the one behind it. No module knows the number of modules or its own index. The
// snake bends up and down on whichever side it lies: with its accelerometer each module finds which of its
// two bending joints does that. The head keeps its course with its gyroscope and sends the steering angle
// along with the phase.
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
  Vec3 up_{0, 0, 1};       // in the module's frame, from gyroscope and accelerometer
  double heading_ = 0;     // rad to the left since the start, integrated from the gyroscope
  double amplitude_ = 0;   // rad, of the pitch wave
  double wavelength_ = 0;  // modules
  double frequency_ = 0;   // Hz
  bool level_ = false;     // bends from side to side instead, as a swimmer does
  bool listens_ = true;    // false: ignores messages, to show what the wave does without them
};

}  // namespace volvox::robots
