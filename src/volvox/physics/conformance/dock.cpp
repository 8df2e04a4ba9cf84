// Docks pull two bodies together and conserve momentum.
#include <cmath>

#include "volvox/physics/conformance/suite.h"

namespace volvox::physics::conformance {

class Docking : public Conformance {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    make_engine({.gravity = {}});
  }
  // Two boxes whose docks, in the middle of their facing sides, are `gap` and `turn` apart.
  JointDesc add_pair(double gap, const Quat& turn, double speed) {
    JointDesc dock;
    dock.type = JointType::dock;
    dock.latch_time = 0.25;
    dock.pull_speed = 0.2;
    dock.frame_a.position = {0.1, 0, 0};
    dock.frame_b.position = {-0.05, 0, 0};
    dock.a = add({model::Box{{0.2, 0.1, 0.1}},
                  1.5,
                  {{0.3, 0.2, 0.1}, Quat::rpy(0.2, 0.1, 0.4)},
                  {{0.1 * speed, 0.3 * speed, 0}, {0, 0.5 * speed, 0.2 * speed}}});
    const Pose offset{{gap * 0.8, gap * 0.6, 0}, turn};
    const Pose place = pose(dock.a) * dock.frame_a * offset * dock.frame_b.inverse();
    dock.b = add({model::Box{{0.1, 0.1, 0.1}}, 0.6, place, {{-0.05 * speed, 0, 0.1 * speed}, {0.3 * speed, 0, 0}}});
    return dock;
  }
};

VOLVOX_FOR_EVERY_ENGINE(Docking);

TEST_P(Docking, keeps_momentum_and_never_raises_energy) {
  VOLVOX_NEEDS_MOTION();
  for (const double speed : {0.0, 1.0}) {
    make_engine({.gravity = {}});
    const double gap = 0.02;
    const JointDesc dock = add_pair(gap, Quat::rpy(0.1, -0.05, 0.08), speed);
    const Totals before = totals({dock.a, dock.b});
    const JointId id = engine().add_joint(dock);
    EXPECT_FALSE(engine().latched()[id.index]);
    // The scales for the run that starts from rest: the momentum of the pull.
    const double scale = before.scale + 1.5 * 0.2, angular_scale = before.angular_scale + 1.5 * 0.2 * 0.4;
    // During the pull both bodies move at most at the closing speed and rotate at the closing rate.
    const double mu = 1.5 * 0.6 / 2.1;
    const double closing = gap / 0.25, turning = 0.14 / 0.25;
    const double pull = mu * closing * closing / 2 +
                        (desc(dock.a).moments.y + desc(dock.b).moments.y) * turning * turning / 2 +
                        mu * std::pow(turning * 0.1, 2) / 2;
    double closed_at = 0;
    run(2, [&](double t) {
      const Totals now = totals({dock.a, dock.b});
      EXPECT_LT(length(now.momentum - before.momentum), tolerance("momentum") * scale);
      EXPECT_LT(length(now.angular - before.angular), tolerance("momentum") * angular_scale);
      const bool latched = engine().latched()[id.index] != 0;
      if (latched && closed_at == 0) closed_at = t;
      const double allowed = t > closed_at + 0.1 && latched ? 0 : pull;
      EXPECT_LT(now.kinetic, before.kinetic + allowed + tolerance("dock_energy") * pull) << "at " << t << " s";
    });
    EXPECT_NEAR(closed_at, 0.25, 0.02);
    EXPECT_LT(length(relative(dock).position), tolerance("dock_gap_m"));
    EXPECT_LT(angle(relative(dock).rotation), tolerance("dock_tip_rad"));
  }
}

TEST_P(Docking, wide_gap_takes_longer_at_the_pull_speed) {
  VOLVOX_NEEDS_MOTION();
  JointDesc dock = add_pair(0.1, {}, 0);
  dock.pull_speed = 0.1;
  const JointId id = engine().add_joint(dock);
  double closed_at = 0, fastest = 0;
  run(2, [&](double t) {
    if (closed_at == 0 && engine().latched()[id.index]) closed_at = t;
    const Vec3 v = velocity(dock.b).linear - velocity(dock.a).linear;
    if (closed_at == 0) fastest = std::max(fastest, length(v));
  });
  EXPECT_NEAR(closed_at, 1.0, 0.02);
  EXPECT_LT(fastest, 0.1 * 1.5);  // of the centres of mass; the pull also rotates the bodies
  EXPECT_LT(length(relative(dock).position), tolerance("dock_gap_m"));
}

