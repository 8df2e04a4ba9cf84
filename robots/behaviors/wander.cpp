#include "wander.h"

#include <algorithm>

#include "volvox/base/index.h"

namespace volvox::robots {

void Wander::start(mind::Agent& agent) {
  speed_ = agent.parameter("speed", 6.0);
  distance_ = agent.parameter("distance", 0.4);
  clearance_ = agent.parameter("clearance", 0.18);
  const double view = agent.parameter("field_of_view", 2.1);  // rad, of the Wheelbot's sensor
  const std::size_t rays = agent.percept<std::vector<double>>("range").size();
  rays_.clear();
  for (std::size_t i = 0; i < rays; ++i) {  // from right to left
    const double bearing = rays > 1 ? view * (real(i) / real(rays - 1) - 0.5) : 0;
    rays_.push_back({volvox::cos(bearing), volvox::sin(bearing), 0});
  }
}

bool Wander::blocked(std::span<const double> ranges, double scale) const {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Vec3 hit = rays_[i] * ranges[i];
    if (hit.x < scale * distance_ && std::fabs(hit.y) < scale * clearance_) return true;
  }
  return false;
}

void Wander::step(mind::Agent& agent) {
  const auto& ranges = agent.percept<std::vector<double>>("range");
  const auto middle = ranges.begin() + ranges.size() / 2;
  const double right = *std::min_element(ranges.begin(), middle + 1);
  const double left = *std::min_element(middle, ranges.end());
  if (turning_ == 0 && blocked(ranges, 1)) {
    // It keeps the direction of a turn, otherwise it could stay between two walls for ever; and how far it turns is
    // left to chance, otherwise it could drive the same round for ever.
    turning_ = left >= right ? 1 : -1;
    turns_on_ = agent.random().uniform(0, 0.4);
  } else if (turning_ != 0 && !blocked(ranges, 1.2)) {
    turns_on_ -= agent.dt();
    if (turns_on_ <= 0) turning_ = 0;
  }
  const double forward = turning_ == 0 ? speed_ : 0;
  // While it drives, it bears away from the nearer side.
  const double bend = clamp(0.2 / std::max(right, 0.1) - 0.2 / std::max(left, 0.1), -0.4, 0.4);
  const double turn = speed_ * (turning_ == 0 ? bend : turning_);
  agent.turn("wheel_front_left", forward - turn);
  agent.turn("wheel_rear_left", forward - turn);
  agent.turn("wheel_front_right", forward + turn);
  agent.turn("wheel_rear_right", forward + turn);
}

}  // namespace volvox::robots
