// The points at which two convex colliders touch: at most four, spread as wide as they go.
// Lengths in m, in the first body's frame. Pure functions.
#pragma once

#include "volvox/physics/native/contact.h"
#include "volvox/physics/native/gjk.h"

namespace volvox::physics::native {

struct Manifold {
  struct Point {
    Vec3 on_a, on_b;        // on the cores, both in the first body's frame
    double separation = 0;  // of the cores less their radii
    std::uint32_t id = 0;
  };
  static constexpr int most_found = 32, most_kept = 4;

  Point points[most_found];
  int count = 0;
  Vec3 normal;  // from the second to the first, in the first body's frame
  ContactPoint::NormalOf normal_of = ContactPoint::NormalOf::b;

  void add(const Point& point) {
    if (count < most_found) points[count++] = point;
  }
  // Keeps the deepest, the farthest from it, the farthest from their line, and the farthest
  // on the other side.
  void reduce();
};

// The ids of the two ends of the line on a cylinder's side are this and the next.
inline constexpr std::uint32_t cylinder_side_id = 24;

// Finds the points that are nearer than `margin`. False: there are none.
bool collide(const Convex& a, const Convex& b, const Placement& place, double margin, Manifold& out, GjkCount& count);

// The same where the nearest points are known.
bool collide(const Convex& a, const Convex& b, const Placement& place, double margin, const Proximity& nearest,
             Manifold& out);

// The same with the normal given, where it is known better than the distance can say.
void clip_features(const Convex& a, const Convex& b, const Placement& place, const Proximity& nearest, double margin,
                   Manifold& out);

}  // namespace volvox::physics::native
