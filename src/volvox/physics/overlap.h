// Which bodies overlap where they stand: for a warning before a run begins, by the native engine's detection whatever
// the engine of the run.
// Poses in the world frame. Only reads the system, in the thread that calls it. The same system gives the same list.
#pragma once

#include <vector>

#include "volvox/physics/system.h"

namespace volvox::physics {

struct Overlap {
  BodyId a, b;
  double depth = 0;  // m, of their deepest point
};

// Every pair that may touch and overlaps by more than `allowed` (m), the deepest first. Costs as much as one detection
// of contacts.
std::vector<Overlap> find_overlaps(const System& system, double allowed);

}  // namespace volvox::physics
