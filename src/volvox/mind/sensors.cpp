#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/exchange/exchange.h"
#include "volvox/exchange/neighborhood.h"
#include "volvox/mind/camera.h"
#include "volvox/mind/dock_beacon.h"
#include "volvox/mind/range_sensors.h"
#include "volvox/mind/typed_sensor.h"
#include "volvox/world/latches.h"
#include "volvox/world/matter.h"

namespace volvox::mind {
namespace {

class JointAngle final : public TypedSensor<double> {
 public:
  explicit JointAngle(int joint) : joint_(joint) {}
  void measure(const SenseContext& c, double& reading) const override {
    reading = c.world.joint_state(c.joint(joint_)).position;
  }

 private:
  int joint_;
};

class JointVelocity final : public TypedSensor<double> {
 public:
  explicit JointVelocity(int joint) : joint_(joint) {}
  void measure(const SenseContext& c, double& reading) const override {
    reading = c.world.joint_state(c.joint(joint_)).velocity;
  }

 private:
  int joint_;
};

class JointTorque final : public TypedSensor<double> {
 public:
  explicit JointTorque(int joint) : joint_(joint) {}
  void measure(const SenseContext& c, double& reading) const override {
    reading = c.world.joint_state(c.joint(joint_)).torque;
  }

 private:
  int joint_;
};

class DockStateSensor final : public TypedSensor<DockState> {
 public:
  explicit DockStateSensor(int dock) : dock_(dock) {}
  void measure(const SenseContext& c, DockState& reading) const override {
    const world::DockIndex dock = c.dock(dock_);
    const world::DockStatus& status = c.world.dock_status(dock);
    VOLVOX_ASSERT((status.phase == world::DockPhase::free) == (c.world.graph().partner(dock) == world::nobody));
    reading.enabled = status.enabled;
    reading.engaged = status.phase == world::DockPhase::engaged;
    reading.latching = status.phase == world::DockPhase::latching;
    reading.broken = status.broken;
    const world::DockIndex partner = c.world.graph().partner(dock);
    if (partner == world::nobody) reading.neighbor.clear();
    else reading.neighbor = c.world.dock_model(partner).name;
  }

 private:
  int dock_;
};

class DockLoadSensor final : public TypedSensor<DockLoad> {
 public:
  explicit DockLoadSensor(int dock) : dock_(dock) {}
  void measure(const SenseContext& c, DockLoad& reading) const override {
    const world::DockLoad load = c.world.dock_load(c.dock(dock_));
    reading = {load.axial, load.shear, load.bending, load.torsion};
  }

 private:
  int dock_;
};

class LatchSensor final : public TypedSensor<LatchState> {
 public:
  explicit LatchSensor(int dock) : dock_(dock) {}
  void measure(const SenseContext& c, LatchState& reading) const override {
    const world::DockIndex dock = c.dock(dock_);
    VOLVOX_ASSERT(c.world.latches() != nullptr && c.world.latches()->model(dock) != nullptr);
    const world::Latches::Jaws& jaws = c.world.latches()->jaws(dock);
    reading = {jaws.opening, jaws.opening <= 0, jaws.jammed, jaws.stuck, c.world.dock_slip(dock)};
  }

 private:
  int dock_;
};

class LinkSensor final : public TypedSensor<LinkState> {
 public:
  explicit LinkSensor(int outlet) : outlet_(outlet) {}
  void measure(const SenseContext& c, LinkState& reading) const override {
    VOLVOX_ASSERT(c.exchange != nullptr);
    reading = c.exchange->link(c.agent, outlet_);
  }

 private:
  int outlet_;
};

class SignalSensor final : public TypedSensor<Signal> {
 public:
  explicit SignalSensor(int outlet) : outlet_(outlet) {}
  void measure(const SenseContext& c, Signal& reading) const override {
    VOLVOX_ASSERT(c.exchange != nullptr);
    reading = c.exchange->signal(c.agent, outlet_);
  }

