// Where a body meets half-spaces, written so that the same text is compiled for the processor (half_space.cpp,
// detector.cpp) and for GPUs (../cuda). A shape is of any kind with `convexes` that have a radius; candidates are the
// points of its cores that are near a plane: each side has its own list of them, which finds the lowest in its own way.
#pragma once

#include <cstdint>

#include "volvox/physics/native/contact.h"
#include "volvox/physics/native/manifold.h"
#include "volvox/physics/native/placement.h"
#include "volvox/physics/native/wide.h"

namespace volvox::physics::native {

inline constexpr int most_candidates = 512;
// Beside the lowest point, those that would be lowest if the body tipped by this (rad) one
// way or another: they are the corners that it stands on, not those that are merely near.
inline constexpr double plane_tip = 0.05;
inline constexpr int plane_tips = 8;
// Points nearer to each other than this may stand for each other.
inline constexpr double beside = 0.005;  // m
inline constexpr std::uint64_t feature_taken = ~std::uint64_t{0};

// Directions that are no symmetry of anything: cosine of 0.3 rad + k pi / 4. The sine of tip k is that of k + 6.
VOLVOX_KERNEL double tip_cosine(int k) {
  constexpr double cosine[plane_tips] = {0.955336489125606,  0.466560567667782,  -0.295520206661340, -0.884489251883547,
                                         -0.955336489125606, -0.466560567667782, 0.295520206661340,  0.884489251883547};
  return cosine[k % plane_tips];
}

struct PlaneCandidate {
  Vec3 point;  // on the core
  double height;
  std::uint32_t id;
  int convex;
};

// A plane as a body sees it: points p of its frame have dot(normal, p) = offset, those nearer than `margin` are looked
// for, and as the body turns, a point will rise by dot(lean, p).
struct SeenPlane {
  Vec3 normal, lean;
  double offset, margin;
};

// `felt`: what of a's turning moves its surface; `turning`: how fast turning may move the surfaces of both.
template <class A, class B, class Plane>
VOLVOX_KERNEL SeenPlane plane_seen(const A& a, const B& b, const Placement& place, const Plane& plane, const Vec3& felt,
                                   double turning, double slack, double horizon) {
  const Vec3 normal = plain(b.axes * lane(plane.normal));
  const double approach = -dot(normal, a.linear - b.linear), closing = 0.0 < approach ? approach : 0.0;
  SeenPlane seen;
  seen.margin = slack + horizon * (closing + turning);
  seen.offset = plane.offset + dot(normal, b.position - a.position);
  seen.normal = place.turn_to_first(plane.normal);
  const Vec3 turn = plain(transposed_times(a.axes, lane(felt - b.angular)));
  seen.lean = cross(seen.normal, turn) * horizon;
  return seen;
}

// The rim points of a cylinder that a plane may meet: on each disc the lowest, and, if the
// disc lies nearly flat, two more that a circle stands on.
template <class Cylinder, class Candidates>
VOLVOX_KERNEL void add_cylinder(const Cylinder& c, int index, const SeenPlane& plane, Candidates& out) {
  const double along = dot(plane.normal, c.axis);
  Vec3 down = c.axis * along - plane.normal;
  const bool flat = length(down) < 0.3;
  down = length(down) > 1e-9 ? normalized(down) : perpendicular(c.axis);
  const Vec3 side = cross(c.axis, down);
  for (int end = 0; end < 2; ++end) {
    const Vec3 middle = c.centre + c.axis * (end == 0 ? -c.half_length : c.half_length);
    const int points = flat && (end == 0) == (along > 0) ? 4 : 1;
    const Vec3 rim[4] = {down, -down, side, -side};
    for (int k = 0; k < points; ++k) {
      const Vec3 p = middle + rim[k] * c.disc;
      const double height = dot(plane.normal, p) - plane.offset;
      if (height < plane.margin) out.add({p, height, static_cast<std::uint32_t>(end * 4 + k), index});
    }
  }
}

// Of `count` points the deepest, the farthest from it, the farthest from their line, and the farthest on the other
// side, as Manifold::reduce() has them: their places, in this order. Nothing but places is moved: points are as long as
// a line of the cache, and to exchange them waits for stores (docs/decisions/0035).
template <class Heights>
VOLVOX_KERNEL int spread_points(const Vec3* points, const Heights& lowest, int count, const Vec3& normal, int* order) {
  for (int i = 0; i < count; ++i) order[i] = i;
  if (count <= Manifold::most_kept) return count;
  const auto bring = [&](int slot, auto&& measure) {
    int best = slot;
    double most = -1e300;
    for (int i = slot; i < count; ++i) {
      const double m = measure(order[i]);
      if (m > most) most = m, best = i;
    }
    const int other = order[slot];
    order[slot] = order[best], order[best] = other;
  };
  bring(0, [&](int i) { return -lowest[i]; });
  const Vec3 first = points[order[0]];
  bring(1, [&](int i) { return length_squared(points[i] - first); });
  const Vec3 across = cross(normal, points[order[1]] - first);
  bring(2, [&](int i) { return std::fabs(dot(across, points[i] - first)); });
  const double side = dot(across, points[order[2]] - first) > 0 ? -1 : 1;
  bring(3, [&](int i) { return side * dot(across, points[i] - first); });
  return Manifold::most_kept;
}

// Left as they are until they are written.
struct ChosenPoints {
  VOLVOX_KERNEL ChosenPoints() {}
  union {
    Vec3 all[3 + plane_tips];
  };
};

// Chooses among the candidates, at most four; `convex` says which convex each belongs to.
template <class Shape, class Candidates>
VOLVOX_KERNEL void choose_points(const Shape& shape, const Candidates& candidates, const SeenPlane& plane,
                                 Manifold& out, int (&convex)[Manifold::most_found]) {
  out.count = 0;
  out.normal = plane.normal;
  out.normal_of = ContactPoint::NormalOf::b;
  if (candidates.count() == 0) return;
  int chosen[3 + plane_tips + 1], count = 0;
  static_assert(3 + plane_tips <= Leans::most && Manifold::most_kept <= 3 + plane_tips && most_candidates == 8 * 64);
  std::uint64_t taken[8] = {};
  // Without a branch: who is lowest for which tip cannot be foreseen.
  const auto choose = [&](int i) {
    const std::uint64_t bit = std::uint64_t{1} << (i & 63);
    chosen[count] = i;
    count += (taken[i >> 6] & bit) == 0;
    taken[i >> 6] |= bit;
  };
  if (candidates.count() <= Manifold::most_kept) {
    for (int i = 0; i < candidates.count(); ++i) choose(i);
  } else {
    int lowest[Leans::most];
    const int leans = candidates.lowest(plane, lowest);
    for (int k = 0; k < leans; ++k) choose(lowest[k]);
  }
  ChosenPoints points;
  double lowest[3 + plane_tips];
  for (int i = 0; i < count; ++i) {
    const PlaneCandidate c = candidates[chosen[i]];
    const double leaned = dot(plane.lean, c.point);
    points.all[i] = c.point, lowest[i] = c.height + (leaned < 0.0 ? leaned : 0.0);
  }
  int order[3 + plane_tips];
  const int kept = spread_points(points.all, lowest, count, plane.normal, order);
  for (int i = 0; i < kept; ++i) {
    const PlaneCandidate c = candidates[chosen[order[i]]];
    const double radius = shape.convexes[static_cast<std::size_t>(c.convex)].radius;
    out.add({c.point, c.point - plane.normal * (c.height + radius), lowest[order[i]], c.id});
    convex[i] = c.convex;
  }
}

// Tipped planes for the lowest candidates, in this order: as it is, half leaned and leaned (where it leans at all), and
// the eight tips.
VOLVOX_KERNEL Leans leans_of(const SeenPlane& plane) {
  Leans leans;
  leans.add({});
  if (plane.lean != Vec3{}) leans.add(plane.lean * 0.5), leans.add(plane.lean);
  const Vec3 u = perpendicular(plane.normal), v = cross(plane.normal, u);
  for (int k = 0; k < plane_tips; ++k) leans.add((u * tip_cosine(k) + v * tip_cosine(k + 6)) * plane_tip);
  return leans;
}

// A point of a manifold as a contact; the normal is given in a's frame. Bodies, materials and radii are not set. The
// contact is of any kind with these fields; one that does not say what its normal is fixed to is of a plane.
template <class Contact>
VOLVOX_KERNEL void set_contact(Contact& contact, const Manifold::Point& point, const Vec3& normal,
                               ContactPoint::NormalOf normal_of, const Placement& place, const Vec3& axle) {
  using NormalOf = ContactPoint::NormalOf;
  contact.on_a = point.on_a;
  contact.on_b = place.to_second(point.on_b);
  contact.separation = point.separation;
  // Neither its points nor their normals shall turn with a wheel.
  if (normal_of == NormalOf::a && axle != Vec3{}) normal_of = NormalOf::b;
  contact.normal = normal_of == NormalOf::a ? normal : place.turn_to_second(normal);
  if constexpr (requires { contact.normal_of; }) contact.normal_of = normal_of;
  if (axle == Vec3{}) return;
  const Vec3 along = axle * dot(axle, contact.on_a), across = contact.on_a - along;
  const double rim = length(across);
  if (!(rim > 1e-6)) return;
  contact.on_a = along;
  contact.rim = rim;
  contact.outward = place.turn_to_second(across / rim);
}

VOLVOX_KERNEL std::uint64_t plane_feature(int collider, int plane_collider) {
  return static_cast<std::uint64_t>(collider) << 52 | static_cast<std::uint64_t>(plane_collider) << 40;
}

// Of the points of two bodies, one takes over the impulse of the one that had its feature; failing that, of one that
// lay beside it and that nobody else takes: clipping renames the corners of faces that coincide. `Old` is of any kind
// with these fields, and so is `New`.
template <class Old, class New>
VOLVOX_KERNEL void keep_impulses(Old* from, std::size_t from_count, New* to, std::size_t to_count) {
  bool all = true;
  for (std::size_t i = 0; i < to_count; ++i) {
    std::size_t same = 0;
    while (same < from_count && from[same].feature != to[i].feature) ++same;
    if (same == from_count) {
      all = false;
    } else {
      to[i].impulse = from[same].impulse, to[i].rebound = from[same].rebound;
      from[same].feature = feature_taken;
    }
  }
  for (std::size_t i = 0; !all && i < to_count; ++i) {
    if (to[i].impulse != Vec3{}) continue;
    for (std::size_t k = 0; k < from_count; ++k) {
      if (from[k].feature == feature_taken || (from[k].feature ^ to[i].feature) >> 20 != 0 ||
          length_squared(from[k].on_b - to[i].on_b) > beside * beside)
        continue;
      to[i].impulse = from[k].impulse, to[i].rebound = from[k].rebound;
      from[k].feature = feature_taken;
      break;
    }
  }
}

}  // namespace volvox::physics::native
