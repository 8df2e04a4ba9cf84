#include "volvox/base/check.h"
#include "volvox/mind/actuator.h"

#include <algorithm>

namespace volvox::mind {
namespace {

class JointMotor final : public Actuator {
 public:
  explicit JointMotor(int joint) : joint_(joint) {}
  bool on_board() const override { return true; }
  const TypeInfo& type() const override { return type_of<JointCommand>(); }
  void apply(const ActContext& c, const Value& command) const override {
    const JointCommand& joint = *command.get<JointCommand>();
    VOLVOX_ASSERT(joint_ >= 0 && joint_ < std::ssize(c.world.module_model(c.module).joints));
    c.world.command(c.world.part(c.module).first_joint + joint_, joint.control, joint.target);
  }

 private:
  int joint_;
};

class DockLatch final : public Actuator {
 public:
  explicit DockLatch(int dock) : dock_(dock) {}
  const TypeInfo& type() const override { return type_of<bool>(); }
  void apply(const ActContext& c, const Value& command) const override {
    VOLVOX_ASSERT(dock_ >= 0 && dock_ < std::ssize(c.world.module_model(c.module).docks));
    c.world.enable_dock(c.world.part(c.module).first_dock + dock_, *command.get<bool>());
  }

 private:
  int dock_;
};

class MagnetSwitch final : public Actuator {
 public:
  explicit MagnetSwitch(int magnet) : magnet_(magnet) {}
  bool on_board() const override { return true; }
  const TypeInfo& type() const override { return type_of<double>(); }
  void apply(const ActContext& c, const Value& command) const override {
    VOLVOX_ASSERT(magnet_ >= 0 && magnet_ < std::ssize(c.world.module_model(c.module).magnets));
    c.world.switch_magnet(c.module, magnet_, clamp(*command.get<double>(), -1, 1));
  }

 private:
  int magnet_;
};

// Applies a force and a torque to a link at the mount.
class MountedActuator : public Actuator {
 public:
  explicit MountedActuator(const model::Actuator& actuator) : link_(actuator.link), pose_(actuator.pose) {}
  bool on_board() const override { return true; }

 protected:
  world::LinkIndex link(const ActContext& c) const { return c.world.part(c.module).first_link + link_; }
  // From the centre of mass to the mount, and the mount's rotation, in world axes.
  struct Mount {
    Vec3 arm;
    Quat rotation;
  };
  Mount mount(const ActContext& c) const {
    const world::LinkIndex on = link(c);
    VOLVOX_ASSERT(on < c.world.links() && c.world.placement_of_link(on) == c.module);
    const Pose pose = c.world.link_pose(on);
    return {pose.rotation * (pose_.position - c.world.link_model(on).inertial.position),
            pose.rotation * pose_.rotation};
  }
  void push(const ActContext& c, const Mount& at, const Vec3& force, const Vec3& torque) const {
    VOLVOX_ASSERT(finite(force) && finite(torque));
    c.world.push(link(c), {force, torque + cross(at.arm, force)});
  }

 private:
  int link_;
  Pose pose_;
};

class Thruster final : public MountedActuator {
 public:
  Thruster(const model::Actuator& actuator, const Parameters& p)
      : MountedActuator(actuator), max_force_(p.number("max_force", 1e300, 0)) {}
  const TypeInfo& type() const override { return type_of<Vec3>(); }
  void apply(const ActContext& c, const Value& command) const override {
    Vec3 force = *command.get<Vec3>();
    if (const double size = length(force); size > max_force_) force *= max_force_ / size;
    const Mount at = mount(c);
    push(c, at, at.rotation * force, {});
  }

 private:
  double max_force_;
};

// A propeller about the z axis of its mount, by the map from its speed to its force and torque
// (seed 003, section 3.1): thrust and drag grow with the square of the speed; inflow along the axis reduces the thrust;
// inflow from the side causes a drag of the blades.
class Rotor final : public MountedActuator {
 public:
  Rotor(const model::Actuator& actuator, const Parameters& p)
      : MountedActuator(actuator),
        max_speed_(p.number("max_speed", 1000, 0, 1e6)),
        thrust_(p.number("thrust", 1e-5, 0)),
        torque_(p.number("torque", 1e-7, 0)),
        inflow_(p.number("inflow", 0, 0)),
        side_drag_(p.number("side_drag", 0, 0)),
        sense_(p.flag("clockwise", false) ? -1 : 1) {}
  const TypeInfo& type() const override { return type_of<double>(); }
  void apply(const ActContext& c, const Value& command) const override {
    const double speed = clamp(*command.get<double>(), 0, max_speed_);
    const Mount at = mount(c);
    const Vec3 axis = at.rotation * Vec3{0, 0, 1};
    const Twist body = c.world.link_velocity(link(c));
    const Vec3 wind = body.linear + cross(body.angular, at.arm);
    const double rising = dot(wind, axis);
    const Vec3 sideways = wind - axis * rising;
    const double lift = std::max(0.0, thrust_ * speed * speed - inflow_ * speed * rising);
    push(c, at, axis * lift - sideways * (side_drag_ * speed), axis * (-sense_ * torque_ * speed * speed));
  }

