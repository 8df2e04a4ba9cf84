#include "volvox/world/dock_finder.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "volvox/base/check.h"

namespace volvox::world {
namespace {

double whole(double x) { return std::floor(clamp(x, -1e15, 1e15)); }

}  // namespace

std::uint32_t DockFinder::bucket(const Cell& cell) const {
  VOLVOX_ASSERT(std::has_single_bit(std::uint64_t{mask_} + 1));
  const std::uint64_t mixed = static_cast<std::uint64_t>(cell.x) * 0x9E3779B97F4A7C15ull ^
                              static_cast<std::uint64_t>(cell.y) * 0xC2B2AE3D27D4EB4Full ^
                              static_cast<std::uint64_t>(cell.z) * 0x165667B19E3779F9ull;
  return static_cast<std::uint32_t>(mixed >> 32) & mask_;
}

// A counting sort by bucket.
void DockFinder::fill_buckets(double scale) {
  VOLVOX_ASSERT(docks_.size() == positions_.size() && !docks_.empty());
  VOLVOX_ASSERT(scale > 0);
  const std::size_t n = docks_.size();
  mask_ = static_cast<std::uint32_t>(std::bit_ceil(n) - 1);
  bucket_of_.resize(n);
  first_.assign(std::size_t{mask_} + 3, 0);
  members_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3 p = positions_[i] * scale;
    bucket_of_[i] = bucket({static_cast<std::int64_t>(whole(p.x)), static_cast<std::int64_t>(whole(p.y)),
                            static_cast<std::int64_t>(whole(p.z))});
    ++first_[bucket_of_[i] + 2];
  }
  for (std::size_t b = 2; b < first_.size(); ++b) first_[b] += first_[b - 1];
  // first_[b + 1] moves from where bucket b begins to where it ends; then first_[b] is the beginning.
  for (std::size_t i = 0; i < n; ++i) members_[first_[bucket_of_[i] + 1]++] = {positions_[i], docks_[i]};
}

void DockFinder::meet(const Member& a, const Member& b, double reach) {
  VOLVOX_ASSERT(a.dock != b.dock);
  const double distance_squared = length_squared(a.position - b.position);
  if (distance_squared > reach * reach) return;
  pairs_.push_back({std::min(a.dock, b.dock), std::max(a.dock, b.dock), std::sqrt(distance_squared)});
}

// The other cells that a dock's reach extends into, if any. Of two docks in different cells
// the one with the lower number looks.
void DockFinder::look_beyond_borders(const Member& member, double scale, double reach) {
  VOLVOX_ASSERT(reach * scale <= 1);
  const Vec3 p = member.position * scale;
  const double near = reach * scale;
  std::int64_t low[3], high[3];
  bool inside = true;
  for (int k = 0; k < 3; ++k) {
    const double own = whole(p[k]), within = p[k] - own;
    low[k] = static_cast<std::int64_t>(own) - (within < near);
    high[k] = static_cast<std::int64_t>(own) + (within > 1 - near);
    inside = inside && low[k] == high[k];
  }
  if (inside) return;
  const std::uint32_t own = bucket({static_cast<std::int64_t>(whole(p.x)), static_cast<std::int64_t>(whole(p.y)),
                                    static_cast<std::int64_t>(whole(p.z))});
  for (std::int64_t x = low[0]; x <= high[0]; ++x)
    for (std::int64_t y = low[1]; y <= high[1]; ++y)
      for (std::int64_t z = low[2]; z <= high[2]; ++z) {
        const std::uint32_t b = bucket({x, y, z});
        if (b == own) continue;
        for (std::uint32_t m = first_[b]; m < first_[b + 1]; ++m)
          if (members_[m].dock > member.dock) meet(member, members_[m], reach);
      }
}

const std::vector<DockFinder::Pair>& DockFinder::find(double reach) {
  pairs_.clear();
  if (docks_.size() < 2 || reach <= 0) return pairs_;
  const double scale = 1 / (cell_per_reach * reach);
  fill_buckets(scale);
  for (std::uint32_t b = 0; b <= mask_; ++b)
    for (std::uint32_t i = first_[b]; i < first_[b + 1]; ++i) {
      for (std::uint32_t j = i + 1; j < first_[b + 1]; ++j) meet(members_[i], members_[j], reach);
      look_beyond_borders(members_[i], scale, reach);
    }
  std::sort(pairs_.begin(), pairs_.end(), [](const Pair& l, const Pair& r) {
    if (l.distance != r.distance) return l.distance < r.distance;
    return l.a != r.a ? l.a < r.a : l.b < r.b;
  });
  // Two cells of one dock may share a bucket: such pairs were found twice.
  pairs_.erase(
      std::unique(pairs_.begin(), pairs_.end(), [](const Pair& l, const Pair& r) { return l.a == r.a && l.b == r.b; }),
      pairs_.end());
  return pairs_;
}

std::size_t DockFinder::memory_bytes() const {
  return docks_.capacity() * 4 + positions_.capacity() * sizeof(Vec3) +
         (bucket_of_.capacity() + first_.capacity()) * 4 + members_.capacity() * sizeof(Member) +
         pairs_.capacity() * sizeof(Pair);
}

}  // namespace volvox::world
