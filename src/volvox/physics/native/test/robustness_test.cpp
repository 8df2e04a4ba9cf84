// Scenes that break engines: they must stand, hold and say what went wrong.
#include <cmath>
#include <limits>
#include <random>

#include "volvox/physics/native/test/scenes.h"

namespace volvox::physics::native {

TEST(Robustness, heavy_body_rests_on_a_light_one) {
  Bench bench;
  bench.add(ground());
  const BodyId light = bench.add(box(0.1, {0.1, 0.1, 0.1}, {{0, 0, 0.05}, {}}));
  const BodyId heavy = bench.add(box(100, {0.1, 0.1, 0.1}, {{0, 0, 0.15}, {}}));
  bench.run(3);
  EXPECT_NEAR(bench.pose(light).position.z, 0.05, 1e-3);
  EXPECT_NEAR(bench.pose(heavy).position.z, 0.15, 2e-3);
  EXPECT_LT(std::hypot(bench.pose(heavy).position.x, bench.pose(heavy).position.y), 5e-3);
}

TEST(Robustness, heavy_body_hangs_on_a_chain_of_light_ones) {
  Bench bench;
  std::vector<JointDesc> joints;
  BodyId last;
  Pose last_pose;
  for (int i = 0; i < 12; ++i) {
    const Pose pose{{0.1 * (i + 0.5), 0, 2}, {}};  // falls from level
    const BodyId id = bench.add(box(i == 11 ? 50 : 0.05, {0.1, 0.02, 0.02}, pose));
    joints.push_back(joint_at(JointType::ball, last, last_pose, id, pose, {0.1 * i, 0, 2}));
    bench->add_joint(joints.back());
    last = id, last_pose = pose;
  }
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(bench.tick().ok());
    for (const JointDesc& joint : joints) EXPECT_LT(joint_error(bench, joint).gap, 1e-3);
  }
}

// The blow makes the leg fold faster than anybody expected before it. With a rider the body is in
// a group, without one it is alone with the ground.
TEST(Robustness, landing_does_not_push_a_leg_through_its_limit) {
  for (double lean : {0.04, 0.05, 0.07, 0.1}) {
    for (bool rider : {false, true}) {
      SCOPED_TRACE(testing::Message() << "lean " << lean << (rider ? ", with a rider" : ""));
      Bench bench;
      bench.add(ground());
      model::Material slippery;
      slippery.friction = 0;
      const Pose hull{{0, 0, 0.25}, {}}, hip{{0, 0, 0.2}, Quat::axis_angle({0, 1, 0}, lean)},
          leg = hip * Pose{{0, 0, -0.05}, {}};
      std::vector<BodyDesc> descs{box(20, {0.3, 0.3, 0.1}, hull), box(0.2, {0.004, 0.02, 0.1}, leg, slippery)};
      if (rider) descs.push_back(box(1, {0.1, 0.1, 0.1}, {{0, 0, 0.351}, {}}));
      std::vector<BodyId> ids;
      for (BodyDesc& desc : descs) {
        desc.velocity.linear = {0, 0, -3};
        ids.push_back(bench.add(desc));
      }
      JointDesc joint = joint_at(JointType::revolute, ids[0], hull, ids[1], leg, hip.position, {0, 1, 0});
      joint.lower = -0.2, joint.upper = 0.2;
      const JointId id = bench->add_joint(joint);
      bench->motors()[id.index] = {.control = Control::position, .target = 0, .kp = 50, .kd = 5, .max_torque = 2};
      const auto energy = [&] {
        double sum = 0;
        for (std::size_t i = 0; i < ids.size(); ++i) {
          const Twist v = bench.velocity(ids[i]);
          const Vec3 spin = bench.pose(ids[i]).rotation.conjugate() * v.angular;
          sum += descs[i].mass * (dot(v.linear, v.linear) / 2 + 9.81 * bench.pose(ids[i]).position.z) +
                 dot(spin, multiply(descs[i].moments, spin)) / 2;
        }
        return sum;
      };
      double before = energy();
      for (int i = 0; i < 60; ++i) {
        ASSERT_TRUE(bench.tick().ok());
        EXPECT_NEAR(bench->joints()[id.index].position, 0, 0.21) << "tick " << i;
        EXPECT_LT(energy(), before + 0.1) << "J, tick " << i;  // the motor's work is less
        before = energy();
      }
    }
  }
}