 private:
  int outlet_;
};

// The specific force, as a real accelerometer measures it: 9.81 m/s^2 upwards at rest on the ground.
class Accelerometer final : public MountedSensor<Vec3> {
 public:
  using MountedSensor::MountedSensor;
  void measure(const SenseContext& c, Vec3& reading) const override {
    const world::LinkIndex link = c.link(link_);
    const Pose mounted = mount(c);
    const Vec3 arm = mounted.position - c.world.link_pose(link) * c.world.link_model(link).inertial.position;
    const Twist now = c.world.link_velocity(link), before = c.world.last_velocity(link);
    const double between = c.world.last_advance();
    VOLVOX_ASSERT(between > 0);
    const Vec3 turning = (now.angular - before.angular) / between;
    const Vec3 acceleration =
        (now.linear - before.linear) / between + cross(turning, arm) + cross(now.angular, cross(now.angular, arm));
    reading = mounted.rotation.conjugate() * (acceleration - c.world.model().gravity);
  }
};

class Gyroscope final : public MountedSensor<Vec3> {
 public:
  using MountedSensor::MountedSensor;
  void measure(const SenseContext& c, Vec3& reading) const override {
    reading = mount(c).rotation.conjugate() * c.world.link_velocity(c.link(link_)).angular;
  }
};

class PoseSensor final : public MountedSensor<Pose> {
 public:
  using MountedSensor::MountedSensor;
  void measure(const SenseContext& c, Pose& reading) const override { reading = mount(c); }
};

class VelocitySensor final : public MountedSensor<Twist> {
 public:
  using MountedSensor::MountedSensor;
  void measure(const SenseContext& c, Twist& reading) const override {
    const world::LinkIndex link = c.link(link_);
    const Vec3 arm = mount(c).position - c.world.link_pose(link) * c.world.link_model(link).inertial.position;
    reading = c.world.link_velocity(link);
    reading.linear += cross(reading.angular, arm);
  }
};

class ContactSensor final : public MountedSensor<Contact> {
 public:
  using MountedSensor::MountedSensor;
  bool needs_contacts() const override { return true; }
  void measure(const SenseContext& c, Contact& reading) const override {
    const double force = c.contact_forces[c.link(link_)];
    VOLVOX_ASSERT(c.contact_forces.size() == c.world.links());
    reading = {force >= 0, std::max(force, 0.0)};
  }
};

class ImmersionSensor final : public MountedSensor<Immersion> {
 public:
  using MountedSensor::MountedSensor;
  void measure(const SenseContext& c, Immersion& reading) const override {
    const world::Matter* matter = c.world.matter();
    if (matter == nullptr) return;
    const world::Immersion found = matter->immersion(c.link(link_));
    reading = {found.submerged, found.wet};
  }
};

// The positions of the nearest other modules, in the mount's frame, the nearest first.
class NeighborSensor final : public MountedSensor<std::vector<Vec3>> {
 public:
  NeighborSensor(const model::Sensor& sensor, const Parameters& p)
      : MountedSensor(sensor), max_range_(p.number("max_range", 2, 1e-6, 1e6)), most_(p.integer("count", 8, 1, 1000)) {}
  double neighbor_range() const override { return max_range_; }
  void measure(const SenseContext& c, std::vector<Vec3>& reading) const override {
    const Pose mounted = mount(c);
    thread_local std::vector<exchange::Neighborhood::Near> near;
    VOLVOX_ASSERT(c.neighborhood != nullptr);
    c.neighborhood->near(mounted.position, max_range_, c.module, near);
    reading.resize(std::min(near.size(), most_));
    for (std::size_t i = 0; i < reading.size(); ++i)
      reading[i] = mounted.rotation.conjugate() * (near[i].position - mounted.position);
  }

 private:
  double max_range_;
  std::size_t most_;
};

template <class S>
SensorFactory plain() {
  return [](const model::Sensor& sensor, const Parameters&) -> std::unique_ptr<Sensor> {
    return std::make_unique<S>(sensor);
  };
}

// A reading from outside the simulation: an input of kind "percept" writes it, and it stays until the next one.
class ExternalSensor final : public TypedSensor<double> {
 public:
  void measure(const SenseContext&, double&) const override {}
};

}  // namespace

SensorRegistry built_in_sensors() {
  SensorRegistry registry("sensor type");
  registry.add("accelerometer", plain<Accelerometer>(), "specific force, Vec3 in m/s^2");
  registry.add("gyroscope", plain<Gyroscope>(), "angular velocity, Vec3 in rad/s");
  registry.add("pose", plain<PoseSensor>(), "where it is, Pose in the world (for debugging)");
  registry.add("velocity", plain<VelocitySensor>(),
               "how it moves, Twist in the world's axes (with pose: a motion capture system)");
  registry.add("contact", plain<ContactSensor>(), "whether the link touches anything, and how hard");
  registry.add("immersion", plain<ImmersionSensor>(),
               "whether the link is wet, and the part of its volume below the level of the fluid");
  registry.add(
      "neighbors",
      [](const model::Sensor& sensor, const Parameters& p) -> std::unique_ptr<Sensor> {
        return std::make_unique<NeighborSensor>(sensor, p);
      },
      "where the nearest other modules are, a list of Vec3 from the sensor: max_range, count");
  registry.add("camera", make_camera, "an image of colours and depths: width, height, field_of_view, near, max_range");
  registry.add("dock_beacon", make_dock_beacon,
               "the nearest free dock that faces the sensor: max_range, field_of_view");
  add_range_sensors(registry);
  registry.add(
      "external", [](const model::Sensor&, const Parameters&) { return std::make_unique<ExternalSensor>(); },
      "a number that comes from outside: a joystick, a socket, a viewer");
  return registry;
}

std::unique_ptr<Sensor> make_joint_angle_sensor(int joint) { return std::make_unique<JointAngle>(joint); }
std::unique_ptr<Sensor> make_joint_velocity_sensor(int joint) { return std::make_unique<JointVelocity>(joint); }
std::unique_ptr<Sensor> make_joint_torque_sensor(int joint) { return std::make_unique<JointTorque>(joint); }
std::unique_ptr<Sensor> make_dock_state_sensor(int dock) { return std::make_unique<DockStateSensor>(dock); }
std::unique_ptr<Sensor> make_latch_sensor(int dock) { return std::make_unique<LatchSensor>(dock); }
std::unique_ptr<Sensor> make_dock_load_sensor(int dock) { return std::make_unique<DockLoadSensor>(dock); }
std::unique_ptr<Sensor> make_link_sensor(int outlet) { return std::make_unique<LinkSensor>(outlet); }
std::unique_ptr<Sensor> make_signal_sensor(int outlet) { return std::make_unique<SignalSensor>(outlet); }

}  // namespace volvox::mind
