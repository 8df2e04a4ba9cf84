// A ray and its hit, in the world frame, in metres. Plain values.
// Any thread.
#pragma once

#include <cstdint>

#include "volvox/base/math.h"

namespace volvox::rays {

// A ray hits solids from outside only: a ray that starts inside a solid, or below a plane, does not hit its surface on
// the way out. It hits meshes and height fields from both sides.
struct Ray {
  Vec3 origin;
  Vec3 direction;                  // unit
  double range = 100;              // m
  std::uint32_t ignore_owner = 0;  // bodies of this owner are not hit; 0: none is ignored
};

struct Hit {
  double distance = -1;        // m; negative: nothing within the range
  std::uint32_t body = 0;      // its number in the ray caster
  std::uint32_t triangle = 0;  // of a mesh
  Vec3 normal;                 // of a mesh or height field: facing the ray
  bool hit() const { return distance >= 0; }
};

}  // namespace volvox::rays
