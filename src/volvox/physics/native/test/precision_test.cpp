// Floats where they are enough (Precision::mixed) beside doubles everywhere: where floats are weak, they stay close.
#include <algorithm>
#include <array>
#include <cmath>

#include "volvox/physics/native/test/scenes.h"

namespace volvox::physics::native {
namespace {

// Three boxes in a row on hinges that swing: alone with the ground, so that its lanes move it.
class Walker {
 public:
  Walker(const EngineSettings& settings, const Vec3& at, std::array<double, 3> masses) : bench_(settings) {
    bench_.add(ground());
    for (std::size_t i = 0; i < 3; ++i) {
      const double x = 0.1 * static_cast<double>(i);
      poses_[i] = {at + Vec3{x, 0, 0.06}, {}};
      bodies_[i] = bench_.add(box(masses[i], {0.1, 0.06, 0.05}, poses_[i], {0.7, 0}));
      if (i == 0) continue;
      joints_[i - 1] = joint_at(JointType::revolute, bodies_[i - 1], poses_[i - 1], bodies_[i], poses_[i],
                                at + Vec3{x - 0.05, 0, 0.06}, {0, 1, 0});
      joints_[i - 1].lower = -1, joints_[i - 1].upper = 1;
      hinges_[i - 1] = bench_->add_joint(joints_[i - 1]);
    }
  }

  // Swings; returns the widest gap of a hinge.
  double run(int ticks, double torque) {
    double widest = 0;
    for (int tick = 0; tick < ticks; ++tick) {
      for (std::size_t i = 0; i < 2; ++i)
        bench_->motors()[hinges_[i].index] = {.control = Control::position,
                                              .target = 0.5 * volvox::sin(0.1 * tick + 2.0 * static_cast<double>(i)),
                                              .kp = 40 * torque,
                                              .kd = 2 * torque,
                                              .max_torque = torque};
      EXPECT_TRUE(bench_.tick().ok());
      for (const JointDesc& joint : joints_) widest = std::max(widest, joint_error(bench_, joint).gap);
    }
    return widest;
  }
  Vec3 moved() const { return bench_.pose(bodies_[1]).position - poses_[1].position; }
  double lowest() const {
    double z = 1e9;
    for (const BodyId id : bodies_) {
      const Pose pose = bench_.pose(id);
      for (int k = 0; k < 8; ++k)
        z = std::min(z, (pose * Vec3{k & 1 ? 0.05 : -0.05, k & 2 ? 0.03 : -0.03, k & 4 ? 0.025 : -0.025}).z);
    }
    return z;
  }

 private:
  Bench bench_;
  std::array<Pose, 3> poses_;
  std::array<BodyId, 3> bodies_;
  std::array<JointDesc, 2> joints_;
  std::array<JointId, 2> hinges_;
};

constexpr std::array<double, 3> even{0.2, 0.2, 0.2};

EngineSettings in(Precision precision, double gravity = 9.81) {
  return {.gravity = {0, 0, -gravity}, .precision = precision};
}

}  // namespace

TEST(Precision, an_engine_says_what_it_computes_with) {
  for (const Precision precision : {Precision::double_, Precision::mixed}) {
    Bench bench(in(precision));
    EXPECT_EQ(bench->info().precision, precision);
    EXPECT_TRUE(bench->info().settings.starts_with(physics::name(precision)));
  }
}

TEST(Precision, floats_move_as_doubles_do) {
  Walker coarse(in(Precision::mixed), {}, even), exact(in(Precision::double_), {}, even);
  EXPECT_LT(coarse.run(60, 1.5), 1e-4);
  exact.run(60, 1.5);
  EXPECT_LT(length(coarse.moved() - exact.moved()), 1e-3);
  EXPECT_NE(coarse.moved(), exact.moved()) << "or there are no floats";
}

TEST(Precision, ten_kilometres_away_it_moves_as_at_the_origin) {
  for (const Precision precision : {Precision::double_, Precision::mixed}) {
    SCOPED_TRACE(physics::name(precision));
    Walker here(in(precision), {}, even), far(in(precision), {8000, -6000, 0}, even);
    EXPECT_LT(here.run(60, 1.5), 1e-4);
    EXPECT_LT(far.run(60, 1.5), 1e-4);
    EXPECT_LT(length(far.moved() - here.moved()), 1e-3);
  }
}

TEST(Precision, at_ten_g_it_holds_and_stays_on_the_ground) {
  for (const Precision precision : {Precision::double_, Precision::mixed}) {
    SCOPED_TRACE(physics::name(precision));
    Walker walker(in(precision, 98.1), {}, even);
    EXPECT_LT(walker.run(180, 15), 1e-4);
    EXPECT_GT(walker.lowest(), -1e-3);
  }
}

TEST(Precision, a_thousand_times_heavier_link_is_held) {
  for (const std::array<double, 3>& masses : {std::array<double, 3>{20, 0.02, 20}, {0.02, 20, 0.02}, {0.02, 0.2, 20}}) {
    for (const Precision precision : {Precision::double_, Precision::mixed}) {
      SCOPED_TRACE(testing::Message() << physics::name(precision) << ", " << masses[0] << ", " << masses[1]);
      Walker walker(in(precision), {}, masses);
      EXPECT_LT(walker.run(180, 5), 1e-3);
      EXPECT_GT(walker.lowest(), -1e-3);
    }
  }
}

}  // namespace volvox::physics::native
