// The distance between two convex cores, or how deep they overlap.
#pragma once

#include "volvox/physics/native/shape.h"
#include "volvox/physics/native/work.h"

namespace volvox::physics::native {

// Where the second core is, in the frame of the first.
struct Placement {
  M3<double> axes;
  Vec3 position;
  Vec3 to_first(const Vec3& p) const { return plain(axes * lane(p)) + position; }
  Vec3 turn_to_first(const Vec3& v) const { return plain(axes * lane(v)); }
  Vec3 turn_to_second(const Vec3& v) const { return plain(transposed_times(axes, lane(v))); }
  Vec3 to_second(const Vec3& p) const { return turn_to_second(p - position); }
};

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
