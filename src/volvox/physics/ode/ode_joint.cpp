#include "volvox/physics/ode/ode_joint.h"

#include <algorithm>
#include <cmath>

#include "volvox/physics/ode/convert.h"
#include "volvox/physics/system.h"

namespace volvox::physics::ode {
namespace {

constexpr double no_limit = 1e30;  // ODE squares some of its numbers

void set_param(dJointID joint, bool linear, int axis, int parameter, double value) {
  const int group = axis * dParamGroup;
  if (linear) dJointSetLMotorParam(joint, parameter + group, value);
  else dJointSetAMotorParam(joint, parameter + group, value);
}

}  // namespace

void Joint::Drive::set(int axis, double velocity, double most, double softness) {
  set_param(joint, linear, axis, dParamVel, velocity);
  set_param(joint, linear, axis, dParamFMax, std::min(most, no_limit));
  set_param(joint, linear, axis, dParamCFM, softness);
}

Joint::Joint(const JointDesc& desc, dWorldID world, dBodyID a, dBodyID b, const Pose& frame_a, const Pose& frame_b)
    : desc_(desc), a_(a), b_(b), frame_a_(frame_a), frame_b_(frame_b) {
  make_holder(world);
  const bool axis = desc.type == JointType::revolute || desc.type == JointType::prismatic;
  const int axes = axis ? 1 : desc.type == JointType::ball ? 3 : 0;
  if (axis) make_drive(motor_, world, linear(), 1);
  if (axes > 0 && desc.friction > 0) make_drive(friction_, world, linear(), axes);
  if (axes > 0 && desc.damping > 0) make_drive(damping_, world, linear(), axes);
  for (int i = 0; i < axes; ++i) {
    if (friction_.joint) friction_.set(i, 0, desc.friction, 0);
    if (damping_.joint) damping_.set(i, 0, no_limit, 1 / desc.damping);
  }
  if (desc.type == JointType::revolute && (desc.lower > -1e9 || desc.upper < 1e9)) make_drive(limit_, world, false, 1);
  if (desc.type == JointType::dock) make_drive(pull_, world, true, 3), make_drive(turn_, world, false, 3);
}

Joint::~Joint() {
  for (Drive* drive : drives()) {
    if (drive->joint) dJointDestroy(drive->joint);
  }
  dJointDestroy(holder_);
}

Pose Joint::a_pose() const { return a_ ? pose_of(a_) * frame_a_ : frame_a_; }
Pose Joint::b_pose() const { return pose_of(b_) * frame_b_; }

void Joint::make_holder(dWorldID world) {
  switch (desc_.type) {
    case JointType::revolute: holder_ = dJointCreateHinge(world, nullptr); break;
    case JointType::prismatic: holder_ = dJointCreateSlider(world, nullptr); break;
    case JointType::ball: holder_ = dJointCreateBall(world, nullptr); break;
    case JointType::fixed:
    case JointType::dock: holder_ = dJointCreateFixed(world, nullptr); break;
  }
  dJointAttach(holder_, b_, a_);
  dJointSetFeedback(holder_, &held_);
  // ODE computes anchors, axes and offsets from the poses of the bodies: meanwhile b is where the frames coincide.
  const Pose now = pose_of(b_);
  place(b_, a_pose() * frame_b_.inverse());
  set_holder();
  place(b_, now);
}

void Joint::set_holder() {
  const Pose at = a_pose();
  const Vec3 p = at.position, z = at.rotation * Vec3{0, 0, 1};
  switch (desc_.type) {
    case JointType::revolute:
      dJointSetHingeAnchor(holder_, p.x, p.y, p.z);
      dJointSetHingeAxis(holder_, z.x, z.y, z.z);
      break;
    case JointType::prismatic: dJointSetSliderAxis(holder_, z.x, z.y, z.z); break;
    case JointType::ball: dJointSetBallAnchor(holder_, p.x, p.y, p.z); break;
    case JointType::fixed:
    case JointType::dock: dJointSetFixed(holder_); break;
  }
}

void Joint::make_drive(Drive& drive, dWorldID world, bool linear, int axes) {
  drive.linear = linear;
  drive.joint = linear ? dJointCreateLMotor(world, nullptr) : dJointCreateAMotor(world, nullptr);
  dJointAttach(drive.joint, b_, a_);
  dJointSetFeedback(drive.joint, &drive.feedback);
  const Quat turn = a_pose().rotation;
  const int fixed_to = a_ ? 2 : 0;  // the axes turn with a
  if (linear) dJointSetLMotorNumAxes(drive.joint, axes);
  else dJointSetAMotorNumAxes(drive.joint, axes);
  for (int i = 0; i < axes; ++i) {
    Vec3 axis;
    axis[axes == 1 ? 2 : i] = 1;
    axis = turn * axis;
    if (linear) dJointSetLMotorAxis(drive.joint, i, fixed_to, axis.x, axis.y, axis.z);
    else dJointSetAMotorAxis(drive.joint, i, fixed_to, axis.x, axis.y, axis.z);
  }
}

void Joint::prepare(double step, double position, const MotorCommand& motor, DockLatch& latch) {
  step_ = step;
  axes_ = a_pose();
  b_centre_ = from_ode(dBodyGetPosition(b_));
  held_ = {};
  for (Drive* drive : drives()) drive->feedback = {};
  if (motor_.joint) {
    set_motor(position, motor);
    set_limits(position, speed());
  }
  if (desc_.type == JointType::dock) pull(latch);
}

void Joint::set_motor(double position, const MotorCommand& motor) {
  if (motor.control == Control::off) return motor_.set(0, 0, 0, 0);
  if (motor.control == Control::torque) {
    // A speed that is never reached: the row stays at its bound, which is the torque.
    const double torque = clamp(motor.target, -motor.max_torque, motor.max_torque);
    return motor_.set(0, std::copysign(1e9, torque), std::fabs(torque), 0);
  }
  double kd = motor.kd, velocity = motor.target;
  if (motor.control == Control::position) {
    const double error = motor.target - position;
    // Faster than 1/step would overshoot within a step. Without kd it is a bare spring, taken
    // at the end of the step: kp (error - step qdot).
    const double rate = kd > 0 ? std::min(motor.kp / kd, 1 / step_) : 1 / step_;
    if (!(kd > 0)) kd = motor.kp * step_;
    velocity = clamp(rate * error, -motor.max_velocity, motor.max_velocity);
  }
  if (!(kd > 0)) return motor_.set(0, 0, 0, 0);
  motor_.set(0, velocity, motor.max_torque, 1 / kd);
}

double Joint::speed() const {
  const auto velocity_at = [&](dBodyID body, const Vec3& point) {
    const Vec3 v = from_ode(dBodyGetLinearVel(body)), w = from_ode(dBodyGetAngularVel(body));
    return linear() ? v + cross(w, point - from_ode(dBodyGetPosition(body))) : w;
  };
  const Vec3 point = b_pose().position;
  return dot(axes_.rotation * Vec3{0, 0, 1}, velocity_at(b_, point) - (a_ ? velocity_at(a_, point) : Vec3{}));
}

// A limit has a row before it is reached: the row lets the joint move up to it in this substep. ODE corrects a stop by
// stop_erp / step times the overshoot, so a stop that is passed by the remaining distance, with stop_erp = -1, is that
// row.
void Joint::set_limits(double position, double speed) {
  const double reach = 0.05 + 4 * step_ * std::fabs(speed);
  const double above = desc_.upper - position, below = position - desc_.lower;
  const bool high = above < reach && above <= below, low = below < reach && !high;
  const double gap = high ? above : below;
  const double share = gap > 0 ? -1 : error_reduction;
  const auto set = [&](dJointID joint, auto set_parameter, double now) {
    set_parameter(joint, dParamStopERP, share);
    // ODE tests whether the stop is reached or passed: the distance is |gap| on either side.
    set_parameter(joint, dParamLoStop, low ? now + std::fabs(gap) : -dInfinity);
    set_parameter(joint, dParamHiStop, high ? now - std::fabs(gap) : dInfinity);
  };
  if (linear()) return set(holder_, dJointSetSliderParam, dJointGetSliderPosition(holder_));
  if (!limit_.joint) return;
  dJointSetAMotorAngle(limit_.joint, 0, 0);
  set(limit_.joint, dJointSetAMotorParam, 0);
}

// ODE's linear motors act half way between the two centres of mass (at b's, if a is the world): converts the velocity
// of frame_b's origin to that point.
void Joint::pull(DockLatch& latch) {
  if (latch.closed()) {
    for (int i = 0; i < 3; ++i) pull_.set(i, 0, 0, 0), turn_.set(i, 0, 0, 0);
    return dJointEnable(holder_);
  }
  dJointDisable(holder_);
  const Pose b = b_pose(), now = axes_.inverse() * b, target = latch.target();
  const double back = error_reduction / step_;
  const Twist rate = latch.rate(step_);
  const Vec3 turning = rate.angular + rotation_vector(target.rotation * now.rotation.conjugate()) * back;
  const Vec3 acts_at = a_ ? (b_centre_ + from_ode(dBodyGetPosition(a_))) / 2 : b_centre_;
  const Vec3 arm = axes_.rotation.conjugate() * (acts_at - b.position);
  const Vec3 moving = rate.linear + (target.position - now.position) * back + cross(turning, arm);
  for (int i = 0; i < 3; ++i) pull_.set(i, moving[i], no_limit, 0), turn_.set(i, turning[i], no_limit, 0);
  latch.advance(step_);
}

double Joint::motor_torque() const {
  if (!motor_.joint) return 0;
  const Vec3 axis = axes_.rotation * Vec3{0, 0, 1};
  return dot(axis, from_ode(linear() ? motor_.feedback.f1 : motor_.feedback.t1));
}

Wrench Joint::load_on_b() const {
  Vec3 force = from_ode(held_.f1), torque = from_ode(held_.t1);
  for (const Drive* drive : {&motor_, &friction_, &damping_, &limit_, &pull_, &turn_}) {
    force += from_ode(drive->feedback.f1);
    torque += from_ode(drive->feedback.t1);
  }
  const Quat to_a = axes_.rotation.conjugate();
  return {to_a * force, to_a * (torque + cross(b_centre_ - axes_.position, force))};
}

double Joint::position_after(double previous) const {
  if (!motor_.joint) return 0;
  const Pose a = a_pose(), b = b_pose();
  if (!linear()) return unwrapped_angle(a.rotation.conjugate() * b.rotation, previous);
  return dot(a.rotation * Vec3{0, 0, 1}, b.position - a.position);
}

}  // namespace volvox::physics::ode
