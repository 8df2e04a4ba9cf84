// Casts rays against the shapes of one link, in closed form: for the ray caster, and for engines that must know what a
// fast body hits within a substep. Everything is in the link's frame, in metres; directions are unit vectors. ray.h
// says from which side shapes are hit. Const calls may run on several threads.
#pragma once

#include <memory>
#include <vector>

#include "volvox/model/hull_faces.h"
#include "volvox/model/shape.h"

namespace volvox::rays {

struct ShapeHit {
  double distance = -1;  // negative: no hit
  Vec3 normal;
};

// Where a ray meets the plane of a triangle: how far along, and the weights of the corners b and c
// there (a's is 1 - u - v). Not finite if the ray runs along the plane.
struct TriangleMeeting {
  double distance, u, v;
  // Neighbouring triangles share an edge; a small overlap lets no ray pass between them.
  static constexpr double slack = 1e-12;
  bool inside() const { return u >= -slack && v >= -slack && u + v <= 1 + slack; }
};
inline TriangleMeeting meet_triangle(const Vec3& a, const Vec3& ab, const Vec3& ac, const Vec3& o, const Vec3& d) {
  const Vec3 p = cross(d, ac), s = o - a, q = cross(s, ab);
  const double determinant = dot(ab, p);
  return {dot(ac, q) / determinant, dot(s, p) / determinant, dot(d, q) / determinant};
}

// The colliders of a link, prepared for casting.
class RayGeometry {
 public:
  explicit RayGeometry(std::shared_ptr<const model::Geometry> geometry);

  // The nearest hit along a ray in the link's frame, no farther than `range`.
  ShapeHit cast(const Vec3& origin, const Vec3& direction, double range) const;
  // The same for one collider.
  ShapeHit cast(std::size_t collider, const Vec3& origin, const Vec3& direction, double range) const;
  // A sphere about the link's origin that holds every collider; infinite for a plane.
  double radius() const { return radius_; }

 private:
  struct Part {
    Pose to_shape;                       // from the link's frame to the collider's
    std::vector<model::HullFace> faces;  // of a hull
  };
  std::shared_ptr<const model::Geometry> geometry_;
  std::vector<Part> parts_;
  double radius_ = 0;
};

}  // namespace volvox::rays
