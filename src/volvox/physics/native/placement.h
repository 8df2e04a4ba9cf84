// Where one body's frame lies in another's.
// In m; pure functions: any thread, the same bits everywhere.
#pragma once

#include "volvox/physics/native/spatial.h"

namespace volvox::physics::native {

// Of the second, in the frame of the first.
struct Placement {
  M3<double> axes;
  Vec3 position;
  VOLVOX_KERNEL Vec3 to_first(const Vec3& p) const { return plain(axes * lane(p)) + position; }
  VOLVOX_KERNEL Vec3 turn_to_first(const Vec3& v) const { return plain(axes * lane(v)); }
  VOLVOX_KERNEL Vec3 turn_to_second(const Vec3& v) const { return plain(transposed_times(axes, lane(v))); }
  VOLVOX_KERNEL Vec3 to_second(const Vec3& p) const { return turn_to_second(p - position); }
};

// The axes of b in the frame of a.
template <class T>
VOLVOX_KERNEL M3<T> seen_from(const M3<T>& a, const M3<T>& b) {
  const V3<T> c0{b.r0.x, b.r1.x, b.r2.x}, c1{b.r0.y, b.r1.y, b.r2.y}, c2{b.r0.z, b.r1.z, b.r2.z};
  const V3<T> x = transposed_times(a, c0), y = transposed_times(a, c1), z = transposed_times(a, c2);
  return {{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}};
}

// Bodies are of any kind with `axes` and `position`.
template <class A, class B>
VOLVOX_KERNEL Placement placement_of(const B& b, const A& a) {
  return {seen_from(a.axes, b.axes), plain(transposed_times(a.axes, lane(b.position - a.position)))};
}

}  // namespace volvox::physics::native
