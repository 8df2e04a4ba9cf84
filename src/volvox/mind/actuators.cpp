#include "volvox/mind/actuator.h"

namespace volvox::mind {
namespace {

class JointMotor final : public Actuator {
 public:
  explicit JointMotor(int joint) : joint_(joint) {}
  const TypeInfo& type() const override { return type_of<JointCommand>(); }
  void apply(const ActContext& c, const Value& command) const override {
    const JointCommand& joint = *command.get<JointCommand>();
    c.world.command(c.world.part(c.module).first_joint + static_cast<std::uint32_t>(joint_), joint.control, joint.target);
  }
 private:
  int joint_;
};

class DockLatch final : public Actuator {
 public:
  explicit DockLatch(int dock) : dock_(dock) {}
  ActStage stage() const override { return ActStage::latches; }
  const TypeInfo& type() const override { return type_of<bool>(); }
  void apply(const ActContext& c, const Value& command) const override {
    c.world.enable_dock(c.world.part(c.module).first_dock + static_cast<std::uint32_t>(dock_), *command.get<bool>());
  }
 private:
  int dock_;
};

class Thruster final : public Actuator {
 public:
  Thruster(const model::Actuator& actuator, const Parameters& p)
      : link_(actuator.link), pose_(actuator.pose), max_force_(p.number("max_force", 1e300, 0)) {}
  const TypeInfo& type() const override { return type_of<Vec3>(); }
  void apply(const ActContext& c, const Value& command) const override {
    Vec3 force = *command.get<Vec3>();
    if (const double size = length(force); size > max_force_) force *= max_force_ / size;
    const std::uint32_t link = c.world.part(c.module).first_link + static_cast<std::uint32_t>(link_);
    const Pose pose = c.world.link_pose(link);
    const Pose mount = pose * pose_;
    const Vec3 push = mount.rotation * force;
    const Vec3 arm = mount.position - pose * c.world.link_model(link).inertial.position;
    c.world.engine().forces()[c.world.body(link).index] += {push, cross(arm, push)};
  }
 private:
  int link_;
  Pose pose_;
  double max_force_;
};

class Lamp final : public Actuator {
 public:
  const TypeInfo& type() const override { return type_of<Light>(); }
  void apply(const ActContext& c, const Value& command) const override {
    const Light& light = *command.get<Light>();
    c.world.set_color(c.module, {clamp(light.red, 0, 1), clamp(light.green, 0, 1), clamp(light.blue, 0, 1), 1});
  }
};

}  // namespace

ActuatorRegistry built_in_actuators() {
  ActuatorRegistry registry("actuator type");
  registry.add("thruster", [](const model::Actuator& a, const Parameters& p) -> std::unique_ptr<Actuator> {
    return std::make_unique<Thruster>(a, p);
  }, "a force at a point of a link, Vec3 in N: max_force");
  registry.add("lamp", [](const model::Actuator&, const Parameters&) -> std::unique_ptr<Actuator> {
    return std::make_unique<Lamp>();
  }, "the colour that the module shows, Light: red, green, blue from 0 to 1");
  return registry;
}

std::unique_ptr<Actuator> make_joint_motor(int joint) { return std::make_unique<JointMotor>(joint); }
std::unique_ptr<Actuator> make_dock_latch(int dock) { return std::make_unique<DockLatch>(dock); }

}  // namespace volvox::mind
