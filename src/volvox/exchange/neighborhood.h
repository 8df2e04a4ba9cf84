// Which modules are near a place: the modules of a world sorted into cells, once a tick, for all
// sensors that ask.
#pragma once

#include <cstdint>
#include <vector>

#include "volvox/world/world.h"

namespace volvox::exchange {

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
  struct Entry {
    std::uint64_t cell = 0;
    std::uint32_t module = 0;
    Vec3 position;
  };
  std::uint64_t cell_of(std::int64_t x, std::int64_t y, std::int64_t z) const;
  std::int64_t index_of(double coordinate) const;

  double cell_size_ = 1;
  std::vector<Entry> entries_;  // by cell, then by module
};

}  // namespace volvox::exchange