// Its hinge lets it neither rise nor sink: it cannot respond to what presses from below, but rubs.
TEST(Robustness, door_that_scrapes_the_ground_stops) {
  Bench bench;
  bench.add(ground());
  const Pose pose{{0.5, 0, 0.5 - 1e-5}, {}};
  BodyDesc door = box(10, {1, 0.05, 1}, pose);
  door.velocity = {{0, 1, 0}, {0, 0, 2}};
  const BodyId id = bench.add(door);
  const JointId hinge = bench->add_joint(joint_at(JointType::revolute, {}, {}, id, pose, {0, 0, 0.5}));
  bench.run(0.5);
  EXPECT_NEAR(bench->joints()[hinge.index].velocity, 0, 1e-3);
}

// What has hardly any inertia responds by turning, wherever it is pressed.
TEST(Robustness, body_with_hardly_any_inertia_stays_on_the_ground) {
  Bench bench;
  bench.add(ground());
  BodyDesc cube = box(1, {0.1, 0.1, 0.1}, {{0, 0, 1}, Quat::axis_angle({1, 0, 0}, 0.2)});
  cube.moments = {3e-6, 3e-6, 3e-6};  // a cube of lead has 1.7e-3
  const BodyId id = bench.add(cube);
  bench.run(3);
  EXPECT_NEAR(bench.pose(id).position.z, 0.05, 2e-3);
}

// Friction holds a joint until something tears it loose, and then takes only what it can.
TEST(Robustness, little_friction_does_not_stiffen_a_joint_that_is_hit) {
  const auto speed_with = [](double friction) {
    Bench bench({.gravity = {}});
    const Pose a{{0, 0, 0}, {}}, b{{0.5, 0, 0}, {}};
    const BodyId x = bench.add(box(1, {0.48, 0.05, 0.05}, a)), y = bench.add(box(1, {0.48, 0.05, 0.05}, b));
    JointDesc joint = joint_at(JointType::revolute, x, a, y, b, {0.25, 0, 0}, {0, 1, 0});
    joint.friction = friction;
    const JointId id = bench->add_joint(joint);
    BodyDesc hammer = box(1, {0.05, 0.05, 0.05}, {{0.7, 0, 0.1}, {}});
    hammer.velocity.linear = {0, 0, -5};
    bench.add(hammer);
    bench.run(0.1);
    return bench->joints()[id.index].velocity;
  };
  EXPECT_NEAR(speed_with(0.001), speed_with(0), 0.01 * speed_with(0));
}

TEST(Robustness, joint_beyond_its_limit_comes_back_slowly) {
  Bench bench({.gravity = {}});
  const Pose a{{0, 0, 0}, {}}, b{{0.1, 0, 0}, {}};
  const BodyId x = bench.add(box(0.5, {0.08, 0.06, 0.05}, a)), y = bench.add(box(0.5, {0.08, 0.06, 0.05}, b));
  JointDesc joint = joint_at(JointType::revolute, x, a, y, b, {0.05, 0, 0}, {0, 1, 0});
  joint.lower = -2, joint.upper = -1.5;
  const JointId id = bench->add_joint(joint);
  for (int i = 0; i < 90; ++i) {
    ASSERT_TRUE(bench.tick().ok());
    EXPECT_LT(std::fabs(bench->joints()[id.index].velocity), 4) << "tick " << i;
  }
  EXPECT_LT(bench->joints()[id.index].position, -1.49);
}

TEST(Robustness, stack_of_twenty_stands) {
  Bench bench;
  bench.add(ground());
  std::vector<BodyId> boxes;
  for (int i = 0; i < 20; ++i) boxes.push_back(bench.add(box(0.5, {0.1, 0.1, 0.1}, {{0, 0, 0.05 + 0.1 * i}, {}})));
  bench.run(5);
  for (int i = 0; i < 20; ++i) {
    const Vec3 p = bench.pose(boxes[static_cast<std::size_t>(i)]).position;
    EXPECT_NEAR(p.z, 0.05 + 0.1 * i, 2e-3) << "box " << i;
    EXPECT_LT(std::hypot(p.x, p.y), 0.02) << "box " << i;
  }
}

