#include "volvox/world/dock_finder.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/check.h"
#include "volvox/base/index.h"

namespace volvox::world {

void DockFinder::add(DockIndex dock, PlacementIndex owner, const Vec3& position) {
  if (owners_.empty() || owners_.back().index != owner)
    owners_.push_back({owner, narrow<std::uint32_t>(docks_.size()), position, position});
  Owner& own = owners_.back();
  own.lowest = {std::min(own.lowest.x, position.x), std::min(own.lowest.y, position.y),
                std::min(own.lowest.z, position.z)};
  own.highest = {std::max(own.highest.x, position.x), std::max(own.highest.y, position.y),
                 std::max(own.highest.z, position.z)};
  docks_.push_back(dock);
  positions_.push_back(position);
}

// Most robots of a swarm are alone. Only where the boxes around the docks of two owners are within reach of each
// other are their docks compared one by one.
void DockFinder::find_company(double reach) {
  double largest = 0, total = 0;
  centres_.clear();
  for (Owner& owner : owners_) {
    const double size = length(owner.highest - owner.lowest) + reach;
    largest = std::max(largest, size), total += size;
    centres_.push_back((owner.lowest + owner.highest) * 0.5);
    owner.has_company = false;
  }
  if (largest * real(owners_.size()) > much_larger * total) {
    for (Owner& owner : owners_) owner.has_company = true;
    return;
  }
  const double wide = 1.000001 * largest;  // so that rounding decides nothing
  const auto apart = [&](double low, double high, double other_low, double other_high) {
    return low - other_high > 1.000001 * reach || other_low - high > 1.000001 * reach;
  };
  owner_grid_.fill(centres_, 2 * wide);
  owner_grid_.near_pairs(wide, [&](std::uint32_t i, std::uint32_t k, double) {
    Owner &a = owners_[i], &b = owners_[k];
    if (a.has_company && b.has_company) return;
    if (apart(a.lowest.x, a.highest.x, b.lowest.x, b.highest.x) ||
        apart(a.lowest.y, a.highest.y, b.lowest.y, b.highest.y) ||
        apart(a.lowest.z, a.highest.z, b.lowest.z, b.highest.z))
      return;
    a.has_company = b.has_company = true;
  });
}

const std::vector<DockFinder::Pair>& DockFinder::find(double reach,
                                                      const std::function<bool(DockIndex, DockIndex)>& may_join) {
  pairs_.clear();
  VOLVOX_ASSERT(docks_.size() == positions_.size() && std::is_sorted(docks_.begin(), docks_.end()));
  if (owners_.size() < 2 || reach <= 0) return pairs_;
  find_company(reach);
  chosen_.clear(), chosen_positions_.clear();
  for (std::size_t i = 0; i < owners_.size(); ++i) {
    if (!owners_[i].has_company) continue;
    const std::size_t last = i + 1 < owners_.size() ? owners_[i + 1].first : docks_.size();
    for (std::size_t k = owners_[i].first; k < last; ++k) {
      chosen_.push_back(narrow<std::uint32_t>(k));
      chosen_positions_.push_back(positions_[k]);
    }
  }
  if (chosen_.empty()) return pairs_;
  grid_.fill(chosen_positions_, cell_per_reach * reach);
  grid_.near_pairs(reach, [&](std::uint32_t x, std::uint32_t y, double distance_squared) {
    VOLVOX_ASSERT(x < y && y < chosen_.size() && distance_squared >= 0);
    const DockIndex a = docks_[chosen_[x]], b = docks_[chosen_[y]];
    if (may_join(a, b)) pairs_.push_back({a, b, std::sqrt(distance_squared)});
  });
  std::sort(pairs_.begin(), pairs_.end(), [](const Pair& l, const Pair& r) {
    if (l.distance != r.distance) return l.distance < r.distance;
    return l.a != r.a ? l.a < r.a : l.b < r.b;
  });
  return pairs_;
}

std::size_t DockFinder::memory_bytes() const {
  return (docks_.capacity() + chosen_.capacity()) * 4 +
         (positions_.capacity() + centres_.capacity() + chosen_positions_.capacity()) * sizeof(Vec3) +
         owners_.capacity() * sizeof(Owner) + grid_.memory_bytes() + owner_grid_.memory_bytes() +
         pairs_.capacity() * sizeof(Pair);
}

}  // namespace volvox::world
