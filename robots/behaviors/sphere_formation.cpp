#include "sphere_formation.h"

#include <algorithm>

#include "volvox/base/index.h"

namespace volvox::robots {

void SphereFormation::start(mind::Agent& agent) {
  Flyer::start(agent);
  neighbors_ = agent.find_percept<std::vector<Vec3>>("neighbors");
  range_ = agent.find_percept<std::vector<double>>("range");
  middle_ = {agent.parameter("x", 0.0), agent.parameter("y", 0.0), agent.parameter("z", 5.0)};
  radius_ = agent.parameter("radius", 3.0);
  sway_ = agent.parameter("sway", 0.0);
  period_ = agent.parameter("period", 60.0);
  spacing_ = agent.parameter("spacing", 1.6);
  clearance_ = agent.parameter("clearance", 2.0);
  if (!(period_ > 0 && spacing_ > 0 && clearance_ > 0))
    throw mind::AgentError("period, spacing and clearance must be positive");
  // The rays of the quadrotor's range sensor cover 360 degrees, from the back over the right, front and left.
  const auto rays = agent.percept(range_).size();
  for (std::size_t i = 0; i < rays; ++i) {
    const double bearing = 2 * pi * ((real(i) + 0.5) / real(rays) - 0.5);
    rays_.push_back({volvox::cos(bearing), volvox::sin(bearing), 0});
  }
}

Vec3 SphereFormation::centre(double time) const {
  return middle_ + Vec3{sway_ * volvox::sin(2 * pi * time / period_), 0, 0};
}

Vec3 SphereFormation::away_from_neighbors(const mind::Agent& agent, const Quat& attitude) const {
  Vec3 push;
  for (const Vec3& neighbor : agent.percept(neighbors_)) {
    const double distance = length(neighbor);
    if (distance >= spacing_ || !(distance > 0)) continue;
    push -= neighbor * ((spacing_ / distance - 1) / distance);
  }
  return attitude * push * neighbor_gain;
}

Vec3 SphereFormation::away_from_obstacles(const mind::Agent& agent, const Quat& attitude) const {
  Vec3 push;
  const std::vector<double>& ranges = agent.percept(range_);
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (ranges[i] < clearance_) push -= rays_[i] * (clearance_ / std::max(ranges[i], 0.1) - 1);
  return attitude * push * obstacle_gain;
}

void SphereFormation::step(mind::Agent& agent) {
  const Pose& self = pose(agent);
  const Quat attitude = normalized(self.rotation);
  const double time = agent.time();
  const Vec3 out = self.position - centre(time);
  const double distance = length(out);
  const Vec3 drift{sway_ * 2 * pi / period_ * volvox::cos(2 * pi * time / period_), 0, 0};
  Vec3 wanted = away_from_neighbors(agent, attitude) + away_from_obstacles(agent, attitude);
  if (distance > 0) wanted += out * (clamp(sphere_gain * (radius_ - distance), -sphere_most, sphere_most) / distance);
  wanted += (drift - velocity(agent).linear) * friction;
  if (const double size = length(wanted); size > most) wanted *= most / size;
  accelerate(agent, wanted, 0, 0);
}

}  // namespace volvox::robots
