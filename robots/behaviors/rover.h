// ATRONs that roll on some of their modules as wheels (seed 000, section IV.B). All run this one
// program: whoever has four neighbours is the hub and says how fast to turn; the others turn their
// free half as they are told through the dock that holds them, and stand still when they hear nothing.
#pragma once

#include "volvox/mind/behavior.h"

namespace volvox::robots {

struct Drive {
  double speed = 0;  // rad/s, of the free half about the axis that points out of it
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

  double cruise_ = 0;  // rad/s, of the wheels
  double turn_ = 0;    // rad/s, by which wheels on the right are faster than cruise and those on the left slower
  double waist_ = 0;   // rad, by which the hub twists before it drives
  double stand_ = 0;   // s, before it twists
  double begin_ = 0, heard_ = 0;  // s, by its own clock
  double speed_ = 0;              // rad/s, as last told
};

}  // namespace volvox::robots
