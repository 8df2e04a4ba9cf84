// The distance between two convex cores, or how deep they overlap.
#pragma once

#include "volvox/physics/native/placement.h"
#include "volvox/physics/native/shape.h"
#include "volvox/physics/native/work.h"

namespace volvox::physics::native {

// All in the first body's frame.
struct Proximity {
  bool near = false;    // false: farther apart than asked for, and the rest is not set
  double distance = 0;  // negative: they overlap
  Vec3 normal;          // from the second to the first
  Vec3 on_a, on_b;      // the nearest (or deepest) points of the two cores
};

// Stateless, so that a restored run finds the same bits.
Proximity proximity(const Convex& a, const Convex& b, const Placement& place, double reach, GjkCount& count);

}  // namespace volvox::physics::native
