// Bullet's shapes, made once for each Geometry and shared by all bodies that have it.
// Belongs to one engine and its thread.
#pragma once

#include <btBulletCollisionCommon.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "volvox/model/shape.h"
#include "volvox/physics/engine.h"

namespace volvox::physics::bullet {

// The collision shapes of one body.
struct BodyShape {
  std::shared_ptr<const model::Geometry> geometry;  // kept alive; null: touches nothing
  Pose frame;  // of Bullet's body, in the link's frame: the centre of mass and principal axes
  btCollisionShape* shape = nullptr;
  std::vector<model::Material> materials;  // by collider
  bool surface = false;         // a mesh or a height field; it has no inside, so fast bodies are swept against it
  double radius = 0;            // about the body's origin, m; bounds the speed of its surface
  double core = 0;              // a sphere about the body's origin that is certainly inside its extent
  double contact_distance = 0;  // contacts are kept up to this distance, m
  double farthest_contact = 0;  // the same for a fast body, m

  const model::Material& material(int child) const {
    const bool known = child >= 0 && std::cmp_less(child, materials.size());
    return materials[known && shape->isCompound() ? child : 0];
  }

  // Owned here because Bullet only points to them.
  std::vector<std::unique_ptr<btCollisionShape>> parts;
  std::vector<std::unique_ptr<btTriangleIndexVertexArray>> meshes;
  std::vector<std::vector<float>> heights;
};

class ShapeCache {
 public:
  const BodyShape* shape_of(const BodyDesc& desc);

 private:
  static std::unique_ptr<BodyShape> build(const BodyDesc& desc, const Pose& frame);

  // A link has one centre of mass, so a geometry seldom has more than one frame. Pointers
  // are compared for equality only: their order never reaches the state.
  std::map<const model::Geometry*, std::vector<std::unique_ptr<BodyShape>>> shapes_;
};

}  // namespace volvox::physics::bullet
