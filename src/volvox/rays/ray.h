// A ray, and what it hits: the types of everybody who asks for rays or casts them.
#pragma once

#include <cstdint>

#include "volvox/base/math.h"

namespace volvox::rays {

// It sees solids from outside only: a ray that starts inside a shape, or below a plane, passes out of it unseen. Meshes
// and height fields are seen from both sides.
struct Ray {
  Vec3 origin;
  Vec3 direction;                  // unit
  double range = 100;              // m
  std::uint32_t ignore_owner = 0;  // 0: ignores nothing
};

struct Hit {
  double distance = -1;        // m; negative: nothing within the range
  std::uint32_t body = 0;      // its number in the ray caster
  std::uint32_t triangle = 0;  // of a mesh
  Vec3 normal;                 // of a mesh or height field: facing the ray
  bool hit() const { return distance >= 0; }
};

}  // namespace volvox::rays
