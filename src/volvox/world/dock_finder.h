// Finds the pairs of docks of two owners that are near each other, in time linear in the number of docks. Positions in
// m, world frame.
// Keeps copies only. For one thread; pairs come in an order that depends on the docks alone.
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
    owners_.clear();
  }
  // To be called in ascending order of docks. Docks of one owner follow each other, and lie near each other.
  void add(DockIndex dock, PlacementIndex owner, const Vec3& position);
  // All pairs of docks of different owners within `reach` (m) for which `may_join` is true, the nearest first; pairs of
  // equal distance are in the order of their docks. Other pairs are not stored: n docks in one place have n^2 pairs.
  const std::vector<Pair>& find(double reach, const std::function<bool(DockIndex, DockIndex)>& may_join);

  std::size_t memory_bytes() const;

 private:
  // Cells much wider than the reach: most docks are then far from the border of theirs, and have nothing to look
  // for in another.
  static constexpr double cell_per_reach = 10;

  struct Owner {
    PlacementIndex index;
    std::uint32_t first;  // of its docks; the next owner's is the end
    Vec3 lowest, highest;
    bool has_company = false;
  };
  // An owner that is far larger than most would make all cells as large: then nobody is looked at as a whole.
  static constexpr double much_larger = 8;

  void find_company(double reach);

  std::vector<DockIndex> docks_;
  std::vector<Vec3> positions_;
  std::vector<Owner> owners_;
  std::vector<Vec3> centres_;          // of owners
  std::vector<std::uint32_t> chosen_;  // docks whose owner has company
  std::vector<Vec3> chosen_positions_;
  CellGrid owner_grid_;
  CellGrid grid_;
  std::vector<Pair> pairs_;
};

}  // namespace volvox::world
