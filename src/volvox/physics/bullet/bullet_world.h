// Bullet's world, with these parts replaced because we need them exact:
//   solver      see bullet_solver.h
//   dispatcher  makes contacts a whole step ahead, so that nothing tunnels
//   world       free rotation that keeps angular momentum, kinematic bodies that follow
//               their velocity, sweeps against meshes
// Belongs to one engine and its thread. SI units, world axes.
#pragma once

#include <btBulletDynamicsCommon.h>

#include <vector>

#include "volvox/physics/bullet/bullet_joint.h"
#include "volvox/physics/bullet/bullet_shapes.h"
#include "volvox/physics/bullet/bullet_solver.h"
#include "volvox/physics/bullet/plane_contacts.h"

namespace volvox::physics::bullet {

class Dispatcher final : public btCollisionDispatcher {
 public:
  explicit Dispatcher(btCollisionConfiguration* configuration) : btCollisionDispatcher(configuration) {}
  // Contacts are kept and made up to the distance that the two bodies close in a step.
  void begin_substep(double step);
  btPersistentManifold* getNewManifold(const btCollisionObject* a, const btCollisionObject* b) override;

 private:
  double reach(const btCollisionObject* a, const btCollisionObject* b) const;
  double step_ = 0;
};

// Bodies of one quiet owner never touch; bodies without a shape touch nothing.
struct OwnerFilter final : btOverlapFilterCallback {
  bool needBroadphaseCollision(btBroadphaseProxy* a, btBroadphaseProxy* b) const override;
};

class World final : public btDiscreteDynamicsWorld {
 public:
  using btDiscreteDynamicsWorld::btDiscreteDynamicsWorld;

 protected:
  void predictUnconstraintMotion(btScalar step) override;
  void createPredictiveContacts(btScalar) override {}  // done by the contact distance of the dispatcher
  void integrateTransforms(btScalar step) override;
  void saveKinematicState(btScalar) override {}  // a kinematic body keeps the velocity that was set

 private:
  double free_share(const btRigidBody& body, const btVector3& motion) const;
  void find_round_contacts(btScalar step);
  void place_round_contacts();

  // A contact of something round, and where its two points will be after the substep.
  struct RoundContact {
    btPersistentManifold* manifold;
    int index;
    btVector3 on_a, on_b;
  };
  std::vector<RoundContact> round_contacts_;
};

// The objects of one Bullet world; the order of members is the reverse of the order of destruction.
struct WorldParts {
  explicit WorldParts(const Vec3& gravity);

  btDefaultCollisionConfiguration configuration;
  Dispatcher dispatcher;
  btDbvtBroadphase broadphase;
  OwnerFilter filter;
  PlaneContacts planes;
  Solver solver;
  World world;
};

}  // namespace volvox::physics::bullet
