#include "volvox/physics/bullet/bullet_world.h"

#include <algorithm>
#include <cmath>

#include "volvox/physics/bullet/convert.h"
#include "volvox/physics/free_rotation.h"
#include "volvox/physics/system.h"

namespace volvox::physics::bullet {
double Dispatcher::reach(const btCollisionObject* a, const btCollisionObject* b) const {
  const BodyShape &shape_a = *mark_of(a).shape, &shape_b = *mark_of(b).shape;
  const double calm = std::min({shape_a.contact_distance, shape_b.contact_distance, 0.02});
  const auto turning = [](const btCollisionObject* body, const BodyShape& shape) {
    const double w = btRigidBody::upcast(body)->getAngularVelocity().length();
    return w > 0 && shape.radius < 1e6 ? w * shape.radius : 0;
  };
  const btVector3 relative = btRigidBody::upcast(a)->getLinearVelocity() - btRigidBody::upcast(b)->getLinearVelocity();
  const double motion = step_ * (relative.length() + turning(a, shape_a) + turning(b, shape_b));
  // Bullet merges contacts within this distance of each other: it must be small enough to keep the corners of a patch.
  // World::free_share stops faster bodies.
  return std::max(calm, std::min({motion, shape_a.farthest_contact, shape_b.farthest_contact}));
}

btPersistentManifold* Dispatcher::getNewManifold(const btCollisionObject* a, const btCollisionObject* b) {
  btPersistentManifold* manifold = btCollisionDispatcher::getNewManifold(a, b);
  manifold->setContactBreakingThreshold(reach(a, b));
  return manifold;
}

void Dispatcher::begin_substep(double step) {
  step_ = step;
  for (int i = 0; i < getNumManifolds(); ++i) {
    btPersistentManifold* manifold = getManifoldByIndexInternal(i);
    manifold->setContactBreakingThreshold(reach(manifold->getBody0(), manifold->getBody1()));
  }
}

namespace {

const btCollisionObject* object_of(const btBroadphaseProxy& proxy) {
  return static_cast<const btCollisionObject*>(proxy.m_clientObject);
}

}  // namespace

bool OwnerFilter::needBroadphaseCollision(btBroadphaseProxy* a, btBroadphaseProxy* b) const {
  if ((a->m_collisionFilterGroup & b->m_collisionFilterMask) == 0) return false;
  if ((b->m_collisionFilterGroup & a->m_collisionFilterMask) == 0) return false;
  const BodyMark& x = mark_of(object_of(*a));
  const BodyMark& y = mark_of(object_of(*b));
  if (!x.shape->geometry || !y.shape->geometry) return false;
  return !quiet_together(
      x, y);  // Bullet itself checks the rest of System::may_touch: joints change while it keeps the pair
}

void World::predictUnconstraintMotion(btScalar step) {
  for (int i = 0; i < m_nonStaticRigidBodies.size(); ++i) {
    btRigidBody& body = *m_nonStaticRigidBodies[i];
    mark_of(&body).held = body.getNumConstraintRefs() > 0;
    // Where it will be without contacts: the broad phase looks there too.
    const Quat turn = from_rotation_vector(from_bullet(body.getAngularVelocity() * step));
    const btTransform& now = body.getWorldTransform();
    body.setInterpolationWorldTransform(btTransform(to_bullet(turn * from_bullet(now.getRotation())),
                                                    now.getOrigin() + body.getLinearVelocity() * step));
  }
}

namespace {

// The nearest thing in the way of a body's core. Contacts that are seen ahead stop the point
// that is nearest, but a fast body may turn about it; and Bullet culls the parts of compounds
// and the triangles of meshes by where the body is, not by where it goes.
struct SweepCallback : btCollisionWorld::ConvexResultCallback {
  SweepCallback(const btRigidBody& moving, const btVector3& along) : body(moving), motion(along) {}

  bool needsCollision(btBroadphaseProxy* proxy) const override {
    const btCollisionObject* other = object_of(*proxy);
    if (other == &body) return false;
    return OwnerFilter().needBroadphaseCollision(const_cast<btBroadphaseProxy*>(body.getBroadphaseProxy()), proxy) &&
           body.checkCollideWith(other) && other->checkCollideWith(&body);
  }
  btScalar addSingleResult(btCollisionWorld::LocalConvexResult& result, bool in_world) override {
    const btVector3 normal =
        in_world ? result.m_hitNormalLocal
                 : result.m_hitCollisionObject->getWorldTransform().getBasis() * result.m_hitNormalLocal;
    if (normal.dot(motion) >= 0) return m_closestHitFraction;  // on its way out
    m_closestHitFraction = result.m_hitFraction;
    return m_closestHitFraction;
  }

