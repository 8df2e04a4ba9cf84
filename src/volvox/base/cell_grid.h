// Neighbour search: a spatial hash of points in cubic cells (m). Memory grows with the number of points, not with
// their extent. Queries are const and thread-safe. Deterministic.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/math.h"

namespace volvox {

struct CellKey {
  std::int32_t x = 0, y = 0, z = 0;
  friend constexpr bool operator==(const CellKey&, const CellKey&) = default;
  friend constexpr auto operator<=>(const CellKey&, const CellKey&) = default;
};

inline CellKey cell_of(const Vec3& point, double size) {
  // Limits distant points and NaN to the range of a key.
  constexpr double end = 1e9;
  const auto number = [&](double x) {
    const double cell = std::floor(x / size);
    return static_cast<std::int32_t>(!(cell > -end) ? -end : cell > end ? end : cell);
  };
  return {number(point.x), number(point.y), number(point.z)};
}

class CellGrid {
 public:
  // Of cells(): as_found depends on the order of the points and saves the sorting.
  enum class Order : std::uint8_t { as_found, by_key };
  struct Cell {
    CellKey key;
    std::uint32_t first = 0, count = 0;  // of members()
  };

  CellGrid() = default;
  CellGrid(std::span<const Vec3> points, double size) { fill(points, size, Order::by_key); }
  // Forgets what it held. Memory is reused.
  void fill(std::span<const Vec3> points, double size, Order order = Order::as_found);

  double cell_size() const { return size_; }
  const std::vector<Cell>& cells() const { return cells_; }
  // The points of a cell, in ascending order.
  std::span<const std::uint32_t> members(const Cell& cell) const { return {members_.data() + cell.first, cell.count}; }
  std::uint32_t cell_of_point(std::uint32_t point) const { return of_point_[point]; }
  // The number of a cell, or -1: nothing is there.
  std::int64_t find(const CellKey& key) const {
    const std::uint64_t mask = slots_.size() - 1;
    for (std::uint64_t slot = hash(key) & mask; slots_[slot] >= 0; slot = (slot + 1) & mask)
      if (cells_[static_cast<std::size_t>(slots_[slot])].key == key) return slots_[slot];
    return -1;
  }

  // visit(point number) for all points in the cells from one corner to another.
  template <class Visit>
  void within(const CellKey& low, const CellKey& high, const Visit& visit) const {
    any_slot(low, high, [&](std::uint32_t slot) {
      visit(members_[slot]);
      return false;
    });
  }
  // Calls visit(point index, squared distance) for all points within a radius.
  template <class Visit>
  void near(const Vec3& center, double radius, const Visit& visit) const {
    any_near(center, radius, [&](std::uint32_t i, double d) {
      visit(i, d);
      return false;
    });
  }
  // True if fits(point number, squared distance) is true for one of the points within a radius; stops at the first.
  template <class Fits>
  bool any_near(const Vec3& center, double radius, const Fits& fits) const {
    const Vec3 half{radius, radius, radius};
    return any_slot(cell_of(center - half, size_), cell_of(center + half, size_), [&](std::uint32_t slot) {
      const double d = length_squared(points_[slot] - center);
      return d <= radius * radius && fits(members_[slot], d);
    });
  }
  // visit(lower point number, higher one, squared distance) for all pairs of points within a radius of each other,
  // each once. Fast where cells are much wider than the radius: most points then need no search outside
  // their own cell.
  template <class Visit>
  void near_pairs(double radius, const Visit& visit) const {
    const Vec3 half{radius, radius, radius};
    const auto meet = [&](std::uint32_t a, std::uint32_t b) {
      const double d = length_squared(points_[a] - points_[b]);
      if (d <= radius * radius) visit(std::min(members_[a], members_[b]), std::max(members_[a], members_[b]), d);
    };
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      const Cell& cell = cells_[c];
      const std::uint32_t last = cell.first + cell.count;
      for (std::uint32_t a = cell.first; a < last; ++a) {
        for (std::uint32_t b = a + 1; b < last; ++b) meet(a, b);
        const CellKey low = cell_of(points_[a] - half, size_), high = cell_of(points_[a] + half, size_);
        if (low == high) continue;
        // Of two points in different cells, the one with the lower number looks.
        const auto look = [&](std::uint32_t b) {
          if (members_[b] > members_[a]) meet(a, b);
          return false;
        };
        any_slot(low, high, look, static_cast<std::int64_t>(c));
      }
    }
  }

  std::size_t memory_bytes() const;

 private:
  static std::uint64_t hash(const CellKey& key) {
    const std::uint32_t x = key.x, y = key.y, z = key.z;
    const std::uint64_t h = x * 0x9E3779B97F4A7C15ull ^ y * 0xC2B2AE3D27D4EB4Full ^ z * 0x165667B19E3779F9ull;
    return h ^ h >> 29;
  }
  // True if fits(slot) is true for one of the points in these cells, except one; stops at the first.
  template <class Fits>
  bool any_slot(const CellKey& low, const CellKey& high, const Fits& fits, std::int64_t except = -1) const {
    for (std::int32_t z = low.z; z <= high.z; ++z) {
      for (std::int32_t y = low.y; y <= high.y; ++y) {
        for (std::int32_t x = low.x; x <= high.x; ++x) {
          const std::int64_t found = find({x, y, z});
          if (found < 0 || found == except) continue;
          const Cell& cell = cells_[static_cast<std::size_t>(found)];
          for (std::uint32_t slot = cell.first; slot < cell.first + cell.count; ++slot)
            if (fits(slot)) return true;
        }
      }
    }
    return false;
  }
  void sort_cells();

  double size_ = 1;
  std::vector<Cell> cells_;
  // By slot: the points of one cell after those of another, so that neighbours lie together in memory.
  std::vector<std::uint32_t> members_;
  std::vector<Vec3> points_;
  std::vector<std::uint32_t> of_point_;     // by point: its cell
  std::vector<std::int32_t> slots_ = {-1};  // open addressing: cell numbers, -1 free
};

}  // namespace volvox
