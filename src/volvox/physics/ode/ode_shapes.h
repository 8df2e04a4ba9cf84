// The colliders of a link in the form of ODE's geoms: hulls with faces and an origin inside, meshes and height fields
// as triangles. Shared by all bodies with the same geometry.
// Lengths in m. Belongs to one engine and its thread.
#pragma once

#include <ode/ode.h>

#include <map>
#include <memory>
#include <vector>

#include "volvox/physics/engine.h"

namespace volvox::physics::ode {

struct ColliderShape {
  ~ColliderShape();
  ColliderShape() = default;
  ColliderShape(const ColliderShape&) = delete;
  ColliderShape& operator=(const ColliderShape&) = delete;

  // A new geom, of no body; null for a plane (plane_contacts.h does those).
  dGeomID make_geom(dSpaceID space) const;

  model::Shape shape;
  model::Material material;
  Pose pose;                 // of the geom in the link's frame: a hull's origin lies inside it
  bool one_contact = false;  // ODE finds only one contact between a face of this and another face
  double size = 0;           // half the diagonal of its bounds
  // A hull, in the geom's frame.
  std::vector<Vec3> points;
  std::vector<dReal> planes;
  std::vector<unsigned int> polygons;
  // Triangles of a mesh or a height field.
  std::vector<dReal> vertices;
  std::vector<dTriIndex> indices;
  dTriMeshDataID mesh = nullptr;
  // Of a hull: tilted to find more contacts.
  dGeomID scratch = nullptr;
};

struct BodyShape {
  std::shared_ptr<const model::Geometry> geometry;  // kept: it is the cache's key
  std::vector<std::unique_ptr<ColliderShape>> colliders;
};

class ShapeCache {
 public:
  const BodyShape* shape_of(const BodyDesc& desc);  // null: no geometry

 private:
  std::map<const model::Geometry*, std::unique_ptr<BodyShape>> shapes_;  // for look-up only
};

}  // namespace volvox::physics::ode
