// Bodies without contacts: gravity, forces, free rotation.
#include <cmath>

#include "volvox/physics/conformance/suite.h"

namespace volvox::physics::conformance {

TEST_P(Conformance, free_fall) {
  VOLVOX_NEEDS_MOTION();
  const BodyId ball = add({model::Sphere{0.1}, 2, {{1, 2, 30}, {}}});
  run(1);
  EXPECT_NEAR(velocity(ball).linear.z, -g, g * tolerance("exact") * 10);
  EXPECT_NEAR(pose(ball).position.z, 30 - g / 2, tolerance("fall_position_m"));
  EXPECT_NEAR(pose(ball).position.x, 1, tolerance("exact"));
  EXPECT_NEAR(pose(ball).position.y, 2, tolerance("exact"));
}

TEST_P(Conformance, projectile) {
  VOLVOX_NEEDS_MOTION();
  const BodyId ball = add({model::Sphere{0.05}, 0.3, {{0, 0, 1}, {}}, {{3, -1, 4}, {}}});
  run(0.8);
  EXPECT_NEAR(pose(ball).position.x, 2.4, 1e-7);  // a tick is rounded to nanoseconds
  EXPECT_NEAR(pose(ball).position.y, -0.8, 1e-7);
  EXPECT_NEAR(pose(ball).position.z, 1 + 3.2 - g * 0.32, tolerance("fall_position_m"));
}

TEST_P(Conformance, gravity_can_be_changed_and_left_out) {
  VOLVOX_NEEDS_MOTION();
  BodyDesc floating = describe({model::Sphere{0.1}, 1, {{5, 0, 0}, {}}});
  floating.gravity = false;
  const BodyId still = add(floating), falls = add({model::Sphere{0.1}});
  engine().set_gravity({1, 0, 0});
  run(1);
  EXPECT_NEAR(velocity(falls).linear.x, 1, 1e-7);
  EXPECT_NEAR(velocity(falls).linear.z, 0, tolerance("exact"));
  EXPECT_EQ(velocity(still).linear, Vec3{});
  engine().set_gravity({0, 0, 0});
  run(0.5);
  EXPECT_NEAR(velocity(falls).linear.x, 1, 1e-7);
}

TEST_P(Conformance, forces_act_for_one_advance_at_the_centre_of_mass) {
  VOLVOX_NEEDS_MOTION();
  make_engine({.gravity = {}});
  BodyDesc desc = describe({model::Box{{0.2, 0.3, 0.4}}, 2});
  desc.inertial.position = {0.1, 0.05, 0};
  const BodyId body = add(desc);
  engine().forces()[body.index] = {{6, 0, 0}, {0, 0, 0.05}};
  EXPECT_TRUE(tick().ok());
  EXPECT_NEAR(velocity(body).linear.x, 6.0 / 2 / 60, 1e-8);
  EXPECT_NEAR(velocity(body).angular.z, 0.05 / desc.moments.z / 60, 1e-6);
  EXPECT_EQ(engine().forces()[body.index], Wrench{});
  const Twist before = velocity(body);
  EXPECT_TRUE(tick().ok());
  EXPECT_NEAR(velocity(body).linear.x, before.linear.x, tolerance("exact"));
  EXPECT_NEAR(velocity(body).angular.z, before.angular.z, tolerance("exact"));
}

TEST_P(Conformance, spinning_body_keeps_its_angular_momentum) {
  VOLVOX_NEEDS_MOTION();
  make_engine({.gravity = {}});
  BodyDesc desc = describe({model::Box{{0.1, 0.2, 0.3}}, 1});
  desc.inertial = {{0.02, -0.01, 0.03}, Quat::rpy(0.3, 0.2, 0.1)};
  desc.velocity.angular = {1, 4, 2.5};
  const BodyId body = add(desc);
  const Totals before = totals({body});
  run(10);
  const Totals after = totals({body});
  EXPECT_LT(length(after.angular - before.angular), tolerance("momentum") * length(before.angular));
  EXPECT_NEAR(after.kinetic, before.kinetic, tolerance("spin_energy") * before.kinetic);
}

// A body that spins about its intermediate axis flips periodically (Dzhanibekov effect, tennis racket theorem).
TEST_P(Conformance, tennis_racket_flips) {
  VOLVOX_NEEDS_MOTION();
  make_engine({.gravity = {}});
  BodyDesc desc = describe({model::Box{{0.1, 0.2, 0.3}}, 1});
  desc.moments = {0.001, 0.002, 0.003};
  desc.velocity.angular = {0.01, 8, 0.01};
  const BodyId body = add(desc);
  int flips = 0;
  bool upright = true;
  run(10, [&](double) {
    const double along = (pose(body).rotation.conjugate() * velocity(body).angular).y;
    if (upright ? along < -4 : along > 4) upright = !upright, ++flips;
  });
  EXPECT_GE(flips, 3);
}

TEST_P(Conformance, spin_about_a_main_axis_stays) {
  VOLVOX_NEEDS_MOTION();
  make_engine({.gravity = {}});
  const BodyId body = add({model::Box{{0.1, 0.2, 0.4}}, 1, {}, {{}, {0, 0, 12}}});
  run(2);
  EXPECT_NEAR(velocity(body).angular.z, 12, 1e-6);
  EXPECT_NEAR(angle(pose(body).rotation), std::fabs(std::remainder(24.0, 2 * pi)), 1e-5);
}

TEST_P(Conformance, kinematic_body_follows_its_velocity) {
  VOLVOX_NEEDS_MOTION();
  Solid platform{model::Box{{1, 1, 0.1}}};
  platform.motion = Motion::kinematic;
  platform.velocity = {{0.5, 0, 0}, {0, 0, 0.5}};
  const BodyId body = add(platform);
  run(1);
  EXPECT_NEAR(pose(body).position.x, 0.5, 1e-6);
  EXPECT_NEAR(angle(pose(body).rotation), 0.5, 1e-6);
  engine().set_body(body, {{0, 0, 3}, {}}, {});
  run(0.5);
  EXPECT_EQ(pose(body).position, (Vec3{0, 0, 3}));
}

}  // namespace volvox::physics::conformance
