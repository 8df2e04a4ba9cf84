#include "hardware.h"

#include <fmt/format.h>

#include <algorithm>

#include "disturbance.h"
#include "settings.h"
#include "volvox/base/index.h"

namespace volvox::experiments::roles {
namespace {

// A gear with play: a small link turns with the servo, and the rest is joined to it by a joint that is free within the
// play.
void add_play(model::ModuleModel& model, double play) {
  const std::size_t count = model.joints.size();
  for (std::size_t j = 0; j < count; ++j) {
    model::Joint servo = model.joints[j];
    model::Joint gear = model.joints[j];
    model::Link wheel;
    wheel.name = servo.name + "_gear";
    wheel.pose = model.links[servo.child].pose * servo.child_frame;
    wheel.mass = 0.002;
    wheel.moments = {2e-7, 2e-7, 2e-7};
    wheel.geometry = std::make_shared<model::Geometry>();
    const int made = narrow<int>(model.links.size());
    gear.name = wheel.name;
    gear.parent = made, gear.parent_frame = {};
    gear.lower = -play / 2, gear.upper = play / 2;
    gear.motor.reset();
    servo.child = made, servo.child_frame = {};
    model.links.push_back(std::move(wheel));
    model.joints[j] = std::move(servo);
    model.joints.push_back(std::move(gear));
  }
}

// A bar as long as the link and as thick as its narrower side, with round ends.
void make_smooth(model::Link& link) {
  if (link.geometry->colliders.empty()) return;
  model::Bounds box;
  for (const model::Collider& part : link.geometry->colliders) box.add(model::bounds(part.shape, part.pose));
  const Vec3 size = box.high - box.low, middle = (box.high + box.low) * 0.5;
  const double radius = 0.5 * std::max(size.y, size.z);
  auto geometry = std::make_shared<model::Geometry>(*link.geometry);
  geometry->colliders.resize(1);
  geometry->colliders[0].shape = model::Capsule{radius, std::max(1e-3, size.x - 2 * radius)};
  geometry->colliders[0].pose = {middle, Quat::axis_angle({0, 1, 0}, pi / 2)};
  link.geometry = std::move(geometry);
}

}  // namespace

Hardware hardware_of(const std::map<std::string, std::string>& settings) {
  Hardware h;
  const auto read = [&](const char* name, double& value, double unit = 1) {
    if (settings.contains(name)) value = unit * experiments::number(settings, name);
  };
  const auto flag = [&](const char* name) {
    const auto given = settings.find(name);
    return given != settings.end() && given->second == "true";
  };
  read("torque", h.torque), read("servo_speed", h.servo_speed), read("stiffness", h.stiffness);
  read("dead_band", h.dead_band, radians(1)), read("play", h.play, radians(1));
  read("cable", h.cable), read("delay", h.delay), read("period", h.period);
  h.droop = flag("droop"), h.smooth = flag("smooth");
  return h;
}

void fit(const Hardware& h, model::WorldModel& world) {
  change_models(world, [&](model::ModuleModel& model) {
    for (model::Joint& joint : model.joints) {
      joint.effort = h.torque;
      joint.velocity = h.servo_speed;
      // Back EMF: damping in proportion to speed models the fall of the torque.
      if (h.droop) joint.damping += h.torque / h.servo_speed;
      if (joint.motor) joint.motor->kp = h.stiffness;
      if (h.dead_band > 0)
        model.action_noise[joint.name].push_back({"quantise", {{"step", fmt::format("{}", h.dead_band)}}, 0});
    }
    if (h.play > 0) add_play(model, h.play);
    if (h.delay > 0)
      for (const int dock : indices<int>(model.docks)) model.wires.push_back({.dock = dock, .delay = h.delay});
    if (h.smooth)
      for (model::Link& link : model.links) make_smooth(link);
  });
}

void set_period(const Hardware& h, model::WorldModel& world, std::uint64_t seed) {
  const double slow = (2.5 / h.period - 1) * 1e6;  // ppm
  for (const std::uint32_t i : indices(world.placements)) {
    model::Placement& placement = world.placements[i];
    if (slow == 0 || !placement.is_module()) continue;
    RandomStream random(seed, i, "slow clock");
    const double spread = world.clocks.drift_ppm;
    if (!placement.clock)
      placement.clock = model::Clock{random.uniform(0, world.clocks.offset), random.uniform(-spread, spread)};
    placement.clock->drift_ppm += slow;
  }
}

void drag_cables(const Hardware& h, sim::Simulation& simulation) {
  if (h.cable <= 0) return;
  constexpr double creep = 0.005;  // m/s; a slower module is held by less
  world::World& world = simulation.world();
  for (const world::PlacementIndex module : world.modules()) {
    const world::LinkIndex body = world.part(module).first_link + 1;  // the housing, between base and head
    const Vec3 velocity = world.link_velocity(body).linear;
    const Vec3 along{velocity.x, velocity.y, 0};
    world.push(body, {along * (-h.cable / std::max(creep, length(along))), {}});
  }
}

}  // namespace volvox::experiments::roles
