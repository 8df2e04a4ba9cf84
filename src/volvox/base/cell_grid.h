// Which points are near a place: cells of a fixed size that hold points, found by a hash of where they are.
// Memory grows with the points, never with the space between them. Looking changes nothing: several threads may.
#pragma once

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
  // Points may lie far out; what is beyond the numbers that a key has, or is none, is held at its ends.
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
  // Forgets what it held. The points are the caller's, and must outlive their use here. Memory is reused.
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

  // Whether fits(point number) is true of any point in the cells from one corner to another; it is asked until
  // it is.
  template <class Fits>
  bool any_within(const CellKey& low, const CellKey& high, const Fits& fits) const {
    for (std::int32_t z = low.z; z <= high.z; ++z) {
      for (std::int32_t y = low.y; y <= high.y; ++y) {
        for (std::int32_t x = low.x; x <= high.x; ++x) {
          const std::int64_t found = find({x, y, z});
          if (found < 0) continue;
          for (const std::uint32_t i : members(cells_[static_cast<std::size_t>(found)]))
            if (fits(i)) return true;
        }
      }
    }
    return false;
  }
  // The same among the points within a radius: fits(point number, squared distance).
  template <class Fits>
  bool any_near(const Vec3& center, double radius, const Fits& fits) const {
    const Vec3 half{radius, radius, radius};
    return any_within(cell_of(center - half, size_), cell_of(center + half, size_), [&](std::uint32_t i) {
      const double d = length_squared(points_[i] - center);
      return d <= radius * radius && fits(i, d);
    });
  }
  // visit(point number, squared distance) for all points within a radius.
  template <class Visit>
  void near(const Vec3& center, double radius, const Visit& visit) const {
    any_near(center, radius, [&](std::uint32_t i, double d) {
      visit(i, d);
      return false;
    });
  }

  std::size_t memory_bytes() const;

 private:
  static std::uint64_t hash(const CellKey& key) {
    const std::uint64_t h = static_cast<std::uint32_t>(key.x) * 0x9E3779B97F4A7C15ull ^
                            static_cast<std::uint32_t>(key.y) * 0xC2B2AE3D27D4EB4Full ^
                            static_cast<std::uint32_t>(key.z) * 0x165667B19E3779F9ull;
    return h ^ h >> 29;
  }
  void sort_cells();

  std::span<const Vec3> points_;
  double size_ = 1;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> members_, of_point_;
  std::vector<std::int32_t> slots_ = {-1};  // open addressing: cell numbers, -1 free
};

}  // namespace volvox