TEST_P(Docking, closed_dock_without_latch_time_is_rigid_at_once) {
  JointDesc dock = add_pair(0, {}, 0);
  dock.latch_time = 0;
  const JointId id = engine().add_joint(dock);
  EXPECT_TRUE(engine().latched()[id.index]);
  if (!moves()) return;
  for (int i = 0; i < 60; ++i) {
    engine().forces()[dock.b.index] = {{0, 2, 0}, {0, 0, 0.05}};
    EXPECT_TRUE(tick().ok());
  }
  EXPECT_TRUE(engine().latched()[id.index]);
  EXPECT_LT(length(relative(dock).position), tolerance("dock_gap_m") * 2);
  EXPECT_LT(angle(relative(dock).rotation), tolerance("dock_tip_rad") * 2);
}

TEST_P(Docking, latches_after_its_latch_time) {
  const JointDesc dock = add_pair(0.001, {}, 0);
  const JointId id = engine().add_joint(dock);
  run(0.2);
  EXPECT_FALSE(engine().latched()[id.index]);
  run(0.1);
  EXPECT_TRUE(engine().latched()[id.index]);
}

TEST_P(Docking, dock_with_the_world_pulls_a_body_to_its_place) {
  VOLVOX_NEEDS_MOTION();
  JointDesc dock;
  dock.type = JointType::dock;
  dock.latch_time = 0.5;
  dock.frame_a = {{0, 0, 1}, Quat::rpy(0, 0, 0.3)};
  dock.b = add({model::Box{{0.1, 0.1, 0.1}}, 1, {{0.01, 0.02, 1.01}, {}}});
  engine().add_joint(dock);
  run(1);
  EXPECT_LT(length(relative(dock).position), tolerance("dock_gap_m"));
  EXPECT_LT(angle(relative(dock).rotation), tolerance("dock_tip_rad"));
  EXPECT_LT(length(velocity(dock.b).linear), 1e-3);
}

TEST_P(Docking, undocking_lets_go) {
  VOLVOX_NEEDS_MOTION();
  JointDesc dock = add_pair(0, {}, 0);
  dock.latch_time = 0;
  const JointId id = engine().add_joint(dock);
  run(0.5);
  engine().remove_joint(id);
  const Totals before = totals({dock.a, dock.b});
  engine().forces()[dock.b.index].force = pose(dock.a).rotation * Vec3{6, 0, 0};
  run(1);
  EXPECT_GT(length(velocity(dock.b).linear), 0.15);
  EXPECT_LT(length(velocity(dock.a).linear), 1e-6 + before.scale);
  EXPECT_GT(length(relative(dock).position), 0.1);
}

// A ring cannot close exactly: the docks share the error without shaking.
TEST_P(Docking, ring_of_docks_settles) {
  VOLVOX_NEEDS_MOTION();
  constexpr int count = 6;
  std::vector<BodyId> bodies;
  std::vector<JointDesc> docks;
  for (int i = 0; i < count; ++i) {
    const double a = 2 * pi * i / count;
    bodies.push_back(add({model::Box{{0.1, 0.05, 0.05}},
                          0.2,
                          {{-0.1 * std::sin(a), 0.1 * std::cos(a), 0}, Quat::axis_angle({0, 0, 1}, a + pi)}}));
  }
  for (int i = 0; i < count; ++i) {
    JointDesc dock;
    dock.type = JointType::dock;
    dock.latch_time = 0.3;
    dock.a = bodies[i], dock.b = bodies[(i + 1) % count];
    dock.frame_a = {{0.055, 0, 0}, Quat::axis_angle({0, 0, 1}, pi / count)};
    dock.frame_b = {{-0.055, 0, 0}, Quat::axis_angle({0, 0, 1}, -pi / count)};
    docks.push_back(dock);
    engine().add_joint(dock);
  }
  run(3);
  for (BodyId id : bodies) EXPECT_LT(length(velocity(id).linear), 1e-3);
  for (const JointDesc& dock : docks) EXPECT_LT(length(relative(dock).position), 2e-3);
}

}  // namespace volvox::physics::conformance