  const btRigidBody& body;
  btVector3 motion;
};

}  // namespace

// How much of its motion a fast body may make before its core meets something.
double World::free_share(const btRigidBody& body, const btVector3& motion) const {
  const BodyShape& shape = *mark_of(&body).shape;
  if (!shape.geometry || shape.core <= 0 || motion.length2() < shape.core * shape.core) return 1;
  const btSphereShape core(shape.core);
  SweepCallback result(body, motion);
  const btTransform from(btQuaternion::getIdentity(), body.getWorldTransform().getOrigin());
  const btTransform to(btQuaternion::getIdentity(), from.getOrigin() + motion);
  convexSweepTest(&core, from, to, result, 0);
  if (!result.hasHit()) return 1;
  return result.m_closestHitFraction;
}

namespace {

bool is_round(const btRigidBody& body) {
  const int type = body.getCollisionShape()->getShapeType();
  return !body.isStaticOrKinematicObject() &&
         (type == SPHERE_SHAPE_PROXYTYPE || type == CAPSULE_SHAPE_PROXYTYPE || type == CYLINDER_SHAPE_PROXYTYPE);
}

// How far the surface of a body moves at a point, in one step. Where a body is round, turning about its axle does not
// move its surface.
btVector3 surface_motion(const btRigidBody& body, const btVector3& point, btScalar step) {
  btVector3 turning = body.getAngularVelocity();
  if (is_round(body)) {
    const btVector3 axle = body.getWorldTransform().getBasis().getColumn(2);
    const bool ball = body.getCollisionShape()->getShapeType() == SPHERE_SHAPE_PROXYTYPE;
    turning = ball ? btVector3(0, 0, 0) : turning - axle * axle.dot(turning);
  }
  return (body.getLinearVelocity() + turning.cross(point - body.getWorldTransform().getOrigin())) * step;
}

}  // namespace

// Bullet keeps contacts as two spots of the bodies. What rolls takes its spots with it, away from where it touches, and
// the pressure there drives it on: its contacts follow its middle instead.
void World::find_round_contacts(btScalar step) {
  round_contacts_.clear();
  for (int i = 0; i < getDispatcher()->getNumManifolds(); ++i) {
    btPersistentManifold* manifold = getDispatcher()->getManifoldByIndexInternal(i);
    const btRigidBody &a = *btRigidBody::upcast(manifold->getBody0()), &b = *btRigidBody::upcast(manifold->getBody1());
    const bool a_leads = is_round(a);
    if (!a_leads && !is_round(b)) continue;
    for (int j = 0; j < manifold->getNumContacts(); ++j) {
      const btManifoldPoint& point = manifold->getContactPoint(j);
      const btVector3 on_a = a.getWorldTransform() * point.m_localPointA,
                      on_b = b.getWorldTransform() * point.m_localPointB;
      const btVector3 of_a = surface_motion(a, on_a, step), of_b = surface_motion(b, on_b, step);
      const btVector3 apart = point.m_normalWorldOnB * point.m_normalWorldOnB.dot(of_a - of_b);
      if (a_leads) round_contacts_.push_back({manifold, j, on_a + of_a, on_b + of_a - apart});
      else round_contacts_.push_back({manifold, j, on_a + of_b + apart, on_b + of_b});
    }
  }
}

void World::place_round_contacts() {
  for (const RoundContact& contact : round_contacts_) {
    btManifoldPoint& point = contact.manifold->getContactPoint(contact.index);
    point.m_localPointA = contact.manifold->getBody0()->getWorldTransform().invXform(contact.on_a);
    point.m_localPointB = contact.manifold->getBody1()->getWorldTransform().invXform(contact.on_b);
  }
}

void World::integrateTransforms(btScalar step) {
  find_round_contacts(step);
  for (int i = 0; i < m_nonStaticRigidBodies.size(); ++i) {
    btRigidBody& body = *m_nonStaticRigidBodies[i];
    const btTransform& now = body.getWorldTransform();
    Spin spin{from_bullet(now.getRotation()), from_bullet(body.getAngularVelocity())};
    btVector3 motion = body.getLinearVelocity() * step;
    if (body.isKinematicObject()) {
      spin.rotation = normalized(from_rotation_vector(spin.velocity * step) * spin.rotation);
    } else {
      if (spin.velocity != Vec3{}) spin = turned(spin, from_bullet(body.getLocalInertia()), step);
      // What nothing holds keeps to its parabola.
      if (!mark_of(&body).held) motion -= body.getTotalForce() * (body.getInvMass() * step * step / 2);
      motion *= free_share(body, motion);
    }
    const btTransform next(to_bullet(spin.rotation), now.getOrigin() + motion);
    body.setAngularVelocity(to_bullet(spin.velocity));
    body.proceedToTransform(next);
  }
  place_round_contacts();
}

WorldParts::WorldParts(const Vec3& gravity)
    : dispatcher(&configuration), world(&dispatcher, &broadphase, &solver, &configuration) {
  planes.install(dispatcher);
  // Bullet's special cases see only what already overlaps; the general one sees ahead.
  btCollisionAlgorithmCreateFunc* convex =
      configuration.getCollisionAlgorithmCreateFunc(CONVEX_HULL_SHAPE_PROXYTYPE, CONVEX_HULL_SHAPE_PROXYTYPE);
  dispatcher.registerCollisionCreateFunc(BOX_SHAPE_PROXYTYPE, BOX_SHAPE_PROXYTYPE, convex);
  dispatcher.registerCollisionCreateFunc(SPHERE_SHAPE_PROXYTYPE, SPHERE_SHAPE_PROXYTYPE, convex);
  broadphase.getOverlappingPairCache()->setOverlapFilterCallback(&filter);
  world.setGravity(to_bullet(gravity));

  btContactSolverInfo& info = world.getSolverInfo();
  info.m_numIterations = solver_iterations;
  info.m_leastSquaresResidualThreshold = 1e-12;  // converged: 1e-6 m/s in every row
  info.m_solverMode = SOLVER_USE_WARMSTARTING | SOLVER_USE_2_FRICTION_DIRECTIONS;
  info.m_erp2 = 0.2;
  // Overlaps are pushed out by velocity: by position it would neither keep angular momentum
  // nor be felt by joints. Solver bounds the speed.
  info.m_splitImpulse = 0;
  info.m_restitutionVelocityThreshold = 1e30;  // Solver does restitution
  info.m_minimumSolverBatchSize = 1;           // one island at a time, each until it has converged
}

}  // namespace volvox::physics::bullet
