#include "volvox/scan/point_grid.h"

#include <bit>

namespace volvox::scan {

PointGrid::PointGrid(std::span<const Vec3> points, double cell)
    : points_(points), size_(cell), of_point_(points.size()) {
  // Cells are first numbered as they come, then put into the order of their keys, which does not
  // depend on the order of the points.
  slots_.assign(std::bit_ceil(std::max<std::size_t>(16, points.size() * 2)), -1);
  const std::uint64_t mask = slots_.size() - 1;
  std::vector<Cell> found;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const CellKey key = volvox::scan::cell_of(points[i], cell);
    std::uint64_t slot = hash(key) & mask;
    while (slots_[slot] >= 0 && found[slots_[slot]].key != key) slot = (slot + 1) & mask;
    if (slots_[slot] < 0) {
      slots_[slot] = static_cast<std::int32_t>(found.size());
      found.push_back({key, 0, 0});
    }
    of_point_[i] = static_cast<std::uint32_t>(slots_[slot]);
    ++found[slots_[slot]].count;
  }
  std::vector<std::uint32_t> order(found.size()), place(found.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return found[a].key < found[b].key; });
  cells_.reserve(found.size());
  std::uint32_t first = 0;
  for (const std::uint32_t i : order) {
    place[i] = static_cast<std::uint32_t>(cells_.size());
    cells_.push_back({found[i].key, first, 0});
    first += found[i].count;
  }
  members_.resize(points.size());
  for (std::uint32_t i = 0; i < points.size(); ++i) {
    of_point_[i] = place[of_point_[i]];
    Cell& c = cells_[of_point_[i]];
    members_[c.first + c.count++] = i;
  }
  for (std::int32_t& slot : slots_)
    if (slot >= 0) slot = static_cast<std::int32_t>(place[slot]);
}

std::int64_t PointGrid::find(const CellKey& key) const {
  const std::uint64_t mask = slots_.size() - 1;
  for (std::uint64_t slot = hash(key) & mask; slots_[slot] >= 0; slot = (slot + 1) & mask)
    if (cells_[slots_[slot]].key == key) return slots_[slot];
  return -1;
}

}  // namespace volvox::scan
