// The colliders of a body, made ready for detection: in its principal axes, about its centre
// of mass, with faces and bounds. Bodies with the same geometry share one.
// Lengths in m. It does not change once it is made, so that threads share it; the same geometry gives the same bits.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "volvox/model/shape.h"
#include "volvox/physics/native/box_tree.h"
#include "volvox/physics/native/spatial.h"

namespace volvox::physics::native {

// A convex collider: the points within `radius` of its core. The core is a point (sphere), a
// segment (capsule), a polyhedron, or a disc swept along its axis (cylinder).
struct Convex {
  struct Face {
    Vec3 normal;
    std::vector<int> corners;  // counter-clockwise seen from outside; of large faces, some
  };
  std::vector<Vec3> points;                    // of the core; none: a cylinder
  std::vector<double> x, y, z;                 // the same of polyhedra, padded to a multiple of 8 by the first
  std::vector<Face> faces;                     // of a polyhedron
  std::vector<double> face_x, face_y, face_z;  // their normals, padded in the same way
  double radius = 0;
  // A cylinder.
  Vec3 axis;
  double disc = 0, half_length = 0;

  Vec3 centre;
  Box3 bounds;
  double reach = 0;  // from the middle of its bounds
  int collider = 0;
  model::Material material;

  bool cylinder() const { return disc > 0; }
  // With corners that two bytes number (SimplexCorners); one with more is searched for as other convexes are.
  bool polyhedron() const { return !faces.empty() && radius == 0 && points.size() <= 0xffff; }
  // The farthest point of the core along a direction.
  Vec3 support(const Vec3& direction) const;
};

// Triangles with what their edges look like, for meshes and height fields.
struct Triangle {
  std::array<Vec3, 3> corners;
  Vec3 normal;
  // The normal of the triangle beyond each edge (corner i to i + 1); the triangle's own where
  // the edge does not stick out (flat or hollow); zero where there is no neighbour.
  std::array<Vec3, 3> beyond;

  // What follows from these, see finish_triangle: for each edge, in the triangle's plane and
  // square to the edge; and the sine of the angle by which a contact's normal may lean over it,
  // 1 from a right angle on.
  std::array<Vec3, 3> outward;
  std::array<double, 3> bend;
  std::array<bool, 3> hollow;  // the surface rises beyond the edge
};

struct Surface {
  int collider = 0;
  model::Material material;
  Pose pose;                        // from the surface's frame to the body's
  std::vector<Triangle> triangles;  // of a mesh, in the body's frame
  BoxTree tree;                     // of their bounds
  model::HeightField field;         // or a height field, in its own frame
  Box3 bounds;
};

struct HalfSpace {
  int collider = 0;
  model::Material material;
  Vec3 normal;
  double offset = 0;
};

// What of a body's turning moves its surface; in the world. See Shape.
VOLVOX_KERNEL Vec3 felt_turning(const Vec3& angular, const Quat& rotation, const Vec3& axle, double swing) {
  if (swing == 0) return {};
  if (axle == Vec3{}) return angular;
  const Vec3 along = rotation * axle;
  return angular - along * dot(along, angular);
}

struct Shape {
  std::shared_ptr<const model::Geometry> geometry;  // kept alive: it is the cache's key
  std::vector<Convex> convexes;
  std::vector<Surface> surfaces;
  std::vector<HalfSpace> half_spaces;
  Box3 bounds;       // of convexes and surfaces
  double reach = 0;  // the farthest point from the centre of mass
  // Turning about an axle through the centre of mass that all convexes are round about moves no
  // surface: the axle, or zero where there is none. Of a ball no turning does, and its swing is
  // zero; otherwise that is the reach.
  Vec3 axle;
  double swing = 0;
  double core = 0;                         // half the thinnest extent: what may pass unseen in a step
  bool polyhedra = false, others = false;  // whether it has any, and anything else

  // The points of all convex cores but cylinders, for the pass against planes: coordinates
  // one behind the other, padded to a multiple of 8.
  struct Cloud {
    std::vector<double> x, y, z, radius;
    std::vector<int> convex, point;
    int count = 0;
  } cloud;

  // What of a body's turning moves its surface, in the world.
  Vec3 felt(const Vec3& angular, const Quat& rotation) const { return felt_turning(angular, rotation, axle, swing); }
};

class ShapeCache {
 public:
  // `from_link`: the principal frame in the link's.
  std::shared_ptr<const Shape> shape(const std::shared_ptr<const model::Geometry>& geometry, const Pose& from_link);

 private:
  struct Entry {
    Pose from_link;
    std::weak_ptr<const Shape> shape;
  };
  std::map<const model::Geometry*, std::vector<Entry>> entries_;  // for look-up only
};

// The triangles of a height field cell, in the field's frame.
std::array<Triangle, 2> field_cell(const model::HeightFieldData& field, int column, int row);

}  // namespace volvox::physics::native
