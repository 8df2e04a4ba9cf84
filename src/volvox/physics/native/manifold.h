// The points at which two convex colliders touch: at most four, spread as wide as they go.
// Lengths in m, in the first body's frame. Pure functions.
#pragma once

#include <cmath>

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

  VOLVOX_KERNEL void add(const Point& point) {
    if (count < most_found) points[count++] = point;
  }
  // Keeps the deepest, the farthest from it, the farthest from their line, and the farthest
  // on the other side.
  VOLVOX_KERNEL void reduce();
};

VOLVOX_KERNEL void Manifold::reduce() {
  if (count <= most_kept) return;
  const auto bring = [&](int slot, auto&& measure) {
    int best = slot;
    double most = -1e300;
    for (int i = slot; i < count; ++i) {
      const double m = measure(points[i]);
      if (m > most) most = m, best = i;
    }
    const Point other = points[slot];
    points[slot] = points[best], points[best] = other;
  };
  bring(0, [](const Point& p) { return -p.separation; });
  const Vec3 first = points[0].on_a;
  bring(1, [&](const Point& p) { return length_squared(p.on_a - first); });
  const Vec3 across = cross(normal, points[1].on_a - first);
  bring(2, [&](const Point& p) { return std::fabs(dot(across, p.on_a - first)); });
  const double side = dot(across, points[2].on_a - first) > 0 ? -1 : 1;
  bring(3, [&](const Point& p) { return side * dot(across, p.on_a - first); });
  count = most_kept;
}

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
