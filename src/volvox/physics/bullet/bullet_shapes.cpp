#include "volvox/physics/bullet/bullet_shapes.h"

#include <BulletCollision/CollisionShapes/btHeightfieldTerrainShape.h>

#include <algorithm>
#include <limits>

#include "volvox/base/index.h"
#include "volvox/model/hull_faces.h"
#include "volvox/physics/bullet/convert.h"

namespace volvox::physics::bullet {
namespace {

// Bullet rounds convex shapes by a margin and needs a small one. Boxes and cylinders have it inside their size; a hull
// grows by it in contacts with anything but a plane or a polyhedron.
constexpr double hull_margin = 1e-4;  // m

double rounding(double smallest_half) { return std::min(1e-3, 0.05 * smallest_half); }

class ShapeMaker {
 public:
  explicit ShapeMaker(BodyShape& body) : body_(body) {}

  // The shape, and where it lies in the collider's frame.
  std::pair<btCollisionShape*, Pose> make(const model::Shape& shape) {
    offset_ = {};
    btCollisionShape* made = std::visit([this](const auto& s) { return make_one(s); }, shape);
    return {made, offset_};
  }

 private:
  template <class T>
  T* keep(std::unique_ptr<T> part) {
    T* raw = part.get();
    body_.parts.push_back(std::move(part));
    return raw;
  }

  btCollisionShape* make_one(const model::Sphere& s) { return keep(std::make_unique<btSphereShape>(s.radius)); }
  btCollisionShape* make_one(const model::Box& b) {
    auto* box = keep(std::make_unique<btBoxShape>(to_bullet(b.size / 2)));
    box->setMargin(rounding(std::min({b.size.x, b.size.y, b.size.z}) / 2));
    // Faces, so that two boxes get all their contacts at once (clipping) instead of one a step.
    box->initializePolyhedralFeatures();
    return box;
  }
  btCollisionShape* make_one(const model::Capsule& c) {
    return keep(std::make_unique<btCapsuleShapeZ>(c.radius, c.length));
  }
  btCollisionShape* make_one(const model::Cylinder& c) {
    auto* cylinder = keep(std::make_unique<btCylinderShapeZ>(btVector3(c.radius, c.radius, c.length / 2)));
    cylinder->setMargin(rounding(std::min(c.radius, c.length / 2)));
    return cylinder;
  }
  btCollisionShape* make_one(const model::Plane& p) {
    return keep(std::make_unique<btStaticPlaneShape>(to_bullet(normalized(p.normal)), 0.0));
  }
  btCollisionShape* make_one(const model::Hull& h) {
    auto* hull = keep(std::make_unique<btConvexHullShape>());
    // Only the corners: points inside or on faces cost time in every support query.
    std::vector<bool> corner(h->points.size(), false);
    for (const model::HullFace& face : model::hull_faces(h->points)) {
      for (std::uint32_t i : face.corners) corner[i] = true;
    }
    for (std::size_t i = 0; i < corner.size(); ++i) {
      if (corner[i]) hull->addPoint(to_bullet(h->points[i]), false);
    }
    hull->setMargin(hull_margin);
    hull->recalcLocalAabb();
    hull->initializePolyhedralFeatures();
    return hull;
  }
  btCollisionShape* make_one(const model::Mesh& m) {
    btIndexedMesh part;
    part.m_numTriangles = narrow<int>(m->triangles.size());
    part.m_triangleIndexBase = reinterpret_cast<const unsigned char*>(m->triangles.data());
    part.m_triangleIndexStride = sizeof(m->triangles[0]);
    part.m_numVertices = narrow<int>(m->vertices.size());
    part.m_vertexBase = reinterpret_cast<const unsigned char*>(m->vertices.data());
    part.m_vertexStride = sizeof(Vec3);
    part.m_vertexType = PHY_DOUBLE;
    body_.meshes.push_back(std::make_unique<btTriangleIndexVertexArray>());
    body_.meshes.back()->addIndexedMesh(part, PHY_INTEGER);
    auto* mesh = keep(std::make_unique<btBvhTriangleMeshShape>(body_.meshes.back().get(), true));
    mesh->setMargin(0);
    body_.surface = true;
    return mesh;
  }
  btCollisionShape* make_one(const model::HeightField& f) {
    const auto [low, high] = std::minmax_element(f->heights.begin(), f->heights.end());
    auto* field =
        keep(std::make_unique<btHeightfieldTerrainShape>(f->columns, f->rows, f->heights.data(), *low, *high, 2, true));
    field->setLocalScaling({f->size_x / (f->columns - 1), f->size_y / (f->rows - 1), 1.0});
    field->setMargin(0);
    // Bullet's origin is half way between the lowest and the highest sample.
    offset_.position = {0, 0, (double{*low} + double{*high}) / 2};
    body_.surface = true;
    return field;
  }

