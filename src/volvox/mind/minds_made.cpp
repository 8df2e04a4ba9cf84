// Construction of Minds; its phases are in minds.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/mind/minds.h"

namespace volvox::mind {

Minds::Minds() = default;
Minds::~Minds() = default;

Result<std::unique_ptr<Minds>> Minds::create(const world::World& world, const Registries& registries,
                                             std::uint64_t seed) {
  std::unique_ptr<Minds> minds(new Minds);
  minds->agent_of_placement_.assign(world.placements(), world::nobody);
  minds->agents_.reserve(world.modules().size());
  std::map<const model::ModuleModel*, std::shared_ptr<const Anatomy>> anatomies;
  for (const world::PlacementIndex placement : world.modules()) {
    auto& anatomy = anatomies[&world.module_model(placement)];
    if (!anatomy) {
      auto made = Anatomy::make(world.model().placements[placement].model, registries);
      if (!made.ok()) return made.error();
      anatomy = *made;
    }
    minds->agent_of_placement_[placement] = minds->agents_.size();
    minds->agents_.emplace_back();
    minds->agents_.back().anatomy_ = anatomy;
    minds->first_slot_.push_back(narrow<std::uint32_t>(minds->slots_.size()));
    if (auto added = minds->add(world, placement, registries, seed); !added.ok()) return added.error();
  }
  minds->first_slot_.push_back(narrow<std::uint32_t>(minds->slots_.size()));
  minds->failures_.resize(minds->agents_.size());
  minds->seen_docks_.resize(minds->agents_.size());
  VOLVOX_ASSERT(minds->noises_.size() == minds->agents_.size());
  auto exchange = exchange::Exchange::create(world, registries.propagations, seed, *minds);
  if (!exchange.ok()) return exchange.error();
  minds->exchange_ = std::move(*exchange);
  return minds;
}

namespace {

model::Clock draw_clock(const model::ClockSpread& spread, RandomStream random) {
  const double offset = random.uniform(0, spread.offset);
  return {offset, random.uniform(-spread.drift_ppm, spread.drift_ppm)};
}

}  // namespace

Result<void> Minds::add(const world::World& world, world::PlacementIndex placement, const Registries& registries,
                        std::uint64_t seed) {
  const model::Placement& placed = world.model().placements[placement];
  const model::Mind& mind = *placed.effective_mind();
  Agent& agent = agents_.back();
  const Anatomy& anatomy = *agent.anatomy_;
  agent.name_ = placed.name;
  VOLVOX_ASSERT(agent_of_placement_[placement] + 1 == agents_.size());
  agent.placement_ = placement;
  agent.clock_ =
      placed.clock ? *placed.clock : draw_clock(world.model().clocks, RandomStream(seed, placement, "clock"));
  agent.address_ = narrow<int>(agents_.size()) - 1;
  agent.extensions_ = registries.extensions;
  for (const auto& sensor : anatomy.sensors) agent.percepts_.push_back(Value::of(sensor->type()));
  for (const auto& actuator : anatomy.actuators) agent.actions_.push_back(Value::of(actuator->type()));
  agent.action_set_.assign(agent.actions_.size(), 0);
  Bearer bearer{narrow<std::uint32_t>(agents_.size() - 1), {}};
  for (std::size_t a = 0; a < agent.actions_.size(); ++a) {
    VOLVOX_ASSERT(!anatomy.actuators[a]->always() || anatomy.actuators[a]->on_board());
    if (anatomy.actuators[a]->always()) bearer.bearings.push_back({a, agent.actions_[a]});
  }
  if (!bearer.bearings.empty()) bearers_.push_back(std::move(bearer));
  if (anatomy.needs_contacts) needs_contacts_ = true;
  neighbor_range_ = std::max(neighbor_range_, anatomy.neighbor_range);
  if (!anatomy.ray_sensors.empty()) casts_rays_ = true;

  if (mind.behavior.empty() && !mind.further.empty())
    return Diagnostic{mind.file, mind.line, "there are further behaviors, but no first one",
                      "name it: <volvox:mind behavior=\"...\">"};
  if (auto added = add_behavior(mind, registries, seed); !added.ok()) return added;
  for (const model::Mind& further : mind.further)
    if (auto added = add_behavior(further, registries, seed); !added.ok()) return added;
  return add_noise(agent, registries, seed);
}

Result<void> Minds::add_behavior(const model::Mind& spec, const Registries& registries, std::uint64_t seed) {
  Agent& agent = agents_.back();
  const std::size_t number = agent.programs_.size();
  Agent::Program& program = agent.programs_.emplace_back();
  program.parameters = Parameters(spec.parameters, fmt::format("behavior '{}'", spec.behavior), spec.file, spec.line);
  program.random = RandomStream(seed, agent.placement_, number == 0 ? "behavior" : fmt::format("behavior:{}", number));
  if (spec.behavior.empty()) return program.parameters.check();
  const auto factory = registries.behaviors.find(spec.behavior, spec.file, spec.line);
  if (!factory.ok()) return factory.error();
  try {
    slots_.push_back({(**factory)(), spec.behavior});
  } catch (const std::exception& error) {
    return Diagnostic{spec.file, spec.line,
                      fmt::format("behavior '{}' cannot be made: {}", spec.behavior, error.what()),
                      "correct the behavior"};
  }
  program.omniscient = slots_.back().behavior->omniscient();
  if (program.omniscient) agent.everyone_ = &agents_;
  return {};
}

Result<void> Minds::add_noise(const Agent& agent, const Registries& registries, std::uint64_t seed) {
  const Anatomy& anatomy = *agent.anatomy_;
  const model::ModuleModel& model = *anatomy.model;
  Noises noises;
  const auto add_slot = [&](std::vector<NoiseSlot>& slots, int index, const model::NoiseChainSpec& specs,
                            const TypeInfo* type, const std::string& purpose) -> Result<void> {
    auto chain =
        NoiseChain::make(specs, registries.noise, type, RandomStream(seed, agent.placement_, purpose), model.file);
    if (!chain.ok()) return chain.error();
    slots.push_back({index, std::move(*chain)});
    return {};
  };
  for (const auto& [name, specs] : model.percept_noise) {
    const int index = anatomy.percepts.find(name)->second;
    VOLVOX_ASSERT(index < std::ssize(anatomy.sensors));
    for (const model::Sensor& sensor : model.sensors)
      if (sensor.name == name && sensor.type == "external")  // its value stays until the next input: noise would add up
        return Diagnostic{model.file, sensor.line,
                          fmt::format("the percept '{}' comes from outside and takes no noise", name),
                          "leave its <volvox:noise> out"};
    if (auto ok = add_slot(noises.percepts, index, specs, &anatomy.sensors[index]->type(), "percept:" + name); !ok.ok())
      return ok;
  }
  for (const auto& [name, specs] : model.action_noise) {
    const int index = anatomy.actions.find(name)->second;
    VOLVOX_ASSERT(index < std::ssize(anatomy.actuators));
    if (auto ok = add_slot(noises.actions, index, specs, &anatomy.actuators[index]->type(), "action:" + name); !ok.ok())
      return ok;
  }
  for (const auto& [name, specs] : model.message_noise) {
    for (std::size_t o = 0; o < anatomy.outlet_names.size(); ++o) {
      const std::string& outlet = anatomy.outlet_names[o];
      if (name != outlet && !(name == "*" && o < model.docks.size())) continue;
      if (auto ok = add_slot(noises.messages, narrow<int>(o), specs, nullptr, "message:" + name + ":" + outlet);
          !ok.ok())
        return ok;
    }
  }
  noises_.push_back(std::move(noises));
  return {};
}

}  // namespace volvox::mind
