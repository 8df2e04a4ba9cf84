// The arithmetic of the simple shapes, once for the processor and for a GPU.
// Lengths in m, world frame unless a name says otherwise. Pure functions.
#pragma once

#include "volvox/particles/shapes.h"

namespace volvox::particles {

VOLVOX_KERNEL Vector into_frame(const ShapeView& s, const Vector& point) {
  const Vector p = point - vector_of(s.center);
  return {dot(p, vector_of(s.axes[0])), dot(p, vector_of(s.axes[1])), dot(p, vector_of(s.axes[2]))};
}
VOLVOX_KERNEL Vector out_of_frame(const ShapeView& s, const Vector& v) {
  return vector_of(s.axes[0]) * v.x + vector_of(s.axes[1]) * v.y + vector_of(s.axes[2]) * v.z;
}
VOLVOX_KERNEL Vector to_capsule_axis(const ShapeView& s, const Vector& p) {
  const float along = p.z < -s.axis ? -s.axis : s.axis < p.z ? s.axis : p.z;
  return {p.x, p.y, p.z - along};
}

VOLVOX_KERNEL Distance box_distance(const ShapeView& s, const Vector& p) {
  const float over[3] = {std::fabs(p.x) - s.half[0], std::fabs(p.y) - s.half[1], std::fabs(p.z) - s.half[2]};
  const float sign[3] = {p.x < 0 ? -1.0f : 1.0f, p.y < 0 ? -1.0f : 1.0f, p.z < 0 ? -1.0f : 1.0f};
  const int most = over[0] > over[1] ? (over[0] > over[2] ? 0 : 2) : (over[1] > over[2] ? 1 : 2);
  const float farthest = most == 0 ? over[0] : most == 1 ? over[1] : over[2];
  if (farthest <= 0)
    return {farthest, {most == 0 ? sign[0] : 0.0f, most == 1 ? sign[1] : 0.0f, most == 2 ? sign[2] : 0.0f}};
  const Vector out{sign[0] * positive(over[0]), sign[1] * positive(over[1]), sign[2] * positive(over[2])};
  const float d = length(out);
  return {d, out * (1 / d)};
}

// Of planes, boxes, tanks, spheres and capsules.
VOLVOX_KERNEL Distance simple_distance(const ShapeView& s, const Vector& point) {
  const Vector p = into_frame(s, point);
  if (s.kind == ShapeKind::plane) return {p.z, vector_of(s.axes[2])};
  Distance found;
  if (s.kind == ShapeKind::sphere || s.kind == ShapeKind::capsule) {
    const Vector out = s.kind == ShapeKind::sphere ? p : to_capsule_axis(s, p);
    const float d = length(out);
    found = {d - s.radius, d > 0 ? out * (1 / d) : Vector{1, 0, 0}};
  } else {
    found = box_distance(s, p);
    if (s.kind == ShapeKind::tank) found = {-found.distance, found.normal * -1.0f};
  }
  found.normal = out_of_frame(s, found.normal);
  return found;
}

VOLVOX_KERNEL Covered simple_covered(const ShapeView& s, const Vector& point, float support) {
  if (s.kind != ShapeKind::tank) {
    const Distance d = simple_distance(s, point);
    const Behind behind = behind_wall(d.distance / support);
    return {behind.part, d.normal * (-behind.slope / support)};
  }
  // The walls of a tank add up, so that corners are no different.
  const Vector p = into_frame(s, point);
  Covered covered;
  const auto wall = [&](float place, float half) {
    const Behind low = behind_wall((half + place) / support), high = behind_wall((half - place) / support);
    covered.part += low.part + high.part;
    return (high.slope - low.slope) / support;
  };
  covered.gradient.x = wall(p.x, s.half[0]);
  covered.gradient.y = wall(p.y, s.half[1]);
  covered.gradient.z = wall(p.z, s.half[2]);
  covered.gradient = out_of_frame(s, covered.gradient);
  return covered;
}

template <class Number>
VOLVOX_KERNEL Number size_of(const Number& a) {
  return larger(a, -a);
}
// Whether points may be within a distance of a shape, for floats and for lanes.
template <class Number>
VOLVOX_KERNEL auto may_be_near(const ShapeView& s, const Number& px, const Number& py, const Number& pz, float distance)
    -> decltype(px < py) {
  const Number x = px - s.center[0], y = py - s.center[1], z = pz - s.center[2];
  const Number along = size_of<Number>(x * s.axes[0][0] + y * s.axes[0][1] + z * s.axes[0][2]);
  const Number across = size_of<Number>(x * s.axes[1][0] + y * s.axes[1][1] + z * s.axes[1][2]);
  const Number up = x * s.axes[2][0] + y * s.axes[2][1] + z * s.axes[2][2];
  const Number far_along = along - s.half[0], far_across = across - s.half[1], far_up = size_of<Number>(up) - s.half[2];
  if (s.kind == ShapeKind::plane) return up < distance;
  if (s.kind == ShapeKind::tank) return (far_along > -distance) | (far_across > -distance) | (far_up > -distance);
  if (s.kind == ShapeKind::terrain)
    return (far_along < distance) & (far_across < distance) & (up - s.half[2] < distance);
  // The others are in a box.
  return (far_along < distance) & (far_across < distance) & (far_up < distance);
}
// Whether a shape may be within a distance of some of the points in a box.
VOLVOX_KERNEL bool may_be_near(const ShapeView& s, const Vector& low, const Vector& high, float distance) {
  const Vector middle = (low + high) * 0.5f;
  const float reach = 0.5001f * length(high - low) + distance;  // a little more than rounding takes
  return !(simple_distance(s, middle).distance > reach);
}

}  // namespace volvox::particles
