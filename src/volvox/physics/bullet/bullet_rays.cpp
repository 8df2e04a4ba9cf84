#include "volvox/physics/bullet/bullet_rays.h"

#include "volvox/physics/bullet/bullet_world.h"

namespace volvox::physics::bullet {
namespace {

// Finds the nearest triangle of one mesh.
struct SurfaceHit : btCollisionWorld::RayResultCallback {
  btScalar addSingleResult(btCollisionWorld::LocalRayResult& result, bool in_world) override {
    normal = in_world ? result.m_hitNormalLocal
                      : result.m_collisionObject->getWorldTransform().getBasis() * result.m_hitNormalLocal;
    m_closestHitFraction = result.m_hitFraction;
    m_collisionObject = result.m_collisionObject;
    return m_closestHitFraction;
  }
  btVector3 normal;
};

class RayWalk final : public btBroadphaseRayCallback {
 public:
  explicit RayWalk(const Ray& ray) : ray_(ray), from_(to_bullet(ray.origin)), range_(ray.range) {
    to_ = from_ + to_bullet(ray.direction) * ray.range;
    for (int i = 0; i < 3; ++i) {
      m_rayDirectionInverse[i] = ray.direction[i] == 0 ? BT_LARGE_FLOAT : 1 / ray.direction[i];
      m_signs[i] = m_rayDirectionInverse[i] < 0;
    }
    m_lambda_max = ray.range;
  }

  bool process(const btBroadphaseProxy* proxy) override {
    auto* object = static_cast<btCollisionObject*>(proxy->m_clientObject);
    const BodyMark& mark = mark_of(object);
    if (!mark.shape->geometry || (ray_.ignore_owner != 0 && mark.owner == ray_.ignore_owner)) return true;
    if (mark.shape->surface) {
      cast_surface(object, mark);
    } else {
      cast_solid(object, mark);
    }
    return true;
  }
  const RayHit& hit() const { return hit_; }

 private:
  void cast_solid(const btCollisionObject* object, const BodyMark& mark) {
    const Pose pose = from_bullet(object->getWorldTransform()) * mark.shape->frame.inverse();
    const Quat inverse = pose.rotation.conjugate();
    const ShapeHit hit =
        mark.shape->rays->cast(inverse * (ray_.origin - pose.position), inverse * ray_.direction, range_);
    if (hit.distance < 0 || !nearer(hit.distance, mark)) return;
    range_ = hit.distance;
    hit_ = {hit.distance, mark.id, pose.rotation * hit.normal};
  }

  void cast_surface(btCollisionObject* object, const BodyMark& mark) {
    SurfaceHit result;
    result.m_closestHitFraction = range_ / ray_.range;
    const btTransform from(btQuaternion::getIdentity(), from_), to(btQuaternion::getIdentity(), to_);
    btCollisionWorld::rayTestSingle(from, to, object, object->getCollisionShape(), object->getWorldTransform(), result);
    const double distance = result.m_closestHitFraction * ray_.range;
    if (!result.hasHit() || !nearer(distance, mark)) return;
    range_ = distance;
    const Vec3 normal = from_bullet(result.normal.normalized());
    hit_ = {distance, mark.id, dot(normal, ray_.direction) <= 0 ? normal : -normal};
  }

  // Of two at the same distance the one with the lower index, whatever order the tree has.
  bool nearer(double distance, const BodyMark& mark) const {
    return !hit_.hit() || distance < hit_.distance || (distance == hit_.distance && mark.id.index < hit_.body.index);
  }

  const Ray& ray_;
  btVector3 from_, to_;
  double range_;
  RayHit hit_;
};

}  // namespace

RayHit cast_ray(const btCollisionWorld& world, const Ray& ray) {
  RayWalk walk(ray);
  const btVector3 from = to_bullet(ray.origin);
  // The broad phase's query keeps a stack of its own: it changes nothing that matters.
  const_cast<btBroadphaseInterface*>(world.getBroadphase())
      ->rayTest(from, from + to_bullet(ray.direction) * ray.range, walk);
  return walk.hit();
}

}  // namespace volvox::physics::bullet
