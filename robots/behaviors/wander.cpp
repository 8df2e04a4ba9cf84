#include "wander.h"

#include <algorithm>

namespace volvox::robots {

void Wander::start(mind::Agent& agent) {
  speed_ = agent.parameter("speed", 6.0);
  distance_ = agent.parameter("distance", 0.4);
}

void Wander::step(mind::Agent& agent) {
  const auto& ranges = agent.percept<std::vector<double>>("range");
  const auto middle = ranges.begin() + ranges.size() / 2;
  const double right = *std::min_element(ranges.begin(), middle + 1);
  const double left = *std::min_element(middle, ranges.end());
  // It keeps the direction of a turn, otherwise it could stay between two walls for ever.
  if (std::min(left, right) > 1.2 * distance_) turning_ = 0;
  else if (turning_ == 0 && std::min(left, right) < distance_) turning_ = left >= right ? 1 : -1;
  const double forward = turning_ == 0 ? speed_ : 0;
  const double turn = turning_ == 0 ? 0 : speed_ * turning_;
  agent.turn("wheel_front_left", forward - turn);
  agent.turn("wheel_rear_left", forward - turn);
  agent.turn("wheel_front_right", forward + turn);
  agent.turn("wheel_rear_right", forward + turn);
}

}  // namespace volvox::robots
