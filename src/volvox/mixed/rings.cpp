#include "volvox/mixed/rings.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/cell_grid.h"
#include "volvox/world/magnets.h"

namespace volvox::mixed {

std::int32_t Rings::facing(const Pose& catom, const Vec3& direction) const {
  const Vec3 seen = catom.rotation.conjugate() * direction;
  const double part = volvox::atan2(seen.y, seen.x) / (2 * pi) * options_.features;
  const auto nearest = truncated<std::int32_t>(std::floor(part + 0.5));
  return (nearest % options_.features + options_.features) % options_.features;
}

void Rings::add(physics::BodyId body, std::int32_t feature, double pole) {
  if (pole == 0) return;
  const double angle = 2 * pi * feature / options_.features;
  poles_.push_back({body, Vec3{volvox::cos(angle), volvox::sin(angle), 0} * options_.radius, pole * options_.strength});
}

void Rings::hold(physics::BodyId a, const Pose& pose_a, physics::BodyId b, const Pose& pose_b) {
  const Vec3 way = pose_b.position - pose_a.position;
  add(a, facing(pose_a, way), 1);
  add(b, facing(pose_b, -way), -1);
}

void Rings::roll(const Rolling& rolling, int steps, physics::BodyId own, physics::BodyId pivot) {
  const double at = std::min(real(steps), rolling.time / options_.step_time), part = at - std::floor(at);
  const auto step = truncated<std::int32_t>(at);
  const double before = options_.roll * volvox::cos(pi / 2 * part), after = options_.roll * volvox::sin(pi / 2 * part);
  for (const auto& [back, pole] : {std::pair(0, before), std::pair(1, after)}) {
    if (pole == 0) continue;
    add(pivot, rolling.of_pivot + rolling.turn * (step + back), pole);
    add(own, rolling.own - rolling.turn * (step + back), -pole);
  }
}

void Rings::pull(physics::Engine& engine) const {
  std::vector<Vec3> points;
  for (const Pole& pole : poles_) points.push_back(engine.poses()[pole.body.index] * pole.at);
  if (points.size() < 2) return;
  CellGrid grid(points, options_.range);
  const auto push = [&](std::uint32_t pole, const Vec3& force) {
    const physics::BodyId body = poles_[pole].body;
    engine.forces()[body.index] += {force, cross(points[pole] - engine.poses()[body.index].position, force)};
  };
  grid.near_pairs(options_.range, [&](std::uint32_t i, std::uint32_t k, double squared) {
    if (poles_[i].body == poles_[k].body || squared == 0) return;
    const double distance = std::sqrt(squared);
    const world::PolePair pair =
        world::pole_pair(poles_[i].strength, poles_[k].strength, distance, options_.size, options_.range);
    const Vec3 force = (points[i] - points[k]) * (pair.push / distance);
    push(i, force);
    push(k, -force);
  });
}

}  // namespace volvox::mixed
