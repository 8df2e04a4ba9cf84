#include "volvox/sim/input.h"

#include <fmt/format.h>

#include <cmath>

#include "volvox/sim/simulation.h"

namespace volvox::sim {
namespace {

constexpr double largest_force = 1e6;  // N; beyond it a slip of the hand would end the run

template <class Named>
int find(const std::vector<Named>& list, const std::string& name) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name) return static_cast<int>(i);
  return -1;
}

Error no_such(const Input& input, const char* what) {
  return Error(fmt::format("module '{}' has no {} '{}'", input.module, what, input.name), "choose one that it has");
}

}  // namespace

Result<void> apply(const Input& input, Simulation& simulation) {
  world::World& world = simulation.world();
  mind::Minds& minds = simulation.minds();
  if (!std::isfinite(input.value) || !finite(input.force) || length(input.force) > largest_force)
    return Error(fmt::format("an input of kind '{}' holds a number that is out of bounds", input.kind), "give numbers that are");
  if (input.kind == "parameter") {
    bool found = false;
    for (std::size_t i = 0; i < minds.size(); ++i)
      if (input.module.empty() || minds.agent(i).name() == input.module) found = minds.tune(i, input.name, input.text) || found;
    if (!found) return Error(fmt::format("no behavior has a parameter '{}' that takes the value '{}'", input.name, input.text), "choose one that it has");
    return {};
  }
  for (std::uint32_t p = 0; p < world.placements(); ++p) {
    if (world.name(p) != input.module) continue;
    const model::ModuleModel& module = world.module_model(p);
    if (input.kind == "joint") {
      const int joint = find(module.joints, input.name);
      if (joint < 0 || !module.joints[static_cast<std::size_t>(joint)].motor) return no_such(input, "motor");
      world.command(world.part(p).first_joint + static_cast<std::uint32_t>(joint), physics::Control::position, input.value);
    } else if (input.kind == "dock") {
      const int dock = find(module.docks, input.name);
      if (dock < 0) return no_such(input, "dock");
      world.enable_dock(world.part(p).first_dock + static_cast<std::uint32_t>(dock), input.value != 0);
    } else if (input.kind == "push") {
      const int link = input.name.empty() ? 0 : find(module.links, input.name);
      if (link < 0) return no_such(input, "link");
      world.engine().forces()[world.body(world.part(p).first_link + static_cast<std::uint32_t>(link)).index] += Wrench{input.force, {}};
    } else {
      return Error(fmt::format("there is no input of kind '{}'", input.kind), "use parameter, joint, dock or push");
    }
    return {};
  }
  return Error(fmt::format("there is no module '{}'", input.module), "choose one of this world");
}

}  // namespace volvox::sim
