#include "volvox/physics/bullet/bullet_solver.h"

#include <algorithm>
#include <cmath>

#include "volvox/physics/bullet/convert.h"
#include "volvox/physics/native/bounce.h"

namespace volvox::physics::bullet {
namespace {

// The limit of the speed at which overlaps are pushed out (mostly overlaps of the initial placement).
constexpr double fastest_push = 0.3;  // m/s
// The share of a joint's last impulses with which the next step starts, as Bullet does for contacts. With all of them
// long arms become unstable, because sequential impulses never converge on them.
constexpr double warm_start_share = 0.85;
const model::Material& material(const btCollisionObject* body, int child) {
  return mark_of(body).shape->material(child);
}

double product(const btVector3& a, const btVector3& b, const btVector3& c, const btVector3& d) {
  return a.dot(b) + c.dot(d);
}

// Bullet's rows of a joint follow each other in the order in which the joint gave them.
template <class Visit>
void each_joint_row(btConstraintArray& rows, Visit&& visit) {
  for (int i = 0; i < rows.size();) {
    Joint& joint = *static_cast<Joint*>(static_cast<btTypedConstraint*>(rows[i].m_originalContactPoint));
    for (int k = 0; k < joint.row_count(); ++k) visit(joint, joint.row(k), rows[i + k]);
    i += joint.row_count();
  }
}

}  // namespace

void Solver::convertJoints(btTypedConstraint** constraints, int count, const btContactSolverInfo& info) {
  btSequentialImpulseConstraintSolver::convertJoints(constraints, count, info);
  each_joint_row(m_tmpSolverNonContactConstraintPool, [&](Joint& joint, const Row& ours, btSolverConstraint& row) {
    // impulse = (target - velocity) / softness, with the velocity at the end of the step: softness adds to the inverse
    // mass of the row.
    const double answer = 1 / row.m_jacDiagABInv, soft = answer + ours.softness;
    row.m_rhs *= answer / soft;
    row.m_cfm = ours.softness / soft;
    row.m_jacDiagABInv = 1 / soft;
    warm_start(row, warm_start_share * clamp(joint.impulse(ours.slot), ours.lower, ours.upper));
  });
}

void Solver::warm_start(btSolverConstraint& row, double impulse) {
  btSolverBody &a = m_tmpSolverBodyPool[row.m_solverBodyIdA], &b = m_tmpSolverBodyPool[row.m_solverBodyIdB];
  row.m_appliedImpulse = impulse;
  a.internalApplyImpulse(row.m_contactNormal1 * a.internalGetInvMass(), row.m_angularComponentA, impulse);
  b.internalApplyImpulse(row.m_contactNormal2 * b.internalGetInvMass(), row.m_angularComponentB, impulse);
}

void Solver::convertContacts(btPersistentManifold** manifolds, int count, const btContactSolverInfo& info) {
  for (int i = 0; i < count; ++i) {
    const btCollisionObject *a = manifolds[i]->getBody0(), *b = manifolds[i]->getBody1();
    for (int j = 0; j < manifolds[i]->getNumContacts(); ++j) {
      btManifoldPoint& point = manifolds[i]->getContactPoint(j);
      const model::Material &of_a = material(a, point.m_index0), &of_b = material(b, point.m_index1);
      point.m_combinedFriction = std::sqrt(of_a.friction * of_b.friction);
      point.m_combinedRestitution = std::max(of_a.restitution, of_b.restitution);
      // The same point on both bodies, so that friction conserves angular momentum.
      const btVector3 middle = (point.m_positionWorldOnA + point.m_positionWorldOnB) / 2;
      point.m_positionWorldOnA = point.m_positionWorldOnB = middle;
    }
  }
  const int first = m_tmpSolverContactConstraintPool.size();
  btSequentialImpulseConstraintSolver::convertContacts(manifolds, count, info);
  bounces_.resize(m_tmpSolverContactConstraintPool.size());
  for (int i = first; i < m_tmpSolverContactConstraintPool.size(); ++i) {
    bounces_[i] = adjust_contact(m_tmpSolverContactConstraintPool[i], info);
  }
}

// Restitution: Bullet subtracts the remaining distance from the speed after a bounce, which loses the bounce. Here a
// contact that closes within the step bounces with the speed and the energy that it has at that time.
bool Solver::adjust_contact(btSolverConstraint& row, const btContactSolverInfo& info) {
  const btSolverBody &a = m_tmpSolverBodyPool[row.m_solverBodyIdA], &b = m_tmpSolverBodyPool[row.m_solverBodyIdB];
  const auto& point = *static_cast<const btManifoldPoint*>(row.m_originalContactPoint);
  const double step = info.m_timeStep;
  const double push = -info.m_erp2 * point.getDistance() / step;
  if (push > fastest_push) row.m_rhs -= (push - fastest_push) * row.m_jacDiagABInv;

  const double e = point.m_combinedRestitution;
  if (e <= 0) return false;
  const double speed =
      product(row.m_contactNormal1, a.m_linearVelocity, row.m_relpos1CrossNormal, a.m_angularVelocity) +
      product(row.m_contactNormal2, b.m_linearVelocity, row.m_relpos2CrossNormal, b.m_angularVelocity);
  const double gained =
      product(row.m_contactNormal1, a.m_externalForceImpulse, row.m_relpos1CrossNormal, a.m_externalTorqueImpulse) +
      product(row.m_contactNormal2, b.m_externalForceImpulse, row.m_relpos2CrossNormal, b.m_externalTorqueImpulse);
  const native::Bounce<double> bounce =
      native::plan_bounce<double>({e, point.getDistance(), speed, 0, false, gained / step, step});
  if (bounce.pass) row.m_rhs = native::unheard_of * row.m_jacDiagABInv;
  if (bounce.now) row.m_rhs = (bounce.speed - speed - gained) * row.m_jacDiagABInv;
  return bounce.now;
}

void Solver::mark_held(const btSolverConstraint& row) {
  for (const int id : {row.m_solverBodyIdA, row.m_solverBodyIdB}) {
    if (const btRigidBody* body = m_tmpSolverBodyPool[id].m_originalBody) mark_of(body).held = true;
  }
}

btScalar Solver::solveGroupCacheFriendlyFinish(btCollisionObject** bodies, int count, const btContactSolverInfo& info) {
  // Slots without a row in this step have no impulse.
  each_joint_row(m_tmpSolverNonContactConstraintPool,
                 [](Joint& joint, const Row&, btSolverConstraint&) { joint.impulses().fill(0); });
  each_joint_row(m_tmpSolverNonContactConstraintPool, [](Joint& joint, const Row& ours, btSolverConstraint& row) {
    joint.impulse(ours.slot) = row.m_appliedImpulse;
  });
  for (int i = 0; i < m_tmpSolverContactConstraintPool.size(); ++i) {
    const btSolverConstraint& row = m_tmpSolverContactConstraintPool[i];
    if (row.m_appliedImpulse > 0 && !bounces_[i]) mark_held(row);
  }
  return btSequentialImpulseConstraintSolver::solveGroupCacheFriendlyFinish(bodies, count, info);
}

}  // namespace volvox::physics::bullet
