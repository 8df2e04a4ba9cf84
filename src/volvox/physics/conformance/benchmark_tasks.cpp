// Tasks of a public benchmark (SimBenchmark: rolling, bouncing, 666 and elastic 666), and smaller scenes that show one
// cause of error each. Errors of velocity are mean squares over all steps, as there. What was measured is in the output
// of `physics_conformance --gtest_filter='*BenchmarkTask*' --gtest_output=json:FILE`; docs/decisions/0013 has the
// table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "volvox/base/index.h"
#include "volvox/base/test/shortened.h"
#include "volvox/physics/conformance/suite.h"

namespace volvox::physics::conformance {
namespace {

// How a second is cut into ticks, and these into substeps.
struct Pace {
  TickLength tick;
  double substep;
  double seconds() const { return tick.seconds(); }
};
const Pace fine{{1, 1000}, 0.001}, coarse_ticks{{1, 250}, 0.001}, usual{{1, 60}, 1.0 / 240},
    single{{1, 240}, 1.0 / 240};

std::string named(const Pace& pace) {
  return "ticks of " + std::to_string(pace.seconds()) + " s, substeps of " + std::to_string(pace.substep) + " s";
}

// A measured value, for the output of the tests.
void note(const std::string& what, const Pace& pace, double value) {
  ::testing::Test::RecordProperty(
      fmt::format("{}_{}_by_{}", what, std::lround(1e6 * pace.seconds()), std::lround(1e6 * pace.substep)),
      fmt::format("{:.3g}", value));
}

}  // namespace

class BenchmarkTask : public Conformance {
 protected:
  void start(const Pace& pace, const Vec3& gravity = {0, 0, -g}) {
    make_engine({.gravity = gravity, .max_substep = pace.substep});
    balls_.clear();
  }

  // n x n x n balls of 0.1 m and 10 kg, a little disturbed, the lowest at a height.
  void pile_up(int n, double height, double restitution) {
    add_ground(0, restitution);
    std::mt19937_64 random(42);
    const auto disturbed = [&](double x) { return x + 1e-3 * static_cast<double>(random() >> 11) * 0x1p-53; };
    for (int i = 0; i < n * n * n; ++i) {
      Solid ball{model::Sphere{0.1}, 10};
      const double x = disturbed(0.21 * (i / (n * n))), y = disturbed(0.21 * (i / n % n));
      ball.pose.position = {x, y, disturbed(0.21 * (i % n) + height)};
      ball.material = {0, restitution};
      balls_.push_back(add(ball));
    }
  }
  double energy() const {
    double sum = totals(balls_).kinetic;
    for (BodyId ball : balls_) sum += desc(ball).mass * g * pose(ball).position.z;
    return sum;
  }
  double deepest_overlap() const {
    double deepest = 0;
    for (std::size_t i = 0; i < balls_.size(); ++i) {
      const Vec3 p = pose(balls_[i]).position;
      deepest = std::max(deepest, 0.1 - p.z);
      for (std::size_t j = i + 1; j < balls_.size(); ++j)
        deepest = std::max(deepest, 0.2 - length(p - pose(balls_[j]).position));
    }
    return deepest;
  }

