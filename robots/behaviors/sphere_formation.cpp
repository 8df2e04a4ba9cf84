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

// Potentials alone give no guarantee: pushed by many neighbours, a robot was pressed against a pillar. So whatever they
// ask for, the acceleration towards an obstacle at distance d that closes in at speed v stays below
// keep_rate^2 (d - keep_away) - 2 keep_rate v: then d - keep_away decays no faster than a critically damped spring
// would take it to zero, and never crosses it (a control barrier function; Ames et al. 2017).
Vec3 SphereFormation::kept_away(const mind::Agent& agent, const Quat& attitude, Vec3 wanted) const {
  const std::vector<double>& ranges = agent.percept(range_);
  const Vec3 moving = velocity(agent).linear;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i] >= clearance_) continue;
    const Vec3 ray = attitude * rays_[i];
    const double allowed = keep_rate * keep_rate * (ranges[i] - keep_away) - 2 * keep_rate * dot(moving, ray);
    if (const double excess = dot(wanted, ray) - allowed; excess > 0) wanted -= ray * excess;
  }
  return wanted;
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
  accelerate(agent, kept_away(agent, attitude, wanted), 0, 0);
}

}  // namespace volvox::robots
