// The native engine against solutions that are known: in closed form, or from a reference
// integrated to rounding.
#include <array>
#include <cmath>

#include "volvox/physics/native/test/scenes.h"

namespace volvox::physics::native {
namespace {

constexpr double g = 9.81;

// Two equal rods of length l, mass m and moment of inertia m l^2 / 12, hinged end to end,
// both angles from straight down. State: the angles and their rates.
using Angles = std::array<double, 4>;

Angles rate_of(const Angles& s, double l) {
  const double d = s[0] - s[1], c = std::cos(d), w = std::sin(d);
  // [4/3, c/2; c/2, 1/3] theta'' = right-hand side, per m l^2.
  const double p = -0.5 * w * s[3] * s[3] - 1.5 * g / l * std::sin(s[0]);
  const double q = 0.5 * w * s[2] * s[2] - 0.5 * g / l * std::sin(s[1]);
  const double a = 4.0 / 3, b = 0.5 * c, e = 1.0 / 3, det = a * e - b * b;
  return {s[2], s[3], (e * p - b * q) / det, (a * q - b * p) / det};
}

Angles double_pendulum(Angles s, double l, double time) {
  const int steps = 200000;
  const double h = time / steps;
  const auto plus = [](const Angles& x, const Angles& k, double f) {
    return Angles{x[0] + f * k[0], x[1] + f * k[1], x[2] + f * k[2], x[3] + f * k[3]};
  };
  for (int i = 0; i < steps; ++i) {
    const Angles k1 = rate_of(s, l), k2 = rate_of(plus(s, k1, h / 2), l), k3 = rate_of(plus(s, k2, h / 2), l),
                 k4 = rate_of(plus(s, k3, h), l);
    for (std::size_t j = 0; j < 4; ++j) s[j] += h / 6 * (k1[j] + 2 * k2[j] + 2 * k3[j] + k4[j]);
  }
  return s;
}

// The worst angle error of the engine after a time, for a longest substep.
double double_pendulum_error(double substep, double time) {
  const double l = 0.5;
  const Angles start{1.2, 2.0, 0, 0};
  Bench bench({.max_substep = substep});
  const auto turn = [](double angle) { return Quat::axis_angle({0, -1, 0}, angle); };
  const auto along = [&](double angle) { return turn(angle) * Vec3{0, 0, -1}; };
  const Pose first{along(start[0]) * (l / 2), turn(start[0])};
  const Vec3 elbow = along(start[0]) * l;
  const Pose second{elbow + along(start[1]) * (l / 2), turn(start[1])};
  const BodyId a = bench.add(box(1, {1e-6, 1e-6, l}, first)), b = bench.add(box(1, {1e-6, 1e-6, l}, second));
  const auto hinge = [&](BodyId from, const Pose& from_pose, BodyId to, const Pose& to_pose, const Vec3& at) {
    bench->add_joint(joint_at(JointType::revolute, from, from_pose, to, to_pose, at, {0, -1, 0}));
  };
  hinge({}, {}, a, first, {});
  hinge(a, first, b, second, elbow);
  bench.run(time);
  const Angles expected = double_pendulum(start, l, time);
  const auto angle_of = [&](BodyId id) {
    const Vec3 down = bench.pose(id).rotation * Vec3{0, 0, -1};
    return std::atan2(down.x, -down.z);
  };
  const auto difference = [](double x, double y) { return std::fabs(std::remainder(x - y, 2 * pi)); };
  return std::max(difference(angle_of(a), expected[0]), difference(angle_of(b), expected[1]));
}

}  // namespace

TEST(ClosedForms, double_pendulum_follows_its_equations) {
  const double coarse = double_pendulum_error(1.0 / 240, 1), fine = double_pendulum_error(1.0 / 960, 1);
  EXPECT_LT(coarse, 0.05);
  EXPECT_LT(fine, 0.5 * coarse) << "it must converge";
  EXPECT_LT(fine, 0.012);
}

TEST(ClosedForms, tennis_racket_keeps_energy_and_momentum) {
  Bench bench({.gravity = {}});
  BodyDesc racket = box(1, {0.1, 0.2, 0.35}, {});
  racket.velocity.angular = {0.01, 8, 0.01};  // about the middle axis
  const BodyId id = bench.add(racket);
  const auto spin = [&] {
    const Quat q = bench.pose(id).rotation;
    return q * multiply(racket.moments, q.conjugate() * bench.velocity(id).angular);
  };
  const Vec3 momentum = spin();
  // In floats it is 5.5e-8 after 20 s.
  const double tolerance = bench->info().precision == Precision::mixed ? 2e-7 : 1e-9;
  const double energy = dot(momentum, racket.velocity.angular);
  double lowest = 1;
  int flips = 0;
  for (int i = 0; i < 1200; ++i) {
    ASSERT_TRUE(bench.tick().ok());
    const double upright = dot(bench.pose(id).rotation * Vec3{0, 1, 0}, Vec3{0, 1, 0});
    if (upright * lowest < 0 && std::fabs(upright) > 0.9) ++flips, lowest = upright;
    EXPECT_LT(length(spin() - momentum), tolerance * length(momentum));
    EXPECT_NEAR(dot(spin(), bench.velocity(id).angular), energy, 2e-3 * energy);
  }
  EXPECT_GE(flips, 2);
}

// About its longest axis a body turns on for ever; about the middle one it flips, and comes back.
TEST(ClosedForms, fast_spin_keeps_its_energy) {
  for (const Vec3& turning : {Vec3{0.01, 0.01, 60}, Vec3{0.5, 0.5, 60}, Vec3{0, 60, 0.001}}) {
    Bench bench({.gravity = {}});
    BodyDesc racket = box(1, {0.1, 0.1, 0.1}, {});
    racket.moments = {0.01, 0.02, 0.028};
    racket.velocity.angular = turning;
    const BodyId id = bench.add(racket);
    const double energy = dot(turning, multiply(racket.moments, turning)) / 2;
    bench.run(20);
    const Vec3 w = bench.pose(id).rotation.conjugate() * bench.velocity(id).angular;
    EXPECT_NEAR(dot(w, multiply(racket.moments, w)) / 2, energy, 3e-3 * energy)
        << turning.y << " rad/s about the middle axis";
  }
}

// Twelve links on hinges askew, thrown into space with their joints free.
TEST(ClosedForms, free_chain_keeps_momentum_and_energy_for_a_minute) {
  Bench bench({.gravity = {}});
  const Vec3 size{0.1, 0.05, 0.05};
  std::vector<BodyId> bodies;
  std::vector<BodyDesc> descs;
  for (int i = 0; i < 12; ++i) {
    BodyDesc link = box(0.2, size, {{0.1 * i, 0, 0}, {}});
    link.geometry = nullptr;
    link.velocity = {{0, 0.3 * std::sin(i), 0.2 * std::cos(2 * i)}, {0.5 * std::cos(i), 0.3, 0.8 * std::sin(i)}};
    bodies.push_back(bench.add(link));
    descs.push_back(link);
    if (i == 0) continue;
    const Vec3 axes[3] = {{0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
    const std::size_t k = static_cast<std::size_t>(i);
    bench->add_joint(joint_at(JointType::revolute, bodies[k - 1], descs[k - 1].pose, bodies[k], link.pose,
                              {0.1 * i - 0.05, 0, 0}, axes[i % 3]));
  }
  struct Totals {
    Vec3 momentum, angular;
    double energy = 0;
  };
  const auto totals = [&] {
    Totals sum;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const Twist v = bench.velocity(bodies[i]);
      const Quat q = bench.pose(bodies[i]).rotation;
      const Vec3 p = v.linear * descs[i].mass, spin = q * multiply(descs[i].moments, q.conjugate() * v.angular);
      sum.momentum += p;
      sum.angular += spin + cross(bench.pose(bodies[i]).position, p);
      sum.energy += 0.5 * (dot(p, v.linear) + dot(spin, v.angular));
    }
    return sum;
  };
  bench.run(0.1);  // the joints take up what the links were thrown with
  const Totals before = totals();
  bench.run(60);
  const Totals after = totals();
  EXPECT_LT(length(after.momentum - before.momentum), 1e-9);
  EXPECT_LT(length(after.angular - before.angular), 1e-6 * length(before.angular));
  EXPECT_NEAR(after.energy, before.energy, 0.02 * before.energy);
  RecordProperty("energy_drift", std::to_string(after.energy / before.energy - 1));
}

TEST(ClosedForms, sliding_block_stops_after_v2_over_2_mu_g) {
  Bench bench;
  bench.add(ground());
  BodyDesc block = box(2, {0.3, 0.3, 0.04}, {{0, 0, 0.02}, {}});
  block.velocity.linear = {1.5, -1.0, 0};
  const BodyId id = bench.add(block);
  bench.run(2);
  // First order in the substep: the first half of one is lost.
  const double speed = std::hypot(1.5, 1.0), expected = speed * speed / (2 * 0.7 * g) - speed / 480;
  EXPECT_NEAR(std::hypot(bench.pose(id).position.x, bench.pose(id).position.y), expected, 0.002 * expected);
}

// Cubes docked in a row along x, the first of them to a wall.
struct Beam {
  static constexpr double size = 0.1, mass = 0.4;
  std::vector<JointId> docks;
  BodyId last;
  Pose last_pose;
  Beam(Bench& bench, int count) {
    for (int i = 0; i < count; ++i) {
      const Pose pose{{size * (i + 0.5), 0, 1}, {}};
      const BodyId id = bench.add(box(mass, {size, size, size}, pose));
      docks.push_back(bench->add_joint(joint_at(JointType::dock, last, last_pose, id, pose, {size * i, 0, 1})));
      last = id, last_pose = pose;
    }
  }
};

// Ten modules docked to a wall: shear and bending moment in every section, by hand.
TEST(ClosedForms, beam_of_docked_modules_bears_what_statics_says) {
  Bench bench;
  const int count = 10;
  const Beam beam(bench, count);
  bench.run(2);
  for (int i = 0; i < count; ++i) {
    const double beyond = count - i, weight = beyond * Beam::mass * g, moment = weight * beyond * Beam::size / 2;
    const Wrench load = bench->loads()[beam.docks[static_cast<std::size_t>(i)].index];
    EXPECT_NEAR(load.force.z, weight, 0.001 * weight) << "section " << i;
    EXPECT_NEAR(load.torque.y, -moment, 0.001 * moment) << "section " << i;
    EXPECT_NEAR(load.force.x, 0, 0.001 * weight);
    EXPECT_NEAR(load.torque.x, 0, 0.001 * moment);
  }
}

// A beam between two walls cannot be a tree. By symmetry each wall bears half.
TEST(ClosedForms, beam_between_two_walls_shares_its_weight) {
  Bench bench;
  const int count = 8;
  const Beam beam(bench, count);
  std::vector<JointId> docks = beam.docks;
  docks.push_back(
      bench->add_joint(joint_at(JointType::dock, {}, {}, beam.last, beam.last_pose, {Beam::size * count, 0, 1})));
  bench.run(2);
  const double half = count * Beam::mass * g / 2;
  EXPECT_NEAR(bench->loads()[docks.front().index].force.z, half, 0.01 * half);
  EXPECT_NEAR(bench->loads()[docks.back().index].force.z, half, 0.01 * half);
  // In the middle there is no shear between the two halves.
  EXPECT_NEAR(bench->loads()[docks[count / 2].index].force.z, 0, 0.01 * half);
}

}  // namespace volvox::physics::native
