// Convex colliders against the triangles of meshes and height fields.
#pragma once

#include "volvox/physics/native/manifold.h"

namespace volvox::physics::native {

// A convex collider near a surface. `place` is the surface's body in the convex's frame.
// Calls add(manifold, triangle number) for every triangle that is touched.
struct SurfaceQuery {
  const Convex& convex;
  const Surface& surface;
  const Placement& place;
  double margin;
  Box3 bounds;  // of the convex, in the surface's body frame, with the margin
};

class TriangleSink {
 public:
  virtual ~TriangleSink() = default;
  virtual void add(const Manifold& manifold, std::uint32_t triangle) = 0;
};

void collide_surface(const SurfaceQuery& query, TriangleSink& sink);


}  // namespace volvox::physics::native