TEST(Robustness, thousand_modules_hang_in_a_chain) {
  Bench bench;
  const double size = 0.1, mass = 0.6;
  std::vector<JointDesc> docks;
  std::vector<JointId> ids;
  BodyId last;
  Pose last_pose;
  for (int i = 0; i < 1000; ++i) {
    const Pose pose{{0, 0, -size * (i + 0.5)}, {}};
    const BodyId id = bench.add(box(mass, {size, size, size}, pose));
    docks.push_back(joint_at(i % 4 == 0 ? JointType::revolute : JointType::dock, last, last_pose, id, pose,
                             {0, 0, -size * i}, {0, 1, 0}));
    ids.push_back(bench->add_joint(docks.back()));
    last = id, last_pose = pose;
  }
  bench.run(2);
  for (std::size_t i = 0; i < docks.size(); ++i) {
    const JointError error = joint_error(bench, docks[i]);
    EXPECT_LT(error.gap, 5e-5) << "joint " << i;
    EXPECT_LT(error.tilt, radians(0.05)) << "joint " << i;
    const double below = mass * 9.81 * static_cast<double>(docks.size() - i);
    EXPECT_NEAR(length(bench->loads()[ids[i].index].force), below, 0.01 * below) << "joint " << i;
  }
}

// A wheel of six modules with driven hinges, closed to a ring by docks, that rolls.
TEST(Robustness, closed_ring_holds_while_it_stands_on_the_ground) {
  Bench bench;
  bench.add(ground());
  const int count = 6;
  const double side = 0.2, apothem = side / 2 / std::tan(pi / count);
  std::vector<BodyId> bodies;
  std::vector<Pose> poses;
  for (int i = 0; i < count; ++i) {
    const double angle = 2 * pi * i / count;
    const Quat turn = Quat::axis_angle({0, -1, 0}, angle);
    poses.push_back({Vec3{0, 0, apothem + 0.026} + turn * Vec3{0, 0, -apothem}, turn});
    bodies.push_back(bench.add(box(0.5, {0.18, 0.08, 0.05}, poses.back())));
  }
  std::vector<JointDesc> joints;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t next = (i + 1) % count;
    const Vec3 corner = poses[i] * Vec3{side / 2, 0, 0};
    joints.push_back(joint_at(JointType::revolute, bodies[i], poses[i], bodies[next], poses[next], corner, {0, 1, 0}));
    const JointId id = bench->add_joint(joints.back());
    bench->motors()[id.index] = {Control::position, 0, 100, 5, 3, 20};
  }
  for (int i = 0; i < 240; ++i) {
    ASSERT_TRUE(bench.tick().ok());
    for (const JointDesc& joint : joints) {
      EXPECT_LT(joint_error(bench, joint).gap, 1e-4);
      EXPECT_LT(joint_error(bench, joint).tilt, radians(0.05));
    }
  }
  EXPECT_GT(bench.pose(bodies[3]).position.z, 1.6 * apothem) << "it must not collapse";
}

TEST(Robustness, lattice_of_docks_stands) {
  Bench bench;
  bench.add(ground());
  const int n = 5;
  const double size = 0.1, mass = 0.3;
  std::vector<BodyId> bodies;
  std::vector<Pose> poses;
  for (int k = 0; k < n * n * n; ++k) {
    poses.push_back({{size * (k % n), size * (k / n % n), size * (k / n / n) + 0.0501}, {}});
    bodies.push_back(bench.add(box(mass, {0.098, 0.098, 0.098}, poses.back())));
  }
  std::vector<JointDesc> docks;
  const auto dock = [&](int i, int j) {
    const std::size_t a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
    docks.push_back(joint_at(JointType::dock, bodies[a], poses[a], bodies[b], poses[b],
                             (poses[a].position + poses[b].position) * 0.5));
    bench->add_joint(docks.back());
  };
  for (int k = 0; k < n * n * n; ++k) {
    if (k % n < n - 1) dock(k, k + 1);
    if (k / n % n < n - 1) dock(k, k + n);
    if (k / n / n < n - 1) dock(k, k + n * n);
  }
  bench.run(1.5);
  for (const JointDesc& joint : docks) {
    EXPECT_LT(joint_error(bench, joint).gap, 5e-5);
    EXPECT_LT(joint_error(bench, joint).tilt, radians(0.05));
  }
  for (BodyId id : bodies) EXPECT_LT(length(bench.velocity(id).linear), 5e-3);
}

