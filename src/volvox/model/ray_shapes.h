// Rays against shapes, in closed form: for the ray caster of sensors (scan/) and for engines that
// have none of their own or only an iterative one. A ray sees a solid from outside only: one that starts inside a
// sphere, box, capsule, cylinder, hull or below a plane passes out of it unseen. Meshes and
// height fields are surfaces, seen from both sides; their normals face the ray.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "volvox/model/shape.h"

namespace volvox::model {

struct ShapeHit {
  double distance = -1;  // negative: no hit
  Vec3 normal;
};

// A face of a convex hull: its points p have dot(normal, p) == offset.
struct HullFace {
  Vec3 normal;
  double offset = 0;
  std::array<std::uint32_t, 3> corners{};
};

// The faces of the convex hull of some points, as triangles that wind counter-clockwise seen
// from outside. Empty if the points lie in one plane.
std::vector<HullFace> hull_faces(const std::vector<Vec3>& points);

// Where a ray meets the plane of a triangle: how far along, and the weights of the corners b and c
// there (a's is 1 - u - v). Not finite if the ray runs along the plane.
struct TriangleMeeting {
  double distance, u, v;
  // Neighbours share their edges: a hair of overlap leaves no crack between them.
  static constexpr double slack = 1e-12;
  bool inside() const { return u >= -slack && v >= -slack && u + v <= 1 + slack; }
};
inline TriangleMeeting meet_triangle(const Vec3& a, const Vec3& ab, const Vec3& ac, const Vec3& o, const Vec3& d) {
  const Vec3 p = cross(d, ac), s = o - a, q = cross(s, ab);
  const double determinant = dot(ab, p);
  return {dot(ac, q) / determinant, dot(s, p) / determinant, dot(d, q) / determinant};
}

// The colliders of a link, ready to be hit.
class RayGeometry {
 public:
  explicit RayGeometry(std::shared_ptr<const Geometry> geometry);

  // The nearest hit along a ray in the link's frame, no farther than `range`.
  ShapeHit cast(const Vec3& origin, const Vec3& direction, double range) const;
  // The same for one collider.
  ShapeHit cast(std::size_t collider, const Vec3& origin, const Vec3& direction, double range) const;
  // A sphere about the link's origin that holds every collider; infinite for a plane.
  double radius() const { return radius_; }

 private:
  struct Part {
    Pose to_shape;                // from the link's frame to the collider's
    std::vector<HullFace> faces;  // of a hull
  };
  std::shared_ptr<const Geometry> geometry_;
  std::vector<Part> parts_;
  double radius_ = 0;
};

}  // namespace volvox::model
