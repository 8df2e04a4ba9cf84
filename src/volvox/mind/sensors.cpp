#include <algorithm>
#include <cmath>

#include "volvox/mind/camera.h"
#include "volvox/mind/exchange.h"
#include "volvox/mind/sensor.h"

namespace volvox::mind {
namespace {

template <class T>
class TypedSensor : public Sensor {
 public:
  const TypeInfo& type() const override { return type_of<T>(); }
  void read(const SenseContext& context, Value& reading) const override { measure(context, *reading.get<T>()); }
  virtual void measure(const SenseContext& context, T& reading) const = 0;
};

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
    const std::uint32_t dock = c.dock(dock_);
    const world::DockStatus& status = c.world.dock_status(dock);
    reading.enabled = status.enabled;
    reading.engaged = status.phase == world::DockPhase::engaged;
    reading.latching = status.phase == world::DockPhase::latching;
    reading.broken = status.broken;
    const std::uint32_t partner = c.world.graph().partner(dock);
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

class LinkSensor final : public TypedSensor<LinkState> {
 public:
  explicit LinkSensor(int outlet) : outlet_(outlet) {}
  void measure(const SenseContext& c, LinkState& reading) const override { reading = c.exchange->link(c.agent, outlet_); }
 private:
  int outlet_;
};

class SignalSensor final : public TypedSensor<Signal> {
 public:
  explicit SignalSensor(int outlet) : outlet_(outlet) {}
  void measure(const SenseContext& c, Signal& reading) const override { reading = c.exchange->signal(c.agent, outlet_); }
 private:
  int outlet_;
};

// Sensors that are mounted somewhere on a link.
template <class T>
class MountedSensor : public TypedSensor<T> {
 public:
  explicit MountedSensor(const model::Sensor& sensor) : link_(sensor.link), pose_(sensor.pose) {}

