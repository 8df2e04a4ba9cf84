// The Minkowski difference a - b of two convex cores, in the first body's frame.
#pragma once

#include "volvox/physics/native/gjk.h"

namespace volvox::physics::native {

struct Difference {
  Vec3 point, a, b;  // point = a - b
};

struct Minkowski {
  const Convex& a;
  const Convex& b;
  const Placement& place;

  // The farthest point along a direction.
  Difference support(const Vec3& direction) const {
    int index = 0;
    const Vec3 on_a = a.support(direction, index);
    const Vec3 on_b = place.to_first(b.support(place.turn_to_second(-direction), index));
    return {on_a - on_b, on_a, on_b};
  }
};

// How deep two cores overlap, and along which direction they part soonest. `start` holds
// `count` points of the difference, whose hull has the origin in it or on it.
Proximity overlap(const Minkowski& difference, Difference (&start)[4], int count);

}  // namespace volvox::physics::native
