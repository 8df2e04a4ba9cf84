// The loads of joints: breakage uses them, so they must agree with statics in magnitude and sign.
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/physics/conformance/suite.h"

namespace volvox::physics::conformance {
namespace {

struct Chain {
  std::vector<BodyId> bodies;
  std::vector<JointId> joints;
  std::vector<JointDesc> descs;
};

}  // namespace

class Loads : public Conformance {
 protected:
  // Boxes in a row from the world's origin along +x of `along`, joined end to end.
  Chain add_chain(int count, JointType type, const Quat& along, double mass, double size) {
    Chain chain;
    for (int i = 0; i < count; ++i) {
      JointDesc joint;
      joint.type = type;
      if (i > 0) joint.a = chain.bodies.back();
      joint.frame_a = i > 0 ? Pose{{size / 2, 0, 0}, {}} : Pose{{}, along};
      joint.frame_b.position = {-size / 2, 0, 0};
      Solid box{model::Box{{size, size, size}}, mass};
      box.pose = {along * Vec3{size * (i + 0.5), 0, 0}, along};
      joint.b = add(box);
      chain.bodies.push_back(joint.b);
      chain.joints.push_back(engine().add_joint(joint));
      chain.descs.push_back(joint);
    }
    return chain;
  }
};

VOLVOX_FOR_EVERY_ENGINE(Loads);

TEST_P(Loads, hanging_chain_carries_the_weight_below_every_link) {
  VOLVOX_NEEDS_MOTION();
  const Quat down = Quat::axis_angle({0, 1, 0}, pi / 2);
  const Chain chain = add_chain(10, JointType::ball, down, 0.2, 0.1);
  run(3);
  for (std::size_t i = 0; i < chain.joints.size(); ++i) {
    const double below = 0.2 * g * real(chain.joints.size() - i);
    // In frame_a's axes x points down: the force on b points up.
    EXPECT_NEAR(load(chain.joints[i]).force.x, -below, tolerance("load") * below) << "link " << i;
    EXPECT_NEAR(load(chain.joints[i]).force.z, 0, tolerance("load") * below);
    EXPECT_LT(length(relative(chain.descs[i]).position), tolerance("joint_gap_m")) << "link " << i;
  }
}

TEST_P(Loads, cantilever_bears_its_shear_and_its_moment) {
  VOLVOX_NEEDS_MOTION();
  const double size = 0.1, mass = 0.3;
  const Chain beam = add_chain(4, JointType::fixed, {}, mass, size);
  run(3);
  for (std::size_t i = 0; i < beam.joints.size(); ++i) {
    const double count = real(beam.joints.size() - i);
    const double weight = mass * g * count, moment = weight * count * size / 2;
    const Wrench w = load(beam.joints[i]);
    EXPECT_NEAR(w.force.z, weight, tolerance("load") * weight) << "joint " << i;
    EXPECT_NEAR(w.torque.y, -moment, tolerance("load") * moment) << "joint " << i;
    EXPECT_NEAR(w.torque.x, 0, tolerance("load") * moment);
    EXPECT_NEAR(w.force.x, 0, tolerance("load") * weight);
    EXPECT_LT(length(relative(beam.descs[i]).position), tolerance("joint_gap_m"));
    EXPECT_LT(angle(relative(beam.descs[i]).rotation), tolerance("joint_tip_rad"));
  }
}

// The same beam, measured in rotated axes and at a point away from the bodies' origins.
TEST_P(Loads, are_given_in_the_axes_and_at_the_origin_of_frame_a) {
  VOLVOX_NEEDS_MOTION();
  const BodyId body = add({model::Box{{0.2, 0.1, 0.1}}, 2, {{0.5, 0, 0}, {}}});
  JointDesc weld;
  weld.type = JointType::fixed;
  weld.b = body;
  weld.frame_a = {{0.1, 0, 0}, Quat::axis_angle({0, 0, 1}, pi / 2)};
  weld.frame_b = Pose{{0.5, 0, 0}, {}}.inverse() * weld.frame_a;
  const JointId id = engine().add_joint(weld);
  run(2);
  const Wrench w = load(id);
  EXPECT_NEAR(w.force.z, 2 * g, tolerance("load") * 2 * g);
  // -2 g 0.4 about the world's y, which is frame_a's x.
  EXPECT_NEAR(w.torque.x, -2 * g * 0.4, tolerance("load") * 2 * g * 0.4);
  EXPECT_NEAR(w.torque.y, 0, tolerance("load") * 2 * g * 0.4);
}

TEST_P(Loads, motor_torque_is_part_of_the_load) {
  VOLVOX_NEEDS_MOTION();
  JointDesc hinge;
  hinge.frame_a.rotation = Quat::between({0, 0, 1}, {0, -1, 0});
  hinge.frame_b = {{-0.1, 0, 0}, hinge.frame_a.rotation};
  hinge.b = add({model::Box{{0.2, 0.05, 0.05}}, 0.5, {{0.1, 0, 0}, {}}});
  const JointId id = engine().add_joint(hinge);
  engine().motors()[id.index] = {Control::position, 0, 2000, 20};
  run(2);
  const double moment = 0.5 * g * 0.1;
  EXPECT_NEAR(joint(id).torque, moment, tolerance("load") * moment);
  EXPECT_NEAR(load(id).torque.z, moment, tolerance("load") * moment);
  EXPECT_NEAR(length(load(id).force), 0.5 * g, tolerance("load") * 0.5 * g);
}

TEST_P(Loads, swinging_weight_pulls_harder_at_the_bottom) {
  VOLVOX_NEEDS_MOTION();
  const double arm = 0.5;
  BodyDesc bob = describe({model::Sphere{0.01}, 1, {{arm, 0, 0}, {}}});
  bob.moments = {1e-3, 1e-3, 1e-3};  // 0.4 % of m l^2
  JointDesc string;
  string.type = JointType::ball;
  string.b = add(bob);
  string.frame_b.position = {-arm, 0, 0};
  const JointId id = engine().add_joint(string);
  double most = 0;
  run(1, [&](double) { most = std::max(most, length(load(id).force)); });
  EXPECT_NEAR(most, 3 * g, 0.05 * 3 * g);  // m g + m v^2 / l with v^2 = 2 g l
}

// The long arms of modular robots: every dock bears the bending moment of all modules beyond it.
TEST_P(Loads, chain_of_twenty_docks_stays_straight) {
  VOLVOX_NEEDS_MOTION();
  const Chain arm = add_chain(20, JointType::dock, {}, 0.1, 0.05);
  for (JointId id : arm.joints) EXPECT_TRUE(engine().latched()[id.index]);
  run(5);
  double bent = 0, apart = 0;
  for (const JointDesc& dock : arm.descs) {
    bent = std::max(bent, angle(relative(dock).rotation));
    apart = std::max(apart, length(relative(dock).position));
  }
  RecordProperty("bent_rad", std::to_string(bent));
  RecordProperty("apart_m", std::to_string(apart));
  EXPECT_LT(bent, tolerance("chain_dock_tip_rad"));
  EXPECT_LT(apart, tolerance("chain_dock_gap_m"));
}

}  // namespace volvox::physics::conformance
