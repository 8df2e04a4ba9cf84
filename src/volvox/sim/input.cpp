#include "volvox/sim/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>

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

constexpr double farthest = 1e6;  // m, and m/s: beyond it numbers lose their millimetres

Result<void> drive(const Input& input, world::World& world, std::uint32_t placement) {
  std::array<double, 13> n{};
  std::size_t count = 0;
  const char* at = input.text.c_str();
  for (char* end = nullptr; count < n.size(); at = end) {
    const double value = std::strtod(at, &end);
    if (end == at) break;
    n[count++] = value;
  }
  const bool whole = at[std::strspn(at, " ")] == 0 && (count == 7 || count == 13);
  const bool bounded =
      std::all_of(n.begin(), n.end(), [](double x) { return std::fabs(x) <= farthest; });  // false for NaN
  const double norm = std::sqrt(n[3] * n[3] + n[4] * n[4] + n[5] * n[5] + n[6] * n[6]);
  if (!whole || !bounded || !(std::fabs(norm - 1) < 1e-3))
    return Error(fmt::format("'{}' is not a pose", input.text),
                 "give x y z in m and a unit quaternion qx qy qz qw, and perhaps six velocities");
  const Pose pose{{n[0], n[1], n[2]}, normalized(Quat{n[6], n[3], n[4], n[5]})};
  world.place_link(world.part(placement).first_link, pose, {{n[7], n[8], n[9]}, {n[10], n[11], n[12]}});
  return {};
}

}  // namespace

Result<void> apply(const Input& input, Simulation& simulation) {
  world::World& world = simulation.world();
  mind::Minds& minds = simulation.minds();
  if (!std::isfinite(input.value) || !finite(input.force) || length(input.force) > largest_force)
    return Error(fmt::format("an input of kind '{}' holds a number that is out of bounds", input.kind),
                 "give numbers that are");
  if (input.kind == "parameter") {
    bool found = false;
    for (std::size_t i = 0; i < minds.size(); ++i)
      if (input.module.empty() || minds.agent(i).name() == input.module)
        found = minds.tune(i, input.name, input.text) || found;
    if (!found)
      return Error(fmt::format("no behavior has a parameter '{}' that takes the value '{}'", input.name, input.text),
                   "choose one that it has");
    return {};
  }
  if (input.kind == "percept") {
    for (std::size_t i = 0; i < minds.size(); ++i)
      if (minds.agent(i).name() == input.module && minds.agent(i).set_external(input.name, input.value)) return {};
    return no_such(input, "sensor of type external named");
  }
  for (std::uint32_t p = 0; p < world.placements(); ++p) {
    if (world.name(p) != input.module) continue;
    const model::ModuleModel& module = world.module_model(p);
    if (input.kind == "joint") {
      const int joint = find(module.joints, input.name);
      if (joint < 0 || !module.joints[static_cast<std::size_t>(joint)].motor) return no_such(input, "motor");
      world.command(world.part(p).first_joint + static_cast<std::uint32_t>(joint), physics::Control::position,
                    input.value);
    } else if (input.kind == "dock") {
      const int dock = find(module.docks, input.name);
      if (dock < 0) return no_such(input, "dock");
      world.enable_dock(world.part(p).first_dock + static_cast<std::uint32_t>(dock), input.value != 0);
    } else if (input.kind == "push") {
      const int link = input.name.empty() ? 0 : find(module.links, input.name);
      if (link < 0) return no_such(input, "link");
      world.push(world.part(p).first_link + static_cast<std::uint32_t>(link), Wrench{input.force, {}});
    } else if (input.kind == "pose") {
      if (!module.driven)
        return Error(fmt::format("module '{}' is not driven from outside", input.module),
                     "give its model <volvox:driven/>");
      return drive(input, world, p);
    } else {
      return Error(fmt::format("there is no input of kind '{}'", input.kind),
                   "use parameter, joint, dock, push, percept or pose");
    }
    return {};
  }
  return Error(fmt::format("there is no module '{}'", input.module), "choose one of this world");
}

}  // namespace volvox::sim
