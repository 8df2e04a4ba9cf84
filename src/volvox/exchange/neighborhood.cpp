#include "volvox/exchange/neighborhood.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/check.h"

namespace volvox::exchange {

void Neighborhood::update(const world::World& world, double range) {
  VOLVOX_ASSERT(range >= 0);
  modules_ = world.modules();
  positions_.clear();
  for (const world::PlacementIndex module : modules_)
    positions_.push_back(world.link_pose(world.part(module).first_link).position);
  grid_.fill(positions_, std::max(range, 1e-3));
}

void Neighborhood::near(const Vec3& place, double range, world::PlacementIndex except, std::vector<Near>& out) const {
  out.clear();
  VOLVOX_ASSERT(range >= 0 && modules_.size() == positions_.size());
  // The search radius is slightly larger, so that rounding in the square loses no module; the distance decides.
  grid_.near(place, range * (1 + 1e-9), [&](std::uint32_t i, double distance_squared) {
    const double distance = std::sqrt(distance_squared);
    if (modules_[i] != except && distance <= range) out.push_back({distance, modules_[i], positions_[i]});
  });
  std::sort(out.begin(), out.end(), [](const Near& a, const Near& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.module < b.module;
  });
}

}  // namespace volvox::exchange
