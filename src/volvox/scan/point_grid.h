// Which points are near: cells of a fixed size that hold points, found by a hash of where they are.
// Memory grows with the points, never with the space between them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/math.h"

namespace volvox::scan {

struct CellKey {
  std::int32_t x = 0, y = 0, z = 0;
  friend constexpr bool operator==(const CellKey&, const CellKey&) = default;
  friend constexpr auto operator<=>(const CellKey&, const CellKey&) = default;
};

inline CellKey cell_of(const Vec3& point, double cell) {
  // Points may lie far out; what is beyond the numbers that a key has is held at its ends.
  const auto number = [&](double x) { return static_cast<std::int32_t>(clamp(std::floor(x / cell), -1e9, 1e9)); };
  return {number(point.x), number(point.y), number(point.z)};
}

class PointGrid {
 public:
  struct Cell {
    CellKey key;
    std::uint32_t first = 0, count = 0;  // of members()
  };

  PointGrid(std::span<const Vec3> points, double cell);

  double cell_size() const { return size_; }
  const std::vector<Cell>& cells() const { return cells_; }  // in the order of their keys
  std::span<const std::uint32_t> members(const Cell& cell) const { return {members_.data() + cell.first, cell.count}; }
  std::uint32_t cell_of_point(std::uint32_t point) const { return of_point_[point]; }
  // The number of a cell, or -1: nothing is there.
  std::int64_t find(const CellKey& key) const;

  // visit(point number, squared distance) for all points within the radius.
  template <class Visit>
  void near(const Vec3& center, double radius, Visit visit) const {
    const CellKey low = cell_of(center - Vec3{radius, radius, radius}, size_),
                  high = cell_of(center + Vec3{radius, radius, radius}, size_);
    for (std::int32_t z = low.z; z <= high.z; ++z) {
      for (std::int32_t y = low.y; y <= high.y; ++y) {
        for (std::int32_t x = low.x; x <= high.x; ++x) {
          const std::int64_t found = find({x, y, z});
          if (found < 0) continue;
          for (const std::uint32_t i : members(cells_[found])) {
            const double d = length_squared(points_[i] - center);
            if (d <= radius * radius) visit(i, d);
          }
        }
      }
    }
  }

 private:
  static std::uint64_t hash(const CellKey& key) {
    std::uint64_t h = static_cast<std::uint32_t>(key.x) * 0x9E3779B97F4A7C15ull ^
                      static_cast<std::uint32_t>(key.y) * 0xC2B2AE3D27D4EB4Full ^
                      static_cast<std::uint32_t>(key.z) * 0x165667B19E3779F9ull;
    return h ^ h >> 29;
  }

  std::span<const Vec3> points_;  // the caller's: must outlive the grid
  double size_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> members_, of_point_;
  std::vector<std::int32_t> slots_;  // open addressing: cell numbers, -1 free
};

}  // namespace volvox::scan
