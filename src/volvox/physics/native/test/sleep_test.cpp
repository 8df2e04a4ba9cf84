// What lies still sleeps, bears its loads meanwhile, and wakes when it should.
#include "volvox/physics/native/test/scenes.h"

namespace volvox::physics::native {
namespace {

// A box on the ground that has come to rest and fallen asleep: its velocity is exactly zero.
BodyId sleeping_box(Bench& bench, const Vec3& at) {
  const BodyId id = bench.add(box(0.5, {0.1, 0.1, 0.1}, {at, {}}));
  bench.run(2);
  EXPECT_EQ(bench.velocity(id).linear, Vec3{});
  EXPECT_EQ(bench.velocity(id).angular, Vec3{});
  return id;
}

}  // namespace

TEST(Sleep, resting_box_sleeps_and_wakes_when_it_is_hit) {
  Bench bench;
  bench.add(ground());
  const BodyId sleeper = sleeping_box(bench, {0, 0, 0.05});
  const Pose before = bench.pose(sleeper);
  bench.run(1);
  EXPECT_EQ(bench.pose(sleeper), before);
  BodyDesc bullet = box(0.5, {0.1, 0.1, 0.1}, {{-0.3, 0, 0.051}, {}});
  bullet.velocity.linear = {2, 0, 0};
  bench.add(bullet);
  bench.run(0.5);
  EXPECT_GT(bench.pose(sleeper).position.x, 0.01);
}

TEST(Sleep, a_force_wakes) {
  Bench bench;
  bench.add(ground());
  const BodyId sleeper = sleeping_box(bench, {0, 0, 0.05});
  for (int i = 0; i < 30; ++i) {
    bench->forces()[sleeper.index].force = {6, 0, 0};
    ASSERT_TRUE(bench.tick().ok());
  }
  EXPECT_GT(bench.pose(sleeper).position.x, 0.05);
}

TEST(Sleep, taking_away_the_ground_wakes) {
  Bench bench;
  const BodyId floor = bench.add(ground());
  const BodyId sleeper = sleeping_box(bench, {0, 0, 0.05});
  bench->remove_body(floor);
  bench.run(0.5);
  EXPECT_LT(bench.pose(sleeper).position.z, -0.5);
}

TEST(Sleep, what_stands_on_a_body_that_goes_wakes) {
  Bench bench;
  bench.add(ground());
  const BodyId lower = bench.add(box(0.5, {0.1, 0.1, 0.1}, {{0, 0, 0.05}, {}}));
  const BodyId upper = sleeping_box(bench, {0, 0, 0.15});
  bench->remove_body(lower);
  bench.run(0.5);
  EXPECT_NEAR(bench.pose(upper).position.z, 0.05, 1e-3);
}

TEST(Sleep, arm_that_holds_its_load_sleeps_and_a_command_wakes_it) {
  Bench bench;
  const Pose pose{{0.1, 0, 1}, {}};
  const BodyId arm = bench.add(box(0.5, {0.2, 0.05, 0.05}, pose));
  const JointId hinge = bench->add_joint(joint_at(JointType::revolute, {}, {}, arm, pose, {0, 0, 1}, {0, -1, 0}));
  bench->motors()[hinge.index] = {Control::position, 0, 400, 20, 3, 10};
  bench.run(3);
  EXPECT_EQ(bench.velocity(arm).angular, Vec3{});
  const double moment = 0.5 * 9.81 * 0.1;
  EXPECT_NEAR(bench->loads()[hinge.index].torque.z, moment, 0.01 * moment);
  EXPECT_NEAR(bench->joints()[hinge.index].torque, moment, 0.01 * moment);
  bench->motors()[hinge.index].target = 0.5;
  bench.run(2);
  EXPECT_NEAR(bench->joints()[hinge.index].position, 0.5, 0.01);
}

TEST(Sleep, slow_motion_without_support_goes_on) {
  Bench bench({.gravity = {}});
  BodyDesc drifting = box(1, {0.1, 0.1, 0.1}, {});
  drifting.velocity.linear = {1e-3, 0, 0};
  const BodyId id = bench.add(drifting);
  bench.run(5);
  EXPECT_NEAR(bench.pose(id).position.x, 5e-3, 1e-8);
}

TEST(Sleep, slow_motor_goes_on) {
  Bench bench({.gravity = {}});
  const BodyId wheel = bench.add(box(1, {0.1, 0.1, 0.1}, {}));
  const JointId hinge = bench->add_joint(joint_at(JointType::revolute, {}, {}, wheel, {}, {}));
  bench->motors()[hinge.index] = {Control::velocity, 1e-3, 0, 10};
  bench.run(5);
  EXPECT_NEAR(bench->joints()[hinge.index].position, 5e-3, 1e-5);
}

}  // namespace volvox::physics::native
