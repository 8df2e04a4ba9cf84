// Convex colliders against the triangles of meshes and height fields.
// Lengths in m. Pure functions of the two shapes and of where they are.
#pragma once

#include <algorithm>
#include <vector>

#include "volvox/physics/native/manifold.h"

namespace volvox::physics::native {

// A convex collider near a surface. `place` is the surface's body in the convex's frame.
struct SurfaceQuery {
  const Convex& convex;
  const Surface& surface;
  const Placement& place;
  double slack;  // points nearer than this are wanted,
  Vec3 sweep;    // or that get so near while the convex moves by this, in its frame
  Box3 bounds;   // of the convex and all that, in the surface's body frame
  double reach;  // of the convex and all that, from the middle of these bounds
  GjkCount& count;

  // How near is near, along the normal of a plane that the convex is above of.
  double margin(const Vec3& normal) const { return slack + std::max(0.0, -dot(normal, sweep)); }
};

struct SurfacePoint {
  Manifold::Point point;
  Vec3 normal;  // in the convex's frame
  ContactPoint::NormalOf normal_of;
  std::uint32_t triangle;
};

// Finds the points of all triangles that are touched. Of those that continue each other, with
// nearly one normal, only those that the others do not imply: how many there are does not depend
// on how finely the surface is cut into triangles.
void collide_surface(const SurfaceQuery& query, std::vector<SurfacePoint>& points);

// Drops the points that others imply.
void merge_seams(std::vector<SurfacePoint>& points);

}  // namespace volvox::physics::native
