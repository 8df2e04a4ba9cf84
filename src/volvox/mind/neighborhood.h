// Which modules are near a place: the modules of a world sorted into cells, once a tick, for all
// sensors that ask.
#pragma once

#include <cstdint>
#include <vector>

#include "volvox/base/cell_grid.h"
#include "volvox/world/world.h"

namespace volvox::mind {

class Neighborhood {
 public:
  // Where modules are: the origins of their first links. `range` (m) is the farthest that near()
  // will be asked for.
  void update(const world::World& world, double range);

  struct Near {
    double distance = 0;       // m
    std::uint32_t module = 0;  // the placement
    Vec3 position;             // in the world
  };
  // The modules within the range, but for one, by distance and then by number. Thread-safe.
  void near(const Vec3& place, double range, std::uint32_t except, std::vector<Near>& out) const;

 private:
  std::vector<std::uint32_t> modules_;  // placements
  std::vector<Vec3> positions_;         // of those
  CellGrid grid_;
};

}  // namespace volvox::mind
