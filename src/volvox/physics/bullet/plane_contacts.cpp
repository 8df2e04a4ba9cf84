#include "volvox/physics/bullet/plane_contacts.h"

#include <array>
#include <vector>

namespace volvox::physics::bullet {
namespace {

// A point that may touch: on the shape's surface, with its height above the plane.
struct Candidate {
  btVector3 point;
  btScalar height;
};

// The points of a shape that can touch a plane first. `down` is the plane's inward normal.
class Candidates {
 public:
  Candidates(const btTransform& shape, const btVector3& normal, btScalar offset, btScalar reach)
      : shape_(shape), normal_(normal), offset_(offset), reach_(reach) {}

  void collect(const btCollisionShape& shape) {
    switch (shape.getShapeType()) {
      case SPHERE_SHAPE_PROXYTYPE: add(btVector3(0, 0, 0), static_cast<const btSphereShape&>(shape).getRadius()); break;
      case CAPSULE_SHAPE_PROXYTYPE: {
        const auto& capsule = static_cast<const btCapsuleShape&>(shape);
        add(btVector3(0, 0, capsule.getHalfHeight()), capsule.getRadius());
        add(btVector3(0, 0, -capsule.getHalfHeight()), capsule.getRadius());
        break;
      }
      case BOX_SHAPE_PROXYTYPE: {
        const btVector3 half = static_cast<const btBoxShape&>(shape).getHalfExtentsWithMargin();
        for (int i = 0; i < 8; ++i) {
          add({i & 1 ? half.x() : -half.x(), i & 2 ? half.y() : -half.y(), i & 4 ? half.z() : -half.z()}, 0);
        }
        break;
      }
      case CYLINDER_SHAPE_PROXYTYPE:
        add_rims(static_cast<const btCylinderShape&>(shape).getHalfExtentsWithMargin());
        break;
      case CONVEX_HULL_SHAPE_PROXYTYPE: {
        const auto& hull = static_cast<const btConvexHullShape&>(shape);
        for (int i = 0; i < hull.getNumPoints(); ++i) add(hull.getUnscaledPoints()[i], 0);
        break;
      }
      default: {
        const btVector3 down = shape_.getBasis().transpose() * -normal_;
        add(static_cast<const btConvexShape&>(shape).localGetSupportingVertex(down), 0);
      }
    }
  }

  // At most four, for that is what a manifold holds: the lowest, and those that span the
  // largest patch with it.
  std::vector<Candidate> reduced() const {
    if (found_.size() <= 4) return found_;
    const Candidate& first = best([](const Candidate& c) { return -c.height; });
    const Candidate& second = best([&](const Candidate& c) { return (c.point - first.point).length2(); });
    const btVector3 across = normal_.cross(second.point - first.point);
    const auto side = [&](const Candidate& c) { return across.dot(c.point - first.point); };
    const Candidate& third = best([&](const Candidate& c) { return side(c); });
    const Candidate& fourth = best([&](const Candidate& c) { return -side(c); });
    std::vector<Candidate> result{first, second};
    if (side(third) > 0) result.push_back(third);
    if (side(fourth) < 0) result.push_back(fourth);
    return result;
  }

 private:
  // A ball of some radius about a point of the shape.
  void add(const btVector3& local, btScalar radius) {
    const btVector3 point = shape_ * local - normal_ * radius;
    const btScalar height = normal_.dot(point) - offset_;
    if (height < reach_) found_.push_back({point, height});
  }
  // On each rim the lowest point, the highest and the two between: two touch when it rolls,
  // four when it stands.
  void add_rims(const btVector3& half) {
    const btVector3 down = shape_.getBasis().transpose() * -normal_;
    btVector3 lowest(down.x(), down.y(), 0);
    lowest = lowest.length2() > 1e-20 ? lowest.normalized() : btVector3(1, 0, 0);
    const btVector3 sideways(-lowest.y(), lowest.x(), 0);
    for (const btScalar z : {half.z(), -half.z()}) {
      for (const btVector3& direction : {lowest, sideways, -lowest, -sideways}) {
        add(direction * half.x() + btVector3(0, 0, z), 0);
      }
    }
  }
  template <class Measure>
  const Candidate& best(const Measure& measure) const {
    const Candidate* result = &found_.front();
    for (const Candidate& c : found_) {
      if (measure(c) > measure(*result)) result = &c;
    }
    return *result;
  }

