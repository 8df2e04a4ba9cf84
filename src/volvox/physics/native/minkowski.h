// The Minkowski difference a - b of two convex cores, in the first body's frame.
// Lengths in m. Refers to the two cores and only reads them. Pure.
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
  const Vec3* triangle = nullptr;  // b's three corners in the first body's frame, if it is one

  // The farthest point along a direction.
  Difference support(const Vec3& direction) const {
    const Vec3 on_a = a.support(direction);
    const Vec3 on_b =
        triangle ? corner_against(direction) : place.to_first(b.support(place.turn_to_second(-direction)));
    return {on_a - on_b, on_a, on_b};
  }
  const Vec3& corner_against(const Vec3& direction) const {
    const double x = dot(triangle[0], direction), y = dot(triangle[1], direction), z = dot(triangle[2], direction);
    return x <= y && x <= z ? triangle[0] : y <= z ? triangle[1] : triangle[2];
  }
};

// How deep two cores overlap, and along which direction they part soonest. `start` holds
// `count` points of the difference, whose hull has the origin in it or on it.
Proximity overlap(const Minkowski& difference, Difference (&start)[4], int count);

}  // namespace volvox::physics::native
