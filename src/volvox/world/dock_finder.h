// Finds the pairs of docks that are near each other, in time linear in the number of docks. Positions in m, world
// frame.
#pragma once

#include <functional>
#include <vector>

#include "volvox/base/cell_grid.h"
#include "volvox/world/indices.h"

namespace volvox::world {

class DockFinder {
 public:
  struct Pair {
    DockIndex a, b;   // a < b
    double distance;  // m
  };

  void clear() {
    docks_.clear();
    positions_.clear();
  }
  // To be called in ascending order of docks.
  void add(DockIndex dock, const Vec3& position) {
    docks_.push_back(dock);
    positions_.push_back(position);
  }
  // All pairs within `reach` (m) that `may_join`, the nearest first; pairs of equal distance are in the order of their
  // docks. What may not join is not kept: n docks in one place are n squared pairs.
  const std::vector<Pair>& find(double reach, const std::function<bool(DockIndex, DockIndex)>& may_join);

  std::size_t memory_bytes() const;

 private:
  // Cells much wider than the reach: most docks are then far from the border of theirs, and have nothing to look
  // for in another.
  static constexpr double cell_per_reach = 10;

  std::vector<DockIndex> docks_;
  std::vector<Vec3> positions_;
  CellGrid grid_;
  std::vector<Pair> pairs_;
};

}  // namespace volvox::world