  const btTransform& shape_;
  btVector3 normal_;
  btScalar offset_, reach_;
  std::vector<Candidate> found_;
};

class PlaneAlgorithm : public btCollisionAlgorithm {
 public:
  PlaneAlgorithm(const btCollisionAlgorithmConstructionInfo& info, const btCollisionObjectWrapper* convex,
                 const btCollisionObjectWrapper* plane, bool swapped)
      : btCollisionAlgorithm(info), manifold_(info.m_manifold), swapped_(swapped) {
    if (!manifold_ && m_dispatcher->needsCollision(convex->getCollisionObject(), plane->getCollisionObject())) {
      manifold_ = m_dispatcher->getNewManifold(convex->getCollisionObject(), plane->getCollisionObject());
      owns_manifold_ = true;
    }
  }
  ~PlaneAlgorithm() override {
    if (owns_manifold_ && manifold_) m_dispatcher->releaseManifold(manifold_);
  }

  void processCollision(const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1,
                        const btDispatcherInfo&, btManifoldResult* result) override {
    if (!manifold_) return;
    const btCollisionObjectWrapper* convex = swapped_ ? body1 : body0;
    const btCollisionObjectWrapper* plane = swapped_ ? body0 : body1;
    const auto* shape = static_cast<const btStaticPlaneShape*>(plane->getCollisionShape());
    const btVector3 normal = plane->getWorldTransform().getBasis() * shape->getPlaneNormal();
    const btScalar offset = normal.dot(plane->getWorldTransform().getOrigin()) + shape->getPlaneConstant();
    Candidates candidates(convex->getWorldTransform(), normal, offset, manifold_->getContactBreakingThreshold());
    candidates.collect(*convex->getCollisionShape());
    result->setPersistentManifold(manifold_);
    for (const Candidate& c : candidates.reduced()) {
      result->addContactPoint(normal, c.point - normal * c.height, c.height);
    }
    if (owns_manifold_ && manifold_->getNumContacts() > 0) result->refreshContactPoints();
  }

  btScalar calculateTimeOfImpact(btCollisionObject*, btCollisionObject*, const btDispatcherInfo&,
                                 btManifoldResult*) override {
    return 1;
  }
  void getAllContactManifolds(btManifoldArray& manifolds) override {
    if (manifold_ && owns_manifold_) manifolds.push_back(manifold_);
  }

 private:
  btPersistentManifold* manifold_;
  bool owns_manifold_ = false;
  bool swapped_;
};

}  // namespace

btCollisionAlgorithm* PlaneContacts::CreateFunc::CreateCollisionAlgorithm(btCollisionAlgorithmConstructionInfo& info,
                                                                          const btCollisionObjectWrapper* body0,
                                                                          const btCollisionObjectWrapper* body1) {
  void* memory = info.m_dispatcher1->allocateCollisionAlgorithm(sizeof(PlaneAlgorithm));
  return m_swapped ? new (memory) PlaneAlgorithm(info, body1, body0, true)
                   : new (memory) PlaneAlgorithm(info, body0, body1, false);
}

void PlaneContacts::install(btCollisionDispatcher& dispatcher) {
  create_swapped_.m_swapped = true;
  for (int type : {BOX_SHAPE_PROXYTYPE, CONVEX_HULL_SHAPE_PROXYTYPE, SPHERE_SHAPE_PROXYTYPE, CAPSULE_SHAPE_PROXYTYPE,
                   CYLINDER_SHAPE_PROXYTYPE}) {
    dispatcher.registerCollisionCreateFunc(type, STATIC_PLANE_PROXYTYPE, &create_);
    dispatcher.registerCollisionCreateFunc(STATIC_PLANE_PROXYTYPE, type, &create_swapped_);
  }
}

}  // namespace volvox::physics::bullet
