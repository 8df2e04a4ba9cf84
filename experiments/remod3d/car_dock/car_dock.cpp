#include "car_dock.h"

#include <algorithm>
#include <cmath>

#include "volvox/world/measures.h"

namespace volvox::experiments::remod3d {
namespace {

constexpr double moved_m = 0.02, turned = radians(10);  // by which the start of the second car is disturbed, either way

// The rear hub of car A lies at the origin; car B's modules have names that begin with b.
void disturb(model::WorldModel& world, RandomStream& random, double amount) {
  const auto hub = std::find_if(world.placements.begin(), world.placements.end(), [](const model::Placement& p) { return p.name == "b_hub"; });
  const Vec3 centre = hub->pose.position;
  const Pose move{{amount * random.uniform(-moved_m, moved_m), amount * random.uniform(-moved_m, moved_m), 0},
                  Quat::axis_angle({0, 0, 1}, amount * random.uniform(-turned, turned))};
  for (model::Placement& placement : world.placements) {
    if (!placement.name.starts_with("b_")) continue;
    placement.pose = Pose{centre + move.position + move.rotation * (placement.pose.position - centre), move.rotation * placement.pose.rotation};
  }
}

// A fan of rays at the pole that looks ahead, level and from right to left whichever way the hub is turned.
std::shared_ptr<const model::ModuleModel> with_an_eye(const model::ModuleModel& atron, const Quat& attitude, double noise) {
  auto seeing = std::make_shared<model::ModuleModel>(atron);
  model::Sensor eye;
  eye.name = "eye", eye.type = "range";
  for (std::size_t i = 0; i < seeing->links.size(); ++i)
    if (seeing->links[i].name == "north") eye.link = static_cast<int>(i);
  eye.pose = Pose{{0, 0, 0.057}, attitude.conjugate()};
  eye.parameters = {{"rays", "31"}, {"field_of_view", "1"}, {"max_range", "1"}};
  seeing->sensors.push_back(eye);
  if (noise > 0) seeing->percept_noise["eye"] = {{"gaussian", {{"deviation", std::to_string(noise)}}, 0}};
  return seeing;
}

// The order of modules says nothing: the programs must not depend on who is first.
void shuffle(model::WorldModel& world, RandomStream& random) {
  std::vector<int> to(world.placements.size());
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<int>(i);
  for (std::size_t i = to.size(); i > 1; --i) std::swap(to[i - 1], to[random.below(i)]);
  std::vector<model::Placement> placements(to.size());
  for (std::size_t i = 0; i < to.size(); ++i) placements[static_cast<std::size_t>(to[i])] = std::move(world.placements[i]);
  world.placements = std::move(placements);
  for (model::Connection& connection : world.connections) {
    connection.a = to[static_cast<std::size_t>(connection.a)];
    connection.b = to[static_cast<std::size_t>(connection.b)];
  }
}

std::uint32_t find(const world::World& world, const std::string& name) {
  for (std::uint32_t p = 0; p < world.placements(); ++p)
    if (world.name(p) == name) return p;
  VOLVOX_CHECK(false, "a module of car_dock is missing");
}

}  // namespace

Result<model::WorldModel> CarDock::init(sim::Setup& setup) {
  auto world = Experiment::init(setup);
  if (!world.ok()) return world;
  const Parameters parameters(setup.settings, "experiment remod3d/car_dock");
  RandomStream random(setup.seed, 0, "start");
  disturb(*world, random, parameters.number("disturbed", 1));
  const double noise = parameters.number("noise", 0.005);
  for (model::Placement& placement : world->placements)
    if (placement.name == "b_hub") {
      // As it lies in the undisturbed car: the eye is built in.
      placement.model = with_an_eye(*placement.model, Quat::rpy(-pi / 2, -pi / 4, -pi / 2), noise);
    }
  shuffle(*world, random);
  return world;
}

void CarDock::observe(const sim::Simulation& simulation) {
  const world::World& world = simulation.world();
  if (docked_at_ < 0 && world.organism_count() == 1) docked_at_ = simulation.now().seconds();
  if (docked_at_ >= 0 && parted_at_ < 0 && world.organism_count() == 2) parted_at_ = simulation.now().seconds();
}

void CarDock::shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) {
  const world::World& world = simulation.world();
  const Vec3 way = world::centre_of_mass(world, find(world, "b_rear_hub")) - world::centre_of_mass(world, find(world, "b_hub"));
  const double gap = std::hypot(way.x, way.y);
  const bool away = parted_at_ >= 0 && gap > 0.25 && world.organism_count() == 2;
  metrics.set("docked", docked_at_ >= 0, "1: fifteen modules became one robot");
  metrics.set("docked_at_s", sim::measured_time(docked_at_), "-: they did not");
  metrics.set("parted_at_s", sim::measured_time(parted_at_), "-: the last three did not let go");
  metrics.set("gap_m", gap, "at the end, between the hub of the last three and that before it: 0.158 while docked");
  metrics.set("succeeded", away, "1: they docked, let go, and the three drove away");
}

void CarDock::archive_state(Archive& ar) {
  ar("docked", docked_at_);
  ar("parted", parted_at_);
}

}  // namespace volvox::experiments::remod3d
