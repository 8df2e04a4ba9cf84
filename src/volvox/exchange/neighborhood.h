// Finds the modules near a position. A spatial hash of all modules is built once a tick and shared by all sensors.
// Positions in m, world frame.
// update belongs to the thread of the loop. The same world gives the same order.
#pragma once

#include <cstdint>
#include <vector>

#include "volvox/base/cell_grid.h"
#include "volvox/world/world.h"

namespace volvox::exchange {

class Neighborhood {
 public:
  // The position of a module is the origin of its first link. `range` (m) is the largest range of later calls of
  // near().
  void update(const world::World& world, double range);

  struct Near {
    double distance = 0;               // m
    world::PlacementIndex module = 0;  // the placement
    Vec3 position;                     // world frame
  };
  // The modules within the range except one, sorted by distance and then by number. Thread-safe.
  void near(const Vec3& place, double range, world::PlacementIndex except, std::vector<Near>& out) const;

 private:
  std::vector<world::PlacementIndex> modules_;  // placements
  std::vector<Vec3> positions_;                 // of those
  CellGrid grid_;
};

}  // namespace volvox::exchange
