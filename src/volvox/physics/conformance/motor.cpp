// Motors: torque = clamp(kd (v - qdot)), in position, velocity and torque control.
#include <cmath>

#include "volvox/physics/conformance/suite.h"

namespace volvox::physics::conformance {

class MotorTest : public Conformance {
 protected:
  static constexpr double inertia = 0.02;

  void SetUp() override {
    Conformance::SetUp();
    make_engine({.gravity = {}});
    BodyDesc wheel = describe({model::Cylinder{0.2, 0.05}, 1});
    wheel.moments = {0.015, 0.015, inertia};
    wheel.pose.rotation = Quat::rpy(0.4, -0.3, 0.2);
    JointDesc hinge;
    wheel_ = hinge.b = add(wheel);
    hinge.frame_a = wheel.pose;
    hinge_ = engine().add_joint(hinge);
  }
  MotorCommand& command() { return engine().motors()[hinge_.index]; }
  JointState state() const { return joint(hinge_); }
  // A torque about the axis from outside, for the next tick.
  void push(double torque) { engine().forces()[wheel_.index].torque = pose(wheel_).rotation * Vec3{0, 0, torque}; }

  BodyId wheel_;
  JointId hinge_;
};

VOLVOX_FOR_EVERY_ENGINE(MotorTest);

TEST_P(MotorTest, position_control_gets_there) {
  VOLVOX_NEEDS_MOTION();
  for (const double target : {1.0, -2.5, 7.0}) {
    command() = {Control::position, target, 20, 2};
    run(3);
    EXPECT_NEAR(state().position, target, tolerance("motor_position"));
    EXPECT_NEAR(state().velocity, 0, 1e-3);
  }
}

// Far from the target a critically damped response is known: I q'' = kp (t - q) - kd q'.
TEST_P(MotorTest, position_control_follows_its_differential_equation) {
  VOLVOX_NEEDS_MOTION();
  const double kd = 0.4, kp = kd * kd / (4 * inertia), rate = kd / (2 * inertia);
  command() = {Control::position, 1, kp, kd};
  run(0.2);
  EXPECT_NEAR(state().position, 1 - (1 + rate * 0.2) * std::exp(-rate * 0.2), 0.02);
}

TEST_P(MotorTest, position_control_keeps_its_speed_limit) {
  VOLVOX_NEEDS_MOTION();
  command() = {Control::position, 3, 40, 4, 0.5};
  run(2, [&](double) { EXPECT_LT(state().velocity, 0.5 * (1 + tolerance("motor_velocity"))); });
  EXPECT_NEAR(state().velocity, 0.5, 0.5 * tolerance("motor_velocity"));
  EXPECT_NEAR(state().position, 1.0, 0.02);
  run(6);
  EXPECT_NEAR(state().position, 3, tolerance("motor_position"));
}

TEST_P(MotorTest, torque_limit_bounds_the_acceleration) {
  VOLVOX_NEEDS_MOTION();
  command() = {Control::position, 10, 100, 10, 1e300, 0.1};
  run(0.5);
  EXPECT_NEAR(state().velocity, 0.1 / inertia * 0.5, 2.5 * tolerance("motor_torque") * 2);
  EXPECT_NEAR(state().torque, 0.1, 0.1 * tolerance("motor_torque"));
}

TEST_P(MotorTest, velocity_control_gets_there_and_yields_to_a_load) {
  VOLVOX_NEEDS_MOTION();
  command() = {Control::velocity, 3, 0, 1};
  run(1);
  EXPECT_NEAR(state().velocity, 3, 3 * tolerance("motor_velocity"));
  EXPECT_NEAR(state().torque, 0, 1e-3);
  for (int i = 0; i < 60; ++i) push(-0.5), tick();
  EXPECT_NEAR(state().velocity, 2.5, 3 * tolerance("motor_velocity"));
  EXPECT_NEAR(state().torque, 0.5, 0.5 * tolerance("motor_torque") * 5);
}

TEST_P(MotorTest, stiff_velocity_control_is_stable) {
  VOLVOX_NEEDS_MOTION();
  command() = {Control::velocity, -4, 0, 1e6};
  EXPECT_TRUE(tick().ok());
  run(0.5, [&](double) { EXPECT_NEAR(state().velocity, -4, 4 * tolerance("motor_velocity")); });
}

TEST_P(MotorTest, stiff_position_control_is_stable) {
  VOLVOX_NEEDS_MOTION();
  command() = {Control::position, 0.5, 1e6, 1e2};
  run(1);
  EXPECT_NEAR(state().position, 0.5, tolerance("motor_position"));
  EXPECT_NEAR(state().velocity, 0, 1e-3);
}

TEST_P(MotorTest, torque_control_accelerates_evenly) {
  VOLVOX_NEEDS_MOTION();
  command() = {Control::torque, 0.05};
  run(1);
  EXPECT_NEAR(state().velocity, 0.05 / inertia, 2.5 * tolerance("motor_torque"));
  EXPECT_NEAR(state().torque, 0.05, 0.05 * tolerance("motor_torque"));
  command() = {Control::torque, -7, 0, 0, 1e300, 0.05};
  run(1);
  EXPECT_NEAR(state().velocity, 0, 2.5 * tolerance("motor_torque") * 2);
  EXPECT_NEAR(state().torque, -0.05, 0.05 * tolerance("motor_torque"));
}

TEST_P(MotorTest, off_is_off) {
  VOLVOX_NEEDS_MOTION();
  command() = {Control::velocity, 3, 0, 1};
  run(0.5);
  command() = {};
  run(0.5);
  EXPECT_NEAR(state().velocity, 3, 3 * tolerance("motor_velocity"));
  EXPECT_EQ(state().torque, 0);
}

// Between two free bodies the motor's torque acts on both: their total angular momentum stays zero.
TEST_P(MotorTest, motor_reacts_on_both_bodies) {
  VOLVOX_NEEDS_MOTION();
  make_engine({.gravity = {}});
  JointDesc hinge;
  hinge.a = add({model::Box{{0.1, 0.1, 0.1}}, 1});
  hinge.b = add({model::Box{{0.1, 0.1, 0.2}}, 0.6, {{0.1, 0, 0.15}, {}}});
  hinge.frame_a.position = {0.05, 0, 0.05};
  hinge.frame_b.position = {-0.05, 0, -0.1};
  const JointId id = engine().add_joint(hinge);
  engine().motors()[id.index] = {Control::velocity, 5, 0, 0.1};
  run(1);
  EXPECT_NEAR(joint(id).velocity, 5, 0.1);
  const Totals sum = totals({hinge.a, hinge.b});
  EXPECT_LT(length(sum.momentum), tolerance("momentum") * sum.scale);
  EXPECT_LT(length(sum.angular), tolerance("momentum") * sum.angular_scale);
}

TEST_P(MotorTest, prismatic_motor_sags_under_a_weight_as_its_spring_says) {
  VOLVOX_NEEDS_MOTION();
  make_engine({});
  JointDesc lift;
  lift.type = JointType::prismatic;
  lift.b = add({model::Box{{0.1, 0.1, 0.1}}, 2});
  const JointId id = engine().add_joint(lift);
  engine().motors()[id.index] = {Control::position, 0.3, 400, 40};
  run(3);
  EXPECT_NEAR(joint(id).position, 0.3 - 2 * g / 400, tolerance("motor_position"));
  EXPECT_NEAR(joint(id).torque, 2 * g, 2 * g * tolerance("load"));
}

// A joint of a robot: two links on the floor, and a motor that is strong enough to move them.
TEST_P(MotorTest, motor_lifts_a_link_against_gravity) {
  VOLVOX_NEEDS_MOTION();
  make_engine({});
  JointDesc hinge;
  hinge.frame_a.rotation = Quat::between({0, 0, 1}, {0, -1, 0});
  hinge.frame_b = {{-0.1, 0, 0}, hinge.frame_a.rotation};
  hinge.b = add({model::Box{{0.2, 0.05, 0.05}}, 0.5, {{0.1, 0, 0}, {}}});
  const JointId id = engine().add_joint(hinge);
  engine().motors()[id.index] = {Control::position, 1.0, 200, 4, 3, 5};
  run(2);
  EXPECT_NEAR(joint(id).position, 1.0 - 0.5 * g * 0.1 * std::cos(1.0) / 200, tolerance("motor_position"));
  EXPECT_GT(pose(hinge.b).position.z, 0.08);
  EXPECT_NEAR(joint(id).torque, 0.5 * g * 0.1 * std::cos(1.0), 0.02 * g * 0.05);
}

// A stiff motor at its torque limit on a light body: a torque that is constant over a whole substep would make the body
// oscillate about its target with growing amplitude.
TEST_P(Conformance, a_stiff_motor_at_its_torque_limit_does_not_chatter) {
  VOLVOX_NEEDS_MOTION();
  make_engine({.gravity = {}});
  constexpr double speed = 6.28, effort = 6.4;
  BodyId last = add({model::Sphere{0.04}, 0.15});
  std::vector<JointId> hinges;
  for (int i = 1; i < 8; ++i) {  // eight small links on hinges of changing direction
    JointDesc hinge;
    hinge.a = last;
    hinge.b = last = add({model::Sphere{0.04}, 0.15, {{0.09 * i, 0, 0}, {}}});
    const Quat turn = i % 3 == 0   ? Quat{}
                      : i % 3 == 1 ? Quat::axis_angle({1, 0, 0}, pi / 2)
                                   : Quat::axis_angle({0, 1, 0}, pi / 2);
    hinge.frame_a = {{0.045, 0, 0}, turn};
    hinge.frame_b = {{-0.045, 0, 0}, turn};
    hinges.push_back(engine().add_joint(hinge));
  }
  run(3, [&](double t) {
    const double target = std::fmod(t, 1.0) < 0.5 ? 0.5 : -0.5;  // a jump: every motor saturates
    for (JointId id : hinges) {
      engine().motors()[id.index] = {Control::position, target, 800, 32, speed, effort};
      EXPECT_LT(std::fabs(joint(id).velocity), 1.5 * speed);
      EXPECT_LT(std::fabs(joint(id).torque), 1.01 * effort);
    }
  });
}

// A light rotor on a heavy one, both free: the motor reaches its speed and stays there.
TEST_P(Conformance, a_stiff_velocity_drive_settles) {
  VOLVOX_NEEDS_MOTION();
  make_engine({.gravity = {}});
  JointDesc hinge;
  hinge.a = add({model::Sphere{0.05}, 0.425});
  hinge.b = add({model::Sphere{0.05}, 0.425, {{0, 0, 0.1}, {}}});
  hinge.frame_a = {{0, 0, 0.05}, {}};
  hinge.frame_b = {{0, 0, -0.05}, {}};
  hinge.friction = 0.05;
  const JointId id = engine().add_joint(hinge);
  engine().motors()[id.index] = {Control::velocity, 1.05, 0, 20, 1.05, 3};
  run(2);
  EXPECT_NEAR(joint(id).velocity, 1.05, 0.01);
  EXPECT_NEAR(joint(id).position, 2.1, 0.05);
}

}  // namespace volvox::physics::conformance