  BodyShape& body_;
  Pose offset_;
};

// Bounds for contact distances and sweeps; infinite shapes have none.
void measure(BodyShape& body) {
  btVector3 low, high, centre;
  body.shape->getAabb(btTransform::getIdentity(), low, high);
  btScalar radius = 0;
  body.shape->getBoundingSphere(centre, radius);
  body.radius = centre.length() + radius;
  // A fifth of the way from the centre of mass to the nearest side; 0 if that lies outside.
  const double inside = std::min({high.x(), high.y(), high.z(), -low.x(), -low.y(), -low.z()});
  body.core = std::max(0.0, 0.2 * inside);
  constexpr double any = std::numeric_limits<double>::infinity();
  const bool large = body.surface || body.radius > 1e6;
  body.contact_distance = large ? any : std::max(1e-4, 0.02 * body.radius);
  const bool one_contact = body.shape->getShapeType() == SPHERE_SHAPE_PROXYTYPE;
  body.farthest_contact = large || one_contact ? any : 0.25 * body.radius;
}

}  // namespace

const BodyShape* ShapeCache::shape_of(const BodyDesc& desc) {
  const bool lone = desc.geometry && desc.geometry->colliders.size() == 1;
  // A single collider of a fixed body needs no compound: planes, meshes and height fields keep their fast paths.
  const Pose frame = desc.motion == Motion::fixed && lone ? desc.geometry->colliders[0].pose : desc.inertial;
  auto& made = shapes_[desc.geometry.get()];
  for (const auto& shape : made) {
    if (shape->frame == frame) return shape.get();
  }
  made.push_back(build(desc, frame));
  return made.back().get();
}

std::unique_ptr<BodyShape> ShapeCache::build(const BodyDesc& desc, const Pose& frame) {
  auto body = std::make_unique<BodyShape>();
  body->frame = frame;
  body->geometry = desc.geometry;
  if (!desc.geometry || desc.geometry->colliders.empty()) {
    body->geometry = nullptr;
    body->parts.push_back(std::make_unique<btEmptyShape>());
    body->shape = body->parts.back().get();
    body->materials.push_back({});
    return body;
  }
  ShapeMaker maker(*body);
  auto compound = std::make_unique<btCompoundShape>();
  Pose place;
  for (const model::Collider& collider : desc.geometry->colliders) {
    const auto [shape, offset] = maker.make(collider.shape);
    place = frame.inverse() * collider.pose * offset;
    compound->addChildShape(to_bullet(place), shape);
    body->materials.push_back(collider.material);
  }
  const bool alone = body->parts.size() == 1 && length(place.position) < 1e-12 && angle(place.rotation) < 1e-12;
  if (alone) {
    body->shape = body->parts.front().get();
  } else {
    body->shape = compound.get();
    body->parts.push_back(std::move(compound));
  }
  measure(*body);
  return body;
}

}  // namespace volvox::physics::bullet