 private:
  double max_speed_, thrust_, torque_, inflow_, side_drag_, sense_;
};

// A tyre on level ground, at the centre of its wheel; x of the mount points ahead, z up. The wheel does not turn in the
// simulation: its motor or brake is the command, a force along its track (N). The law is linear, and then limited:
//   load N = stiffness depth - damping (speed of rising), not negative;
//   along = command - rolling N (speed / 0.05 m/s, at most 1), across = -cornering (slip angle),
//   both together at most friction N.
// The slip angle is that of the wheel's velocity against its plane; below `slow` it fades with the speed, because a
// tyre that stands has none.
class Tyre final : public MountedActuator {
 public:
  Tyre(const model::Actuator& actuator, const Parameters& p)
      : MountedActuator(actuator),
        radius_(p.number("radius", 0.1, 1e-3)),
        stiffness_(p.number("stiffness", 2e4, 0)),
        damping_(p.number("damping", 20, 0)),
        cornering_(p.number("cornering", 400, 0)),
        friction_(p.number("friction", 0.9, 0)),
        rolling_(p.number("rolling", 0.01, 0)),
        ground_(p.number("ground", 0)) {}
  bool always() const override { return true; }  // it bears its load whoever drives it
  const TypeInfo& type() const override { return type_of<double>(); }
  void apply(const ActContext& c, const Value& command) const override {
    constexpr double slow = 0.5, still = 0.05;  // m/s
    const Mount at = mount(c);
    const Vec3 centre = c.world.link_pose(link(c)) * c.world.link_model(link(c)).inertial.position + at.arm;
    const double depth = ground_ + radius_ - centre.z;
    const Vec3 ahead = at.rotation * Vec3{1, 0, 0};
    const double level = length(ahead.x, ahead.y);
    if (depth <= 0 || level < 1e-6) return;  // in the air, or standing on its edge
    const Twist body = c.world.link_velocity(link(c));
    const Vec3 speed = body.linear + cross(body.angular, at.arm);
    const Vec3 track{ahead.x / level, ahead.y / level, 0}, side{-track.y, track.x, 0};
    const double load = std::max(0.0, stiffness_ * depth - damping_ * speed.z);
    const double on = dot(speed, track), aside = dot(speed, side);
    double along = *command.get<double>() - rolling_ * load * clamp(on / still, -1, 1);
    double across = -cornering_ * volvox::atan2(aside, std::max(std::fabs(on), slow));
    if (const double size = length(along, across); size > friction_ * load) {
      along *= friction_ * load / size;
      across *= friction_ * load / size;
    }
    Mount patch = at;
    patch.arm.z -= radius_ - depth;  // where it touches
    push(c, patch, track * along + side * across + Vec3{0, 0, load}, {});
  }

 private:
  double radius_, stiffness_, damping_, cornering_, friction_, rolling_, ground_;
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
  registry.add(
      "thruster",
      [](const model::Actuator& a, const Parameters& p) -> std::unique_ptr<Actuator> {
        return std::make_unique<Thruster>(a, p);
      },
      "a force at a point of a link, Vec3 in N: max_force");
  registry.add(
      "rotor",
      [](const model::Actuator& a, const Parameters& p) -> std::unique_ptr<Actuator> {
        return std::make_unique<Rotor>(a, p);
      },
      "the speed of a propeller, rad/s: clockwise (seen from above), max_speed, thrust (N s^2), torque (N m s^2), "
      "inflow and side_drag (N s^2/m)");
  registry.add(
      "tyre",
      [](const model::Actuator& a, const Parameters& p) -> std::unique_ptr<Actuator> {
        return std::make_unique<Tyre>(a, p);
      },
      "a tyre on level ground, whose command is the force of its motor, N: radius, stiffness (N/m), damping (N s/m), "
      "cornering (N/rad), friction, rolling, ground (m)");
  registry.add(
      "lamp",
      [](const model::Actuator&, const Parameters&) -> std::unique_ptr<Actuator> { return std::make_unique<Lamp>(); },
      "the colour that the module shows, Light: red, green, blue from 0 to 1");
  return registry;
}

std::unique_ptr<Actuator> make_joint_motor(int joint) { return std::make_unique<JointMotor>(joint); }
std::unique_ptr<Actuator> make_dock_latch(int dock) { return std::make_unique<DockLatch>(dock); }
std::unique_ptr<Actuator> make_magnet(int magnet) { return std::make_unique<MagnetSwitch>(magnet); }

}  // namespace volvox::mind
