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

// Bodies are of any kind with `axes` and `position`.
template <class A, class B>
VOLVOX_KERNEL Placement placement_of(const B& b, const A& a) {
  const V3<double> c0{b.axes.r0.x, b.axes.r1.x, b.axes.r2.x}, c1{b.axes.r0.y, b.axes.r1.y, b.axes.r2.y};
  const V3<double> c2{b.axes.r0.z, b.axes.r1.z, b.axes.r2.z};
  const V3<double> x = transposed_times(a.axes, c0), y = transposed_times(a.axes, c1), z = transposed_times(a.axes, c2);
  return {{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}},
          plain(transposed_times(a.axes, lane(b.position - a.position)))};
}

}  // namespace volvox::physics::native