TEST(Robustness, a_force_that_is_not_a_number_names_its_body) {
  Bench bench;
  bench.add(box(1, {0.1, 0.1, 0.1}, {}));
  const BodyId other = bench.add(box(1, {0.1, 0.1, 0.1}, {{1, 0, 0}, {}}));
  bench->forces()[other.index].force.x = std::numeric_limits<double>::quiet_NaN();
  const StepStatus status = bench.tick();
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.body, other);
}

TEST(Robustness, a_runaway_names_its_body_in_its_step) {
  Bench bench;
  bench.add(box(1, {0.1, 0.1, 0.1}, {}));
  const BodyId other = bench.add(box(1, {0.1, 0.1, 0.1}, {{1, 0, 0}, {}}));
  bench->forces()[other.index].force.x = 1e9;
  const StepStatus status = bench.tick();
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.body, other);
}

// Sixty robots that can hardly bend fall onto each other at 6 m/s.
TEST(Robustness, tight_limits_hold_in_a_heap) {
  for (const std::uint64_t seed : {11, 12, 13}) {
    std::mt19937_64 random(seed);
    const auto number = [&] { return std::uniform_real_distribution<double>(-1, 1)(random); };
    Bench bench;
    bench.add(ground());
    std::vector<JointId> hinges;
    for (int i = 0; i < 60; ++i) {
      const Vec3 at{0.25 * (i % 4), 0.2 * (i / 4 % 3), 0.3 + 0.25 * (i / 12)};
      const Quat turn = normalized(Quat{number(), number(), number(), number()});
      BodyId last;
      Pose last_pose;
      for (int k = 0; k < 4; ++k) {
        const Pose pose{at + turn * Vec3{0.07 * k, 0, 0}, turn};
        BodyDesc desc = box(0.15, {0.06, 0.05, 0.04}, pose);
        desc.owner = static_cast<std::uint32_t>(i + 1), desc.quiet = true;
        desc.velocity.linear = {0, 0, -6};
        const BodyId id = bench.add(desc);
        if (k > 0) {
          const Vec3 axis = turn * (k % 2 == 1 ? Vec3{0, 1, 0} : Vec3{0, 0, 1});
          JointDesc hinge =
              joint_at(JointType::revolute, last, last_pose, id, pose, at + turn * Vec3{0.07 * k - 0.035, 0, 0}, axis);
          hinge.lower = -0.1, hinge.upper = 0.1;
          hinges.push_back(bench->add_joint(hinge));
        }
        last = id, last_pose = pose;
      }
    }
    double overrun = 0;
    for (int i = 0; i < 45; ++i) {
      ASSERT_TRUE(bench.tick().ok());
      for (const JointId hinge : hinges)
        overrun = std::max(overrun, std::fabs(bench->joints()[hinge.index].position) - 0.1);
    }
    EXPECT_LT(overrun, 0.02) << "rad, seed " << seed;
  }
}

// A slide with a motor of endless gain drives its block against a wall.
TEST(Robustness, a_motor_too_stiff_for_contacts_is_named_before_its_body_is_through_the_wall) {
  for (const double gain : {1e6, 1e9, 1e12}) {
    Bench bench({.gravity = {}});
    BodyDesc wall = box(1, {0.1, 1, 1}, {{0.5, 0, 0}, {}});
    wall.motion = Motion::fixed;
    bench.add(wall);
    const BodyId block = bench.add(box(1, {0.1, 0.1, 0.1}, {}));
    const JointId slide = bench->add_joint(joint_at(JointType::prismatic, {}, {}, block, {}, {}, {1, 0, 0}));
    bench->motors()[slide.index] = {Control::velocity, 0.5, 0, gain, 1e300, 1e4};
    StepStatus status;
    for (int i = 0; i < 180 && status.ok(); ++i) status = bench.tick();
    EXPECT_LT(bench.pose(block).position.x, 0.42) << "gain " << gain;
    if (status.ok()) continue;
    EXPECT_EQ(status.body, block);
    EXPECT_NE(status.what.find("motor"), std::string::npos) << status.what;
  }
}

}  // namespace volvox::physics::native
