#include "volvox/world/dock_finder.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/check.h"

namespace volvox::world {

const std::vector<DockFinder::Pair>& DockFinder::find(double reach,
                                                      const std::function<bool(DockIndex, DockIndex)>& may_join) {
  pairs_.clear();
  VOLVOX_ASSERT(docks_.size() == positions_.size() && std::is_sorted(docks_.begin(), docks_.end()));
  if (docks_.size() < 2 || reach <= 0) return pairs_;
  grid_.fill(positions_, cell_per_reach * reach);
  grid_.near_pairs(reach, [&](std::uint32_t a, std::uint32_t b, double distance_squared) {
    VOLVOX_ASSERT(a < b && b < docks_.size() && distance_squared >= 0);
    if (may_join(docks_[a], docks_[b])) pairs_.push_back({docks_[a], docks_[b], std::sqrt(distance_squared)});
  });
  std::sort(pairs_.begin(), pairs_.end(), [](const Pair& l, const Pair& r) {
    if (l.distance != r.distance) return l.distance < r.distance;
    return l.a != r.a ? l.a < r.a : l.b < r.b;
  });
  return pairs_;
}

std::size_t DockFinder::memory_bytes() const {
  return docks_.capacity() * 4 + positions_.capacity() * sizeof(Vec3) + grid_.memory_bytes() +
         pairs_.capacity() * sizeof(Pair);
}

}  // namespace volvox::world
