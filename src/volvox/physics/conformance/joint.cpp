// Joints: free axes, constrained axes, limits, damping and friction.
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/physics/conformance/suite.h"

namespace volvox::physics::conformance {
namespace {

const Quat z_along_y = Quat::between({0, 0, 1}, {0, 1, 0});

// A bob on a hinge about y at the origin, `length` below it.
JointDesc pendulum_joint(BodyId bob, double length) {
  JointDesc joint;
  joint.b = bob;
  joint.frame_a.rotation = z_along_y;
  joint.frame_b = {{0, 0, length}, z_along_y};
  return joint;
}

// The pose of the bob at an angle of the hinge.
Pose pendulum_pose(double length, double angle) {
  const Quat q = Quat::axis_angle({0, 1, 0}, angle);
  return {q * Vec3{0, 0, -length}, q};
}

// The period of a pendulum of any amplitude, by the arithmetic-geometric mean.
double pendulum_period(double inertia, double mass, double length, double g, double swing) {
  double a = 1, b = std::cos(swing / 2);
  for (int i = 0; i < 30; ++i) {
    const double mean = (a + b) / 2;
    b = std::sqrt(a * b);
    a = mean;
  }
  return 2 * pi * std::sqrt(inertia / (mass * g * length)) / a;
}

}  // namespace

TEST_P(Conformance, pendulum_has_the_right_period) {
  VOLVOX_NEEDS_MOTION();
  for (const double swing : {0.05, 2.0}) {
    make_engine({});
    const double length = 0.5, mass = 0.8;
    Solid bob{model::Box{{0.1, 0.1, 0.1}}, mass};
    bob.pose = pendulum_pose(length, swing);
    const BodyId body = add(bob);
    const JointId hinge = engine().add_joint(pendulum_joint(body, length));
    EXPECT_NEAR(joint(hinge).position, swing, 1e-9);
    const double inertia = desc(body).moments.y + mass * length * length;
    std::vector<double> crossings;
    double last = swing, most = swing;
    run(10, [&](double t) {
      const double now = joint(hinge).position;
      if (last > 0 && now <= 0) crossings.push_back(t - now / (now - last) / 60);
      most = std::max(most, std::fabs(now));
      last = now;
    });
    ASSERT_GE(crossings.size(), 3u);
    const double period = (crossings.back() - crossings.front()) / real(crossings.size() - 1);
    const double expected = pendulum_period(inertia, mass, length, g, swing);
    EXPECT_NEAR(period, expected, tolerance("period") * expected) << "swing " << swing;
    EXPECT_LT(1 - std::cos(most), (1 - std::cos(swing)) * (1 + tolerance("swing_energy"))) << "it gains energy";
    double late = 0;
    run(2.5, [&](double) { late = std::max(late, std::fabs(joint(hinge).position)); });
    EXPECT_GT(1 - std::cos(late), (1 - std::cos(swing)) * (1 - tolerance("swing_energy"))) << "it loses energy";
  }
}

TEST_P(Conformance, ball_joint_swings_in_a_circle) {
  VOLVOX_NEEDS_MOTION();
  const double length = 0.5, tilt = 0.6;
  BodyDesc bob = describe({model::Sphere{0.02}, 0.5});
  bob.pose.position = {length * std::sin(tilt), 0, -length * std::cos(tilt)};
  const double rate = std::sqrt(g / (length * std::cos(tilt)));
  bob.velocity.linear = {0, rate * length * std::sin(tilt), 0};
  bob.velocity.angular = {0, 0, rate};
  bob.moments = {5e-4, 5e-4, 5e-4};  // the same about every axis: it does not precess
  const BodyId body = add(bob);
  JointDesc joint;
  joint.type = JointType::ball;
  joint.b = body;
  joint.frame_b.position = -bob.pose.position;
  engine().add_joint(joint);
  run(5, [&](double) {
    EXPECT_NEAR(volvox::length(pose(body).position), length, tolerance("swing_gap_m"));
    EXPECT_NEAR(pose(body).position.z, -length * std::cos(tilt), 0.01);
  });
}

TEST_P(Conformance, fixed_joint_is_rigid) {
  VOLVOX_NEEDS_MOTION();
  const BodyId a = add({model::Box{{0.1, 0.1, 0.1}}, 1, {}, {{1, 0, 5}, {3, 2, 1}}});
  JointDesc weld;
  weld.type = JointType::fixed;
  weld.a = a;
  weld.frame_a = {{0.06, 0, 0}, Quat::rpy(0.1, 0.2, 0.3)};
  weld.frame_b = {{-0.06, 0.01, 0}, Quat::rpy(0, 0.4, 0)};
  const Pose place = weld.frame_a * weld.frame_b.inverse();
  weld.b = add({model::Box{{0.1, 0.1, 0.1}}, 0.5, place, {{1, 0, 5}, {3, 2, 1}}});
  engine().add_joint(weld);
  run(2, [&](double t) {
    if (t < 0.1) return;  // the initial velocities are not those of one rigid body
    EXPECT_LT(length(relative(weld).position), tolerance("swing_gap_m"));
    EXPECT_LT(angle(relative(weld).rotation), 5e-3);
  });
}

TEST_P(Conformance, prismatic_joint_slides_only_along_its_axis) {
  VOLVOX_NEEDS_MOTION();
  const double slope = 0.5;
  const Quat along = Quat::axis_angle({0, 1, 0}, pi / 2 + slope);  // z points down the slope
  const BodyId block = add({model::Box{{0.1, 0.1, 0.1}}, 2, {{0.5, 0, 2}, {}}});
  JointDesc slide;
  slide.type = JointType::prismatic;
  slide.b = block;
  slide.frame_a = {{0.5, 0, 2}, along};
  slide.frame_b = {{}, along};
  const JointId id = engine().add_joint(slide);
  run(1);
  EXPECT_NEAR(joint(id).velocity, g * std::sin(slope), 1e-3);
  EXPECT_NEAR(joint(id).position, g * std::sin(slope) / 2, tolerance("slide_position_m"));
  EXPECT_LT(std::hypot(relative(slide).position.x, relative(slide).position.y), tolerance("joint_gap_m"));
  EXPECT_LT(angle(relative(slide).rotation), tolerance("joint_tip_rad"));
}

class Flywheel : public Conformance {
 protected:
  static constexpr double inertia = 0.02;
  // A wheel on a hinge to the world, without gravity; its axis is not along a world axis.
  JointId add_wheel(JointDesc joint, double speed = 0) {
    make_engine({.gravity = {}});
    BodyDesc wheel = describe({model::Cylinder{0.2, 0.05}, 1});
    wheel.moments = {0.015, 0.015, inertia};
    wheel.pose.rotation = Quat::rpy(0.4, -0.3, 0.2);
    wheel.velocity.angular = wheel.pose.rotation * Vec3{0, 0, speed};
    joint.b = add(wheel);
    joint.frame_a = wheel.pose;
    return engine().add_joint(joint);
  }
};

VOLVOX_FOR_EVERY_ENGINE(Flywheel);

TEST_P(Flywheel, free_hinge_runs_on_and_counts_its_turns) {
  VOLVOX_NEEDS_MOTION();
  const JointId hinge = add_wheel({}, 20);
  run(3);
  EXPECT_NEAR(joint(hinge).velocity, 20, 1e-6);
  EXPECT_NEAR(joint(hinge).position, 60, 1e-3);
}

TEST_P(Flywheel, coulomb_friction_slows_it_evenly_and_holds_it) {
  VOLVOX_NEEDS_MOTION();
  JointDesc rubbing;
  rubbing.friction = 0.1;
  const JointId hinge = add_wheel(rubbing, 10);
  run(1);
  EXPECT_NEAR(joint(hinge).velocity, 10 - 0.1 / inertia, tolerance("friction_deceleration") * 10);
  EXPECT_NEAR(joint(hinge).torque, 0, 1e-9) << "friction is not the motor's torque";
  run(1.5);
  EXPECT_NEAR(joint(hinge).velocity, 0, 1e-6);
  EXPECT_NEAR(joint(hinge).position, 10, 10 * 0.01);  // v^2 / 2a
  const double held = joint(hinge).position;
  for (int i = 0; i < 60; ++i) {
    engine().motors()[hinge.index] = {Control::torque, 0.09};  // less than the friction
    EXPECT_TRUE(tick().ok());
  }
  EXPECT_NEAR(joint(hinge).position, held, 1e-4);
}

TEST_P(Flywheel, viscous_friction_slows_it_exponentially) {
  VOLVOX_NEEDS_MOTION();
  JointDesc syrup;
  syrup.damping = 0.02;
  const JointId hinge = add_wheel(syrup, 10);
  run(1);
  EXPECT_NEAR(joint(hinge).velocity, 10 * std::exp(-0.02 / inertia), tolerance("friction_deceleration") * 10);
}

TEST_P(Flywheel, limits_hold_against_a_torque) {
  VOLVOX_NEEDS_MOTION();
  JointDesc limited;
  limited.lower = -0.7, limited.upper = 0.4;
  const JointId hinge = add_wheel(limited);
  for (const double torque : {2.0, -2.0}) {
    engine().motors()[hinge.index] = {Control::torque, torque};
    run(1, [&](double) {
      EXPECT_LT(joint(hinge).position, 0.4 + tolerance("limit"));
      EXPECT_GT(joint(hinge).position, -0.7 - tolerance("limit"));
    });
    EXPECT_NEAR(joint(hinge).position, torque > 0 ? 0.4 : -0.7, tolerance("limit"));
    EXPECT_NEAR(joint(hinge).velocity, 0, 1e-3);
    EXPECT_NEAR(joint(hinge).torque, torque, 1e-6);
  }
}

TEST_P(Flywheel, limits_stop_a_fast_wheel) {
  VOLVOX_NEEDS_MOTION();
  JointDesc limited;
  limited.upper = 1;
  const JointId hinge = add_wheel(limited, 30);
  run(0.5, [&](double) { EXPECT_LT(joint(hinge).position, 1 + 10 * tolerance("limit")); });
  EXPECT_GT(joint(hinge).position, 0.5);
}

}  // namespace volvox::physics::conformance
