#include "disturbance.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/base/union_find.h"

namespace volvox::experiments {
namespace {

// By placement: the lowest placement that it is connected with.
std::vector<std::uint32_t> organisms(const model::WorldModel& world) {
  UnionFind joined(world.placements.size());
  for (const model::Connection& c : world.connections)
    joined.join(static_cast<std::uint32_t>(c.a), static_cast<std::uint32_t>(c.b));
  return joined.roots();
}

model::NoiseSpec noise(const char* type, double deviation) {
  return {type, {{"deviation", std::to_string(deviation)}}, 0};
}

}  // namespace

void change_models(model::WorldModel& world, const std::function<void(model::ModuleModel&)>& change) {
  std::map<std::shared_ptr<const model::ModuleModel>, std::shared_ptr<const model::ModuleModel>> changed;
  for (model::Placement& placement : world.placements) {
    if (!placement.is_module()) continue;
    auto& model = changed[placement.model];
    if (!model) {
      auto copy = std::make_shared<model::ModuleModel>(*placement.model);
      change(*copy);
      model = std::move(copy);
    }
    placement.model = model;
  }
}

void set_clocks_apart(model::WorldModel& world) { world.clocks = {.offset = 10, .drift_ppm = 50}; }

void move_starts(model::WorldModel& world, std::uint64_t seed, double distance, double angle) {
  const std::vector<std::uint32_t> organism = organisms(world);
  std::set<std::size_t> robots, fixed;
  for (std::size_t i = 0; i < organism.size(); ++i) {
    if (world.placements[i].is_module()) robots.insert(organism[i]);
    if (world.placements[i].model->fixed_in_place) fixed.insert(organism[i]);
  }
  const std::vector<model::Placement> nominal = world.placements;
  for (std::size_t i = 0; i < organism.size(); ++i) {
    if (!robots.contains(organism[i]) || fixed.contains(organism[i])) continue;
    RandomStream random(seed, organism[i], "start");
    const double direction = random.uniform(-pi, pi), turn = random.chance(0.5) ? angle : -angle;
    const Pose about{nominal[organism[i]].pose.position, {}};
    const Pose moved{about.position + Vec3{volvox::cos(direction), volvox::sin(direction), 0} * distance,
                     Quat::axis_angle({0, 0, 1}, turn)};
    model::Placement& placement = world.placements[i];
    placement.pose = moved * about.inverse() * placement.pose;
    placement.pose.rotation = normalized(placement.pose.rotation);
  }
}

void permute_modules(model::WorldModel& world, std::uint64_t seed) {
  std::vector<std::uint32_t> modules;
  for (const std::uint32_t i : indices(world.placements))
    if (world.placements[i].is_module()) modules.push_back(i);
  std::vector<std::uint32_t> shuffled = modules;
  RandomStream random(seed, 0, "permutation");
  for (std::size_t i = shuffled.size(); i > 1; --i) std::swap(shuffled[i - 1], shuffled[random.below(i)]);

  std::vector<int> moved_to(world.placements.size());
  std::iota(moved_to.begin(), moved_to.end(), 0);
  std::vector<model::Placement> placements = world.placements;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    placements[shuffled[i]] = world.placements[modules[i]];
    moved_to[modules[i]] = shuffled[i];
  }
  world.placements = std::move(placements);
  for (model::Connection& c : world.connections) {
    c.a = moved_to[c.a];
    c.b = moved_to[c.b];
  }
}

void add_percept_noise(model::WorldModel& world) {
  change_models(world, [](model::ModuleModel& model) {
    for (const model::Joint& joint : model.joints)
      model.percept_noise[joint.name + ".angle"].push_back(noise("gaussian", 0.005));
    for (const model::Sensor& sensor : model.sensors) {
      model::NoiseChainSpec& chain = model.percept_noise[sensor.name];
      if (sensor.type == "accelerometer") chain.push_back(noise("gaussian", 0.3));
      if (sensor.type == "dock_beacon") chain.push_back(noise("gaussian", 0.003));
      if (sensor.type == "gyroscope") chain.insert(chain.end(), {noise("gaussian", 0.02), noise("bias", 0.02)});
    }
  });
}

void lose_messages(model::WorldModel& world, double probability) {
  if (probability <= 0) return;
  change_models(world, [&](model::ModuleModel& model) {
    model.message_noise["*"].push_back({"dropout", {{"probability", fmt::format("{}", probability)}}, 0});
  });
}

void cut_messages(model::WorldModel& world) { lose_messages(world, 1); }

void disturb(model::WorldModel& world, std::uint64_t seed) {
  permute_modules(world, seed);
  move_starts(world, seed);
  set_clocks_apart(world);
  add_percept_noise(world);
}

}  // namespace volvox::experiments
