// Drives a Wheelbot forward and turns away from obstacles in its range sensor. What it passes beside at a safe distance
// is no obstacle: a robot that turned away from everything near would never leave a corner by the gap it came in.
#pragma once

#include <span>

#include "volvox/mind/behavior.h"

namespace volvox::robots {

class Wander final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  VOLVOX_STATE(turning_, turns_on_)

 private:
  // Whether a ray ends on the way: nearer than the distance ahead and than the clearance to the side, both times scale.
  bool blocked(std::span<const double> ranges, double scale) const;

  double speed_ = 0;        // rad/s, of the wheels
  double distance_ = 0;     // m, ahead of the sensor: below which it turns
  double clearance_ = 0;    // m, from the robot's axis to what it may pass; as much as it needs to turn on the spot
  std::vector<Vec3> rays_;  // directions; x is forward
  int turning_ = 0;         // -1: to the right, 1: to the left, until the way is clear
  double turns_on_ = 0;     // s, to turn on after the way is clear
};

}  // namespace volvox::robots
