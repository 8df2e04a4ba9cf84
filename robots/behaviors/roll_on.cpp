#include "roll_on.h"

#include <algorithm>

namespace volvox::robots {
namespace {

constexpr double wheel_radius = 0.048, half_track = 0.05;  // m, of a Scout

}  // namespace

void RollOn::start(mind::Agent& agent) {
  speed_ = agent.parameter("speed", 0.25);
  yaw_ = agent.parameter("yaw", 0.0);
  bend_ = agent.parameter("bend", 0.0);
  ramp_ = agent.parameter("ramp", 1.0);
}

void RollOn::step(mind::Agent& agent) {
  const double time = agent.time();
  agent.move_to("hinge", bend_ * (ramp_ > 0 ? std::min(1.0, time / ramp_) : 1.0));
  const double forward = time < ramp_ ? 0 : speed_, turn = time < ramp_ ? 0 : yaw_ * half_track;
  agent.turn("wheel_left", (forward - turn) / wheel_radius);
  agent.turn("wheel_right", (forward + turn) / wheel_radius);
}

}  // namespace volvox::robots