  std::vector<BodyId> balls_;
};

VOLVOX_FOR_EVERY_ENGINE(BenchmarkTask);

// 25 balls lie on a box that is pushed over the floor: they roll back without slipping.
TEST_P(BenchmarkTask, balls_roll_on_a_pushed_box) {
  VOLVOX_NEEDS_MOTION();
  for (const Pace& pace : {fine, coarse_ticks}) {
    start(pace);
    add_ground(0.2);
    Solid slab{model::Box{{20, 20, 1}}, 10, {{0, 0, 0.5}, {}}};
    slab.material.friction = 0.8;  // 0.4 with the ground
    const BodyId box = add(slab);
    for (int i = 0; i < 25; ++i) {
      Solid ball{model::Sphere{0.5}, 1, {{2.0 * (i / 5) - 4, 2.0 * (i % 5) - 4, 1.5}, {}}};
      ball.material.friction = 0.8;
      balls_.push_back(add(ball));
    }
    const double acceleration = (150 - 0.4 * 35 * g) / (10 + 25 * 2.0 / 7);
    const int count = narrow<int>(std::lround(shortened(4.0) / pace.seconds()));
    double sum = 0;
    for (int i = 0; i < count; ++i) {
      const double expected = acceleration * pace.seconds() * i;
      sum += length_squared(velocity(box).linear - Vec3{0, expected, 0});
      sum += length_squared(velocity(balls_[0]).linear - Vec3{0, expected * 2 / 7, 0});
      engine().forces()[box.index].force = {0, 150, 0};
      ASSERT_TRUE(tick(pace.tick).ok());
    }
    note("rolling_mse", pace, sum / count);
    EXPECT_LT(sum / count, tolerance("rolling_mse")) << named(pace);
  }
}

// Whatever is round rolls on as it did, on a body that moves freely: whichever of the two was made first.
TEST_P(BenchmarkTask, rolls_on_as_it_did_on_a_body) {
  VOLVOX_NEEDS_MOTION();
  const Quat lying = Quat::axis_angle({1, 0, 0}, pi / 2);
  for (const model::Shape& shape : {model::Shape{model::Sphere{0.05}}, model::Shape{model::Capsule{0.05, 0.1}},
                                    model::Shape{model::Cylinder{0.05, 0.1}}}) {
    for (const bool box_first : {true, false}) {
      for (const Pace& pace : {usual, single, Pace{{1, 60}, 1.0 / 60}}) {
        double worst = 0;
        for (const double speed : {0.02, 0.1, 0.5}) {
          start(pace);
          add_ground(0.7);
          const Solid box{model::Box{{3, 1, 0.1}}, 10, {{0, 0, 0.05}, {}}};
          if (box_first) add(box);
          const BodyId roller = add({shape, 1, {{-0.5, 0, 0.15}, lying}, {{speed, 0, 0}, {0, speed / 0.05, 0}}});
          if (!box_first) add(box);
          run(2, {}, pace.tick);
          worst = std::max(worst, std::fabs(velocity(roller).linear.x / speed - 1));
        }
        EXPECT_LT(worst, tolerance("rolling_speed"))
            << "shape " << shape.index() << (box_first ? ", after the box, " : ", before the box, ") << named(pace);
      }
    }
  }
}

// By its energy, so that it does not matter when one looks.
TEST_P(BenchmarkTask, bounces_to_the_right_height_for_every_restitution) {
  VOLVOX_NEEDS_MOTION();
  VOLVOX_NEEDS("restitution");
  for (const Pace& pace : {usual, fine, coarse_ticks}) {
    double worst_of_all = 0;
    for (int tenths = 1; tenths <= 10; ++tenths) {
      double worst = 0;
      const double e = 0.1 * tenths;
      for (int phase = 0; phase < shortened(8); ++phase) {
        const double drop = 0.9 + 0.0271 * phase;
        start(pace);
        add_ground(0.5, e);
        const BodyId ball = add({model::Sphere{0.1}, 10, {{0, 0, 0.1 + drop}, {}}});
        double reached = 0;
        for (double t = 0; t < 0.8 && reached == 0; t += pace.seconds()) {
          ASSERT_TRUE(tick(pace.tick).ok());
          const double v = velocity(ball).linear.z;
          if (v > 0) reached = pose(ball).position.z - 0.1 + v * v / (2 * g);
        }
        worst = std::max(worst, std::fabs(reached / drop - e * e));
      }
      EXPECT_LT(worst, tolerance("bounce")) << "e = " << e << ", " << named(pace);
      worst_of_all = std::max(worst_of_all, worst);
    }
    note("bounce", pace, worst_of_all);
  }
}

TEST_P(BenchmarkTask, ball_bounces_for_ever) {
  VOLVOX_NEEDS_MOTION();
  VOLVOX_NEEDS("restitution");
  for (const Pace& pace : {usual, fine}) {
    start(pace);
    add_ground(0, 1);
    Solid ball{model::Sphere{0.1}, 10, {{0, 0, 5}, {}}};
    balls_ = {add(ball)};
    const double before = energy() - 10 * g * 0.1;
    run(shortened(20.0), {}, pace.tick);
    EXPECT_NEAR((energy() - 10 * g * 0.1) / before, 1, tolerance("elastic_energy")) << named(pace);
  }
}

// Two balls above each other, and a wall beside them: the lower one is hit from both sides at nearly the same time.
TEST_P(BenchmarkTask, elastic_hits_in_a_row_keep_energy) {
  VOLVOX_NEEDS_MOTION();
  VOLVOX_NEEDS("restitution");
  for (const Pace& pace : {usual, fine}) {
    const int trials = shortened(40);
    double sum = 0, worst = 1;
    for (int trial = 0; trial < trials; ++trial) {
      start(pace);
      add_ground(0, 1);
      Solid ball{model::Sphere{0.1}, 10, {{0, 0, 0.6 + 0.0113 * trial}, {}}};
      ball.material = {0, 1};
      balls_ = {add(ball)};
      ball.pose.position.z += 0.2 + 0.0007 * (trial + 1);
      balls_.push_back(add(ball));
      const double rest = 10 * g * (0.1 + 0.3), before = energy() - rest;
      run(10, {}, pace.tick);
      const double left = (energy() - rest) / before;
      sum += left;
      if (std::fabs(left - 1) > std::fabs(worst - 1)) worst = left;
    }
    EXPECT_NEAR(sum / trials, 1, tolerance("elastic_energy")) << named(pace);
    EXPECT_NEAR(worst, 1, 4 * tolerance("elastic_energy")) << named(pace);
  }
}

// Elastic 666: 6 x 6 x 6 balls.
TEST_P(BenchmarkTask, elastic_balls_keep_their_energy) {
  VOLVOX_NEEDS_MOTION();
  VOLVOX_NEEDS("restitution");
  for (const Pace& pace : {fine, coarse_ticks}) {
    start(pace);
    pile_up(6, 1.101, 1);
    const double before = energy();
    run(shortened(10.0), {}, pace.tick);
    note("elastic_energy_gained", pace, energy() / before - 1);
    EXPECT_NEAR(energy() / before, 1, tolerance("elastic_energy")) << named(pace);
  }
}

// A ball that is hit is pressed into its neighbour in the same substep.
TEST_P(BenchmarkTask, balls_do_not_sink_into_each_other) {
  VOLVOX_NEEDS_MOTION();
  for (const Pace& pace : {usual, single}) {
    start(pace);
    pile_up(6, 0.101, 0);
    double deepest = 0;
    run(
        shortened(1.5), [&](double) { deepest = std::max(deepest, deepest_overlap()); }, pace.tick);
    note("deepest_m", pace, deepest);
    EXPECT_LT(deepest, tolerance("pile_overlap_m")) << named(pace);
  }
}

TEST_P(BenchmarkTask, falls_along_a_parabola) {
  VOLVOX_NEEDS_MOTION();
  for (const Pace& pace : {usual, fine, coarse_ticks}) {
    start(pace);
    const BodyId ball = add({model::Sphere{0.1}, 10, {}, {{1, 2, 3}, {}}});
    run(1, {}, pace.tick);
    const double off = length(pose(ball).position - Vec3{1, 2, 3 - g / 2});
    note("fall_m", pace, off);
    EXPECT_LT(off, tolerance("fall_position_m")) << named(pace);
  }
}

TEST_P(BenchmarkTask, jointed_bodies_fall_as_one) {
  VOLVOX_NEEDS_MOTION();
  start(usual);
  std::vector<BodyId> links;
  Vec3 centre;
  for (int i = 0; i < 4; ++i) {
    links.push_back(add({model::Box{{0.18, 0.1, 0.1}}, 1, {{0.2 * i, 0, 10}, {}}, {{0, 0, 2}, {}}}));
    centre += pose(links.back()).position / 4;
    if (i == 0) continue;
    JointDesc hinge;
    hinge.a = links[i - 1], hinge.b = links[i];
    hinge.frame_a = {{0.1, 0, 0}, Quat::between({0, 0, 1}, {0, 1, 0})};
    hinge.frame_b = {{-0.1, 0, 0}, hinge.frame_a.rotation};
    const JointId joint = engine().add_joint(hinge);
    engine().motors()[joint.index] = {Control::position, 0.5, 30, 1, 2, 4};
  }
  run(1);
  Vec3 after;
  for (BodyId link : links) after += pose(link).position / 4;
  EXPECT_LT(length(after - (centre + Vec3{0, 0, 2 - g / 2})), tolerance("jointed_fall_m"));
}

}  // namespace volvox::physics::conformance
