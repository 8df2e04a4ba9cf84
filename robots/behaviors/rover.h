// ATRONs that use some of their modules as wheels (seed 000, section IV.B). All modules run this
// program: a module with four neighbours is the hub and sends the speed; the others turn their
// free half at the speed that they receive, and stop when messages stop.
#pragma once

#include "volvox/mind/behavior.h"

namespace volvox::robots {

struct Drive {
  double speed = 0;  // rad/s, of the free half around its outward axis
};
VOLVOX_TYPE(Drive, speed)

class Rover final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void tune(mind::Agent& agent) override { read_parameters(agent); }
  void step(mind::Agent& agent) override;
  VOLVOX_STATE(begin_, heard_, speed_)

 private:
  void read_parameters(mind::Agent& agent);
  void lead(mind::Agent& agent, double elapsed);
  void obey(mind::Agent& agent, double now);

  double cruise_ = 0;             // rad/s, of the wheels
  double turn_ = 0;               // rad/s, added to the wheels on the right and subtracted on the left
  double waist_ = 0;              // rad, twist of the hub before it drives
  double stand_ = 0;              // s, before it twists
  double begin_ = 0, heard_ = 0;  // s, by its own clock
  double speed_ = 0;              // rad/s, last received
};

}  // namespace volvox::robots
