#include "volvox/world/dock_finder.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace volvox::world {
namespace {

std::int64_t cell(double x, double scale) {
  return static_cast<std::int64_t>(std::floor(clamp(x * scale, -1e15, 1e15)));
}

}  // namespace

std::uint32_t DockFinder::bucket(std::int64_t x, std::int64_t y, std::int64_t z) const {
  const std::uint64_t mixed = static_cast<std::uint64_t>(x) * 0x9E3779B97F4A7C15ull ^
                              static_cast<std::uint64_t>(y) * 0xC2B2AE3D27D4EB4Full ^
                              static_cast<std::uint64_t>(z) * 0x165667B19E3779F9ull;
  return static_cast<std::uint32_t>(mixed >> 32) & mask_;
}

// A counting sort by bucket.
void DockFinder::fill_buckets(double scale) {
  const std::size_t n = docks_.size();
  mask_ = static_cast<std::uint32_t>(std::bit_ceil(n) - 1);
  bucket_of_.resize(n);
  first_.assign(std::size_t{mask_} + 2, 0);
  members_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3& p = positions_[i];
    bucket_of_[i] = bucket(cell(p.x, scale), cell(p.y, scale), cell(p.z, scale));
    ++first_[bucket_of_[i] + 1];
  }
  for (std::size_t b = 0; b <= mask_; ++b) first_[b + 1] += first_[b];
  // Filled from the back, so that first_ ends up where each bucket begins.
  for (std::size_t i = n; i-- > 0;) members_[--first_[bucket_of_[i] + 1]] = static_cast<std::uint32_t>(i);
}

const std::vector<DockFinder::Pair>& DockFinder::find(double reach) {
  pairs_.clear();
  if (docks_.size() < 2 || reach <= 0) return pairs_;
  const double scale = 1 / (cell_per_reach * reach);
  fill_buckets(scale);
  const auto begin_of = [&](std::uint32_t b) { return first_[b + 1]; };
  const auto end_of = [&](std::uint32_t b) {
    return b == mask_ ? static_cast<std::uint32_t>(members_.size()) : first_[b + 2];
  };
  for (std::uint32_t i = 0; i < docks_.size(); ++i) {
    const Vec3& p = positions_[i];
    const std::int64_t x0 = cell(p.x - reach, scale), x1 = cell(p.x + reach, scale);
    const std::int64_t y0 = cell(p.y - reach, scale), y1 = cell(p.y + reach, scale);
    const std::int64_t z0 = cell(p.z - reach, scale), z1 = cell(p.z + reach, scale);
    for (std::int64_t x = x0; x <= x1; ++x)
      for (std::int64_t y = y0; y <= y1; ++y)
        for (std::int64_t z = z0; z <= z1; ++z) {
          const std::uint32_t b = bucket(x, y, z);
          for (std::uint32_t m = begin_of(b); m < end_of(b); ++m) {
            const std::uint32_t j = members_[m];
            if (j <= i) continue;
            const double distance_squared = length_squared(positions_[j] - p);
            if (distance_squared <= reach * reach) pairs_.push_back({docks_[i], docks_[j], std::sqrt(distance_squared)});
          }
        }
  }
  std::sort(pairs_.begin(), pairs_.end(), [](const Pair& l, const Pair& r) {
    if (l.distance != r.distance) return l.distance < r.distance;
    return l.a != r.a ? l.a < r.a : l.b < r.b;
  });
  // Two cells of one dock may share a bucket: such pairs were found twice.
  pairs_.erase(std::unique(pairs_.begin(), pairs_.end(), [](const Pair& l, const Pair& r) { return l.a == r.a && l.b == r.b; }),
               pairs_.end());
  return pairs_;
}

std::size_t DockFinder::memory_bytes() const {
  return docks_.capacity() * 4 + positions_.capacity() * sizeof(Vec3) +
         (bucket_of_.capacity() + first_.capacity() + members_.capacity()) * 4 + pairs_.capacity() * sizeof(Pair);
}

}  // namespace volvox::world
