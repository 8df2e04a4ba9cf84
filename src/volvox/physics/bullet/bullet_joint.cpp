#include "volvox/physics/bullet/bullet_joint.h"

#include <algorithm>
#include <cmath>

#include "volvox/physics/system.h"

namespace volvox::physics::bullet {
namespace {

// The share of an error that a substep corrects. A larger share converges sooner and shakes more.
constexpr double error_reduction = 0.3;

}  // namespace

Joint::Joint(const JointDesc& desc, std::size_t index, btRigidBody& a, btRigidBody& b, const Pose& frame_a,
             const Pose& frame_b)
    : btTypedConstraint(D6_CONSTRAINT_TYPE, a, b), desc_(desc), index_(index), frame_a_(frame_a), frame_b_(frame_b) {}

void Joint::prepare(double step, double position, const MotorCommand& motor, DockLatch& latch) {
  step_ = step;
  row_count_ = 0;
  row_used_.fill(false);
  a_ = from_bullet(m_rbA.getWorldTransform()) * frame_a_;
  b_ = from_bullet(m_rbB.getWorldTransform()) * frame_b_;
  if (m_rbA.getInvMass() == 0 && m_rbB.getInvMass() == 0) return;

  const Vec3 offset = a_.rotation.conjugate() * (b_.position - a_.position);
  const Quat turn = a_.rotation.conjugate() * b_.rotation;
  const Vec3 z_axis = a_.rotation * Vec3{0, 0, 1};
  switch (desc_.type) {
    case JointType::revolute: {
      add_offset_rows(offset, {}, {}, 3);
      // The angles between b's axis and a's, about a's x and y.
      const Vec3 tip = cross({0, 0, 1}, turn * Vec3{0, 0, 1});
      const double back = -error_reduction / step_;
      add({.axis = a_.rotation * Vec3{1, 0, 0}, .angular = true, .target = back * tip.x, .slot = 3});
      add({.axis = a_.rotation * Vec3{0, 1, 0}, .angular = true, .target = back * tip.y, .slot = 4});
      add_free_axis({.axis = z_axis, .angular = true}, position, motor);
      break;
    }
    case JointType::prismatic:
      add_offset_rows(offset, {}, {}, 2);
      add_fixed_turn(turn, {}, {});
      add_free_axis({.axis = z_axis}, position, motor);
      break;
    case JointType::fixed:
      add_offset_rows(offset, {}, {}, 3);
      add_fixed_turn(turn, {}, {});
      break;
    case JointType::ball:
      add_offset_rows(offset, {}, {}, 3);
      for (int i = 0; i < 3; ++i) {
        Vec3 axis;
        axis[i] = 1;
        add_friction({.axis = a_.rotation * axis, .angular = true}, 6 + i, 9 + i);
      }
      break;
    case JointType::dock: {
      const Pose wanted = latch.target();
      const Twist rate = latch.rate(step_);
      add_offset_rows(offset, wanted.position, rate.linear, 3);
      add_fixed_turn(turn, wanted.rotation, rate.angular);
      latch.advance(step_);
      break;
    }
  }
}

void Joint::add(const Row& row) {
  rows_[row_count_++] = row;
  row_used_[row.slot] = true;
}

void Joint::add_offset_rows(const Vec3& offset, const Vec3& wanted, const Vec3& rate, int count) {
  for (int i = 0; i < count; ++i) {
    Vec3 axis;
    axis[i] = 1;
    const double back = error_reduction / step_ * (wanted[i] - offset[i]);
    add({.axis = a_.rotation * axis, .target = rate[i] + back, .slot = i});
  }
}

void Joint::add_fixed_turn(const Quat& turn, const Quat& wanted, const Vec3& rate) {
  const Vec3 error = rotation_vector(wanted * turn.conjugate());
  for (int i = 0; i < 3; ++i) {
    Vec3 axis;
    axis[i] = 1;
    const double back = error_reduction / step_ * error[i];
    add({.axis = a_.rotation * axis, .angular = true, .target = rate[i] + back, .slot = 3 + i});
  }
}

void Joint::add_free_axis(const Row& axis, double position, const MotorCommand& motor) {
  add_motor(axis, position, motor);
  add_friction(axis, friction_slot, damping_slot);
  // A limit may be reached within the step: the row lets the joint reach it, but not pass it.
  const auto correction = [&](double gap) { return gap > 0 ? error_reduction * gap / step_ : gap / step_; };
  if (desc_.lower > -1e200) {
    Row row = axis;
    row.target = correction(desc_.lower - position), row.lower = 0, row.slot = lower_slot;
    add(row);
  }
  if (desc_.upper < 1e200) {
    Row row = axis;
    row.target = -correction(position - desc_.upper), row.upper = 0, row.slot = upper_slot;
    add(row);
  }
}

void Joint::add_motor(Row row, double position, const MotorCommand& motor) {
  if (motor.control == Control::off) return;
  row.slot = motor_slot;
  const double most = motor.max_torque * step_;
  row.lower = -most, row.upper = most;
  if (motor.control == Control::torque) {
    row.lower = row.upper = clamp(motor.target * step_, -most, most);
    add(row);
    return;
  }
  double kd = motor.kd;
  if (motor.control == Control::velocity) {
    row.target = motor.target;
  } else {
    const double error = motor.target - position;
    // Faster than 1/step would overshoot within a step. Without kd it is a bare spring, taken
    // at the end of the step: kp (error - step qdot).
    const double rate = kd > 0 ? std::min(motor.kp / kd, 1 / step_) : 1 / step_;
    if (!(kd > 0)) kd = motor.kp * step_;
    row.target = clamp(rate * error, -motor.max_velocity, motor.max_velocity);
  }
  if (!(kd > 0)) return;
  row.softness = 1 / (step_ * kd);
  add(row);
}

void Joint::add_friction(Row row, int friction, int damping) {
  if (desc_.friction > 0) {
    row.lower = -desc_.friction * step_, row.upper = desc_.friction * step_;
    row.slot = friction;
    add(row);
  }
  if (desc_.damping > 0) {
    row.lower = -1e300, row.upper = 1e300;
    row.softness = 1 / (step_ * desc_.damping);
    row.slot = damping;
    add(row);
  }
}

Wrench Joint::impulse_on_b() const {
  Vec3 force, torque;  // the force acts at the origin of frame_b
  for (int i = 0; i < row_count_; ++i) {
    const Row& r = row(i);
    (r.angular ? torque : force) += r.axis * impulses_[r.slot];
  }
  const Quat to_a = a_.rotation.conjugate();
  return {to_a * force, to_a * (torque + cross(b_.position - a_.position, force))};
}

double Joint::position_after(double previous) const {
  if (desc_.type != JointType::revolute && desc_.type != JointType::prismatic) return 0;
  const Pose a = from_bullet(m_rbA.getWorldTransform()) * frame_a_;
  const Pose b = from_bullet(m_rbB.getWorldTransform()) * frame_b_;
  if (desc_.type == JointType::revolute) return unwrapped_angle(a.rotation.conjugate() * b.rotation, previous);
  return dot(a.rotation * Vec3{0, 0, 1}, b.position - a.position);
}

void Joint::getInfo1(btConstraintInfo1* info) {
  info->m_numConstraintRows = row_count_;
  info->nub = 0;
}

void Joint::getInfo2(btConstraintInfo2* info) {
  const btVector3 point = to_bullet(b_.position);
  const btVector3 arm_a = point - m_rbA.getWorldTransform().getOrigin();
  const btVector3 arm_b = point - m_rbB.getWorldTransform().getOrigin();
  const auto put = [](btScalar* where, const btVector3& v) { where[0] = v.x(), where[1] = v.y(), where[2] = v.z(); };
  for (int i = 0; i < row_count_; ++i) {
    const Row& r = row(i);
    const int at = i * info->rowskip;
    const btVector3 axis = to_bullet(r.axis);
    if (r.angular) {
      put(info->m_J1angularAxis + at, -axis);
      put(info->m_J2angularAxis + at, axis);
    } else {
      put(info->m_J1linearAxis + at, -axis);
      put(info->m_J2linearAxis + at, axis);
      put(info->m_J1angularAxis + at, -arm_a.cross(axis));
      put(info->m_J2angularAxis + at, arm_b.cross(axis));
    }
    info->m_constraintError[at] = r.target;
    info->cfm[at] = 0;  // Solver applies softness itself
    info->m_lowerLimit[at] = r.lower;
    info->m_upperLimit[at] = r.upper;
  }
  info->m_damping = 1;
}

}  // namespace volvox::physics::bullet
