// Worlds of one robot on planes, drawn at random, for tests of what moves many of them (lone.h, ../../cuda).
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "volvox/base/random.h"
#include "volvox/physics/motor_wave.h"
#include "volvox/physics/native/native_engine.h"
#include "volvox/physics/scenes/robots.h"

namespace volvox::physics::native {

enum class Robot { superbot, atron, wheeled, slider, hopper, ball };
inline constexpr Robot all_robots[] = {Robot::superbot, Robot::atron,  Robot::wheeled,
                                       Robot::slider,   Robot::hopper, Robot::ball};
inline const char* name(Robot robot) {
  const char* names[] = {"superbot", "atron", "wheeled", "slider", "hopper", "ball"};
  return names[static_cast<int>(robot)];
}

struct LoneRobot {
  scenes::BenchScene scene;
  std::vector<MotorWave> motors;
  double gravity = 9.81;

  std::unique_ptr<Engine> engine() const {
    EngineSettings settings;
    settings.gravity = {0, 0, -gravity};
    settings.precision = Precision::double_;
    auto engine = make_native_engine(settings);
    std::vector<BodyId> ids;
    for (const BodyDesc& body : scene.bodies) ids.push_back(*engine->add_body(body));
    for (const scenes::SceneJoint& joint : scene.joints) {
      JointDesc desc = joint.desc;
      desc.a = ids[desc.a.index], desc.b = ids[desc.b.index];
      (void)engine->add_joint(desc);
    }
    return engine;
  }
  std::vector<MotorCommand> commands(double time) const {
    std::vector<MotorCommand> all;
    for (const MotorWave& motor : motors) all.push_back(motor.at(time));
    return all;
  }
};

class RobotMaker {
 public:
  RobotMaker(Robot robot, std::uint64_t seed) : robot_(robot), seed_(seed), random_(seed, 0, name(robot)) {}

  LoneRobot make() {
    material_.friction = seed_ % 5 == 0 ? 0 : random_.uniform(0.1, 1.2);
    material_.restitution = robot_ == Robot::hopper || seed_ % 4 == 1 ? random_.uniform(0, 0.9) : 0;
    add_ground();
    Pose pose{{random_.uniform(-1, 1), random_.uniform(-1, 1), random_.uniform(0.1, 0.5)}, {}};
    if (seed_ % 3 != 0) pose.rotation = Quat::rpy(turn(), turn(), turn());
    const std::size_t first = out_.scene.bodies.size();
    add_robot(pose);
    const Twist velocity{{random_.uniform(-1, 1), random_.uniform(-1, 1), random_.uniform(-2, 0.5)},
                         {turn(), 0, turn()}};
    for (std::size_t i = first; i < out_.scene.bodies.size(); ++i) {
      BodyDesc& body = out_.scene.bodies[i];
      if (seed_ % 2 == 0) body.velocity = velocity;
      body.owner = 1, body.quiet = true;
    }
    for (std::size_t i = 0; i < out_.scene.joints.size(); ++i) add_motor();
    return out_;
  }

 private:
  double turn() { return random_.uniform(-3, 3); }

  // Some seeds have a wall, or a slope, or the ground twice.
  void add_ground() {
    BodyDesc ground;
    ground.motion = Motion::fixed;
    model::Material material;
    material.friction = random_.uniform(0.3, 1);
    ground.geometry = scenes::geometry_of(model::Plane{}, material);
    if (seed_ % 7 == 3) ground.pose.rotation = Quat::rpy(0.2, -0.1, 0.5);
    out_.scene.bodies.push_back(ground);
    if (seed_ % 6 != 2) return;
    ground.pose = {{-1.2, 0, 0}, Quat::axis_angle({0, 1, 0}, pi / 2)};
    out_.scene.bodies.push_back(ground);
  }

