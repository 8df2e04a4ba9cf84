// Bullet's sequential impulses, with these changes:
//   joints      rows may be soft (motors, friction), and start from the impulses of the last step
//   contacts    friction and restitution by collider, restitution at the time of impact,
//               a limited speed at which overlaps are pushed out
// Belongs to one engine and its thread. Rows are solved in the order of joints and contacts: deterministic.
#pragma once

#include <btBulletDynamicsCommon.h>

#include <vector>

#include "volvox/physics/bullet/bullet_joint.h"
#include "volvox/physics/bullet/bullet_shapes.h"

namespace volvox::physics::bullet {

constexpr int solver_iterations = 50;

// The target of a body's user pointer.
struct BodyMark {
  BodyId id;
  std::uint32_t owner = 0;
  bool quiet = false;
  const BodyShape* shape = nullptr;
  mutable bool held = false;  // in this substep: by a joint, or by a contact that does not bounce
};
inline const BodyMark& mark_of(const btCollisionObject* object) {
  return *static_cast<const BodyMark*>(object->getUserPointer());
}

class Solver final : public btSequentialImpulseConstraintSolver {
 protected:
  void convertJoints(btTypedConstraint** constraints, int count, const btContactSolverInfo& info) override;
  void convertContacts(btPersistentManifold** manifolds, int count, const btContactSolverInfo& info) override;
  btScalar solveGroupCacheFriendlyFinish(btCollisionObject** bodies, int count,
                                         const btContactSolverInfo& info) override;

 private:
  void warm_start(btSolverConstraint& row, double impulse);
  // True: it bounces.
  bool adjust_contact(btSolverConstraint& row, const btContactSolverInfo& info);
  void mark_held(const btSolverConstraint& row);

  std::vector<bool> bounces_;  // by row of a contact
};

}  // namespace volvox::physics::bullet
