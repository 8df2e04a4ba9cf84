#include "volvox/base/cell_grid.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "volvox/base/index.h"

namespace volvox {

void CellGrid::fill(std::span<const Vec3> points, double size, Order order) {
  size_ = size;
  cells_.clear();
  of_point_.resize(points.size());
  slots_.assign(std::bit_ceil(std::max<std::size_t>(16, points.size() * 2)), -1);
  const std::uint64_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const CellKey key = volvox::cell_of(points[i], size);
    std::uint64_t slot = hash(key) & mask;
    while (slots_[slot] >= 0 && cells_[slots_[slot]].key != key) slot = (slot + 1) & mask;
    if (slots_[slot] < 0) {
      slots_[slot] = narrow<std::int32_t>(cells_.size());
      cells_.push_back({key, 0, 0});
    }
    of_point_[i] = slots_[slot];
    ++cells_[of_point_[i]].count;
  }
  if (order == Order::by_key) sort_cells();
  std::uint32_t first = 0;
  for (Cell& cell : cells_) {
    cell.first = first;
    first += cell.count;
    cell.count = 0;
  }
  members_.resize(points.size());
  points_.resize(points.size());
  for (std::uint32_t i = 0; i < points.size(); ++i) {
    Cell& cell = cells_[of_point_[i]];
    members_[cell.first + cell.count] = i;
    points_[cell.first + cell.count++] = points[i];
  }
}

void CellGrid::sort_cells() {
  const std::vector<Cell> found = cells_;
  std::vector<std::uint32_t> order(found.size()), place(found.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return found[a].key < found[b].key; });
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    cells_[i] = found[order[i]];
  }
  for (std::uint32_t& cell : of_point_) cell = place[cell];
  for (std::int32_t& slot : slots_)
    if (slot >= 0) slot = place[slot];
}

std::size_t CellGrid::memory_bytes() const {
  return cells_.capacity() * sizeof(Cell) + points_.capacity() * sizeof(Vec3) +
         (members_.capacity() + of_point_.capacity() + slots_.capacity()) * 4;
}

}  // namespace volvox