  void add_robot(const Pose& pose) {
    const scenes::RobotParts parts(0.8);
    if (robot_ == Robot::superbot) return void(scenes::add_superbot(out_.scene, parts, pose, 0));
    if (robot_ == Robot::atron) return void(scenes::add_atron(out_.scene, parts, pose, 0));
    if (robot_ == Robot::ball) return void(add(model::Sphere{0.05}, pose, 0.3));
    if (robot_ == Robot::wheeled) {
      const std::size_t trunk = add(model::Box{{0.2, 0.12, 0.05}}, pose, 1);
      for (const double side : {-0.08, 0.08}) {
        const Pose at = pose * Pose{{0.04, side, -0.01}, Quat::axis_angle({1, 0, 0}, pi / 2)};
        join(trunk, add(model::Cylinder{0.045, 0.02}, at, 0.1), JointType::revolute, at);
      }
      const Pose at = pose * Pose{{-0.07, 0, -0.03}, {}};
      join(trunk, add(model::Sphere{0.025}, at, 0.05), JointType::ball, at);
      return;
    }
    const std::size_t trunk = add(model::Box{{0.1, 0.1, 0.1}}, pose, 0.6);
    const Pose at = pose * Pose{{0, 0, -0.1}, {}};
    if (robot_ == Robot::slider) {
      const std::size_t foot = add(model::Capsule{0.02, 0.08}, at, 0.2);
      join(trunk, foot, JointType::prismatic, at, -0.03, 0.05);
      const Pose tail = pose * Pose{{0.1, 0, 0}, Quat::axis_angle({0, 1, 0}, pi / 2)};
      join(trunk, add(model::Box{{0.04, 0.04, 0.08}}, tail, 0.1), JointType::fixed, tail);
      return;
    }
    const Pose hinge = pose * Pose{{0.03, 0, -0.06}, Quat::axis_angle({1, 0, 0}, pi / 2)};
    join(trunk, add(model::Box{{0.1, 0.03, 0.03}}, at, 0.1), JointType::revolute, hinge, -0.8, 0.8);
  }

  std::size_t add(const model::Shape& shape, const Pose& pose, double mass) {
    BodyDesc body;
    body.mass = mass;
    body.moments = Vec3{1.1, 0.9, 1} * (mass * 1e-3);
    body.pose = pose;
    body.geometry = scenes::geometry_of(shape, material_);
    out_.scene.bodies.push_back(body);
    return out_.scene.bodies.size() - 1;
  }

  void join(std::size_t a, std::size_t b, JointType type, const Pose& at, double lower = -1e300, double upper = 1e300) {
    JointDesc desc;
    desc.type = type;
    desc.a = BodyId{static_cast<std::uint32_t>(a), 0}, desc.b = BodyId{static_cast<std::uint32_t>(b), 0};
    desc.frame_a = out_.scene.bodies[a].pose.inverse() * at, desc.frame_b = out_.scene.bodies[b].pose.inverse() * at;
    desc.lower = lower, desc.upper = upper;
    if (seed_ % 3 == 1) desc.friction = random_.uniform(0, 0.1), desc.damping = random_.uniform(0, 0.01);
    out_.scene.joints.push_back({desc, 0, 0});
  }

  void add_motor() {
    MotorWave wave;
    const Control controls[] = {Control::off, Control::position, Control::velocity, Control::torque};
    wave.command.control = controls[static_cast<int>(random_.uniform(0, 3.999))];
    wave.command.kp = random_.uniform(1, 50), wave.command.kd = random_.uniform(0, 5);
    wave.command.max_velocity = random_.uniform(1, 20), wave.command.max_torque = random_.uniform(0.2, 6);
    wave.amplitude = random_.uniform(0, wave.command.control == Control::torque ? 0.2 : 1.5);
    wave.frequency = random_.uniform(0.3, 3), wave.phase = turn();
    if (seed_ % 4 == 2) wave.stop = random_.uniform(0, 1);
    out_.motors.push_back(wave);
  }

  Robot robot_;
  std::uint64_t seed_;
  RandomStream random_;
  model::Material material_;
  LoneRobot out_;
};

inline LoneRobot lone_robot(Robot robot, std::uint64_t seed) { return RobotMaker(robot, seed).make(); }

inline std::uint64_t hash_of(Engine& engine) {
  HashArchive hash;
  engine.archive(hash);
  return hash.value();
}

}  // namespace volvox::physics::native