 protected:
  Pose mount(const SenseContext& c) const { return c.world.link_pose(c.link(link_)) * pose_; }
  int link_;
  Pose pose_;
};

// Specific force, as a real one measures: +9.81 upwards when at rest.
class Accelerometer final : public MountedSensor<Vec3> {
 public:
  using MountedSensor::MountedSensor;
  void measure(const SenseContext& c, Vec3& reading) const override {
    const std::uint32_t link = c.link(link_);
    const Pose mounted = mount(c);
    const Vec3 arm = mounted.position - c.world.link_pose(link) * c.world.link_model(link).inertial.position;
    const Twist now = c.world.link_velocity(link), before = c.world.last_velocity(link);
    const Vec3 turning = (now.angular - before.angular) / c.dt;
    const Vec3 acceleration = (now.linear - before.linear) / c.dt + cross(turning, arm) +
                              cross(now.angular, cross(now.angular, arm));
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

class ContactSensor final : public MountedSensor<Contact> {
 public:
  using MountedSensor::MountedSensor;
  bool needs_contacts() const override { return true; }
  void measure(const SenseContext& c, Contact& reading) const override {
    const double force = c.contact_forces[c.link(link_)];
    reading = {force >= 0, std::max(force, 0.0)};
  }
};

// A fan of rays in the xy plane of the mount, from right to left.
class Fan {
 public:
  explicit Fan(const Parameters& p, int rays, double field_of_view)
      : rays_(static_cast<int>(p.integer("rays", rays, 1, 100'000))),
        field_of_view_(p.number("field_of_view", field_of_view, 0, 2 * pi)),
        max_range_(p.number("max_range", 2, 1e-6, 1e6)) {}

  int count() const { return rays_; }
  double max_range() const { return max_range_; }
  double bearing(int ray) const {
    return rays_ == 1 ? 0 : field_of_view_ * (static_cast<double>(ray) / (rays_ - 1) - 0.5);
  }
  double step() const { return rays_ == 1 ? 0 : field_of_view_ / (rays_ - 1); }
  void cast(const Pose& mount, std::uint32_t module, std::vector<physics::Ray>& out) const {
    for (int i = 0; i < rays_; ++i) {
      const double a = bearing(i);
      const Vec3 direction = mount.rotation * Vec3{volvox::cos(a), volvox::sin(a), 0};
      out.push_back({mount.position, direction, max_range_, module + 1});
    }
  }

 private:
  int rays_;
  double field_of_view_, max_range_;
};

// Distances in m, one a ray; max_range where there is nothing.
class RangeSensor final : public MountedSensor<std::vector<double>> {
 public:
  RangeSensor(const model::Sensor& sensor, const Parameters& p) : MountedSensor(sensor), fan_(p, 1, 0) {}
  bool casts_rays() const override { return true; }
  void rays(const SenseContext& c, std::vector<physics::Ray>& out) const override { fan_.cast(mount(c), c.module, out); }
  void measure(const SenseContext& c, std::vector<double>& reading) const override {
    reading.resize(static_cast<std::size_t>(fan_.count()));
    for (std::size_t i = 0; i < reading.size(); ++i)
      reading[i] = c.hits[i].hit() ? c.hits[i].distance : fan_.max_range();
  }

 private:
  Fan fan_;
};

// An abstract sensor, as seed 000 asks for: not numbers but the features of what is nearest.
class ObstacleSensor final : public MountedSensor<Obstacle> {
 public:
  ObstacleSensor(const model::Sensor& sensor, const Parameters& p) : MountedSensor(sensor), fan_(p, 31, pi / 2) {}
  bool casts_rays() const override { return true; }
  void rays(const SenseContext& c, std::vector<physics::Ray>& out) const override { fan_.cast(mount(c), c.module, out); }
  void measure(const SenseContext& c, Obstacle& reading) const override {
    reading = {};
    int nearest = -1;
    for (int i = 0; i < fan_.count(); ++i)
      if (c.hits[i].hit() && (nearest < 0 || c.hits[i].distance < c.hits[nearest].distance)) nearest = i;
    if (nearest < 0) return;
    const std::uint32_t thing = c.world.placement_of_body(c.hits[nearest].body);
    const auto sees_it = [&](int i) {
      return c.hits[i].hit() && c.world.placement_of_body(c.hits[i].body) == thing;
    };
    int right = nearest, left = nearest;
    while (right > 0 && sees_it(right - 1)) --right;
    while (left + 1 < fan_.count() && sees_it(left + 1)) ++left;
    reading.seen = true;
    reading.distance = c.hits[nearest].distance;
    reading.bearing = fan_.bearing(nearest);
    reading.width = fan_.bearing(left) - fan_.bearing(right) + fan_.step();
    if (thing != world::nobody) {
      reading.moves = !c.world.module_model(thing).fixed_in_place;
      reading.is_module = c.world.model().placements[thing].is_module();
    }
  }

 private:
  Fan fan_;
};

template <class S>
SensorFactory plain() {
  return [](const model::Sensor& sensor, const Parameters&) -> std::unique_ptr<Sensor> {
    return std::make_unique<S>(sensor);
  };
}
template <class S>
SensorFactory with_parameters() {
  return [](const model::Sensor& sensor, const Parameters& p) -> std::unique_ptr<Sensor> {
    return std::make_unique<S>(sensor, p);
  };
}

}  // namespace

namespace {

// What a person or a device outside says: an input of kind "percept" writes it, and it stays.
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
  registry.add("contact", plain<ContactSensor>(), "whether the link touches anything, and how hard");
  registry.add("range", with_parameters<RangeSensor>(), "distances by rays: max_range, rays, field_of_view");
  registry.add("obstacle", with_parameters<ObstacleSensor>(),
               "the features of the nearest obstacle: max_range, rays, field_of_view");
  registry.add("camera", make_camera, "an image of colours and depths: width, height, field_of_view, near, max_range");
  registry.add("external", [](const model::Sensor&, const Parameters&) { return std::make_unique<ExternalSensor>(); },
               "a number that comes from outside: a joystick, a socket, a viewer");
  return registry;
}

std::unique_ptr<Sensor> make_joint_angle_sensor(int joint) { return std::make_unique<JointAngle>(joint); }
std::unique_ptr<Sensor> make_joint_velocity_sensor(int joint) { return std::make_unique<JointVelocity>(joint); }
std::unique_ptr<Sensor> make_joint_torque_sensor(int joint) { return std::make_unique<JointTorque>(joint); }
std::unique_ptr<Sensor> make_dock_state_sensor(int dock) { return std::make_unique<DockStateSensor>(dock); }
std::unique_ptr<Sensor> make_dock_load_sensor(int dock) { return std::make_unique<DockLoadSensor>(dock); }
std::unique_ptr<Sensor> make_link_sensor(int outlet) { return std::make_unique<LinkSensor>(outlet); }
std::unique_ptr<Sensor> make_signal_sensor(int outlet) { return std::make_unique<SignalSensor>(outlet); }

}  // namespace volvox::mind
