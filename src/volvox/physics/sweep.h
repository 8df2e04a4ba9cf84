// Limits the motion of a body within a substep, for engines whose collision detection sees the poses of bodies and not
// their motion: a fast body would otherwise pass through a wall. World frame, metres.
// Shares the shapes with whoever else has them. hold_before_obstacles only reads: several threads may ask at once.
// Deterministic.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "volvox/physics/system.h"
#include "volvox/rays/ray_shapes.h"

namespace volvox::physics {

class Sweep {
 public:
  void add(std::size_t body, const BodyDesc& desc);
  void remove(std::size_t body) { shapes_[body] = nullptr; }

  // The position that the centre of mass may reach from `from`: it is `to`, unless that is farther than half the body's
  // thickness and something that the body may touch is in between.
  Vec3 hold_before_obstacles(const System& system, std::size_t body, const Vec3& from, const Vec3& to) const;

 private:
  double distance_to(const System& system, std::size_t body, const Vec3& from, const Vec3& direction,
                     double range) const;

  std::vector<std::shared_ptr<const rays::RayGeometry>> shapes_;  // by body index; null: cannot be hit
  std::vector<double> cores_;  // by body index, from the centre of mass to the nearest side; 0: none
  std::map<const model::Geometry*, std::weak_ptr<const rays::RayGeometry>> cache_;  // for look-up only
};

}  // namespace volvox::physics
