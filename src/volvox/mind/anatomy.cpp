#include "volvox/mind/anatomy.h"
#include "volvox/base/check.h"
#include "volvox/base/index.h"

#include <fmt/format.h>

#include <algorithm>

namespace volvox::mind {

Result<std::shared_ptr<const Anatomy>> Anatomy::make(std::shared_ptr<const model::ModuleModel> model,
                                                     const Registries& registries) {
  auto anatomy = std::make_shared<Anatomy>();
  anatomy->model = std::move(model);
  if (auto added = anatomy->add_sensors(registries); !added.ok()) return added.error();
  if (auto added = anatomy->add_actuators(registries); !added.ok()) return added.error();
  anatomy->outlet_names = anatomy->model->outlet_names();
  for (std::size_t o = 0; o < anatomy->outlet_names.size(); ++o)
    anatomy->outlets.emplace(anatomy->outlet_names[o], narrow<int>(o));

  // Without this check a misspelt name in <noise> would go unnoticed.
  const auto check = [&](const auto& noise, const NameIndex& names, const char* kind) -> Result<void> {
    for (const auto& [name, chain] : noise) {
      if (names.contains(name) || (name == "*" && &names == &anatomy->outlets)) continue;
      std::vector<std::string> known;
      for (const auto& [n, i] : names) known.push_back(n);
      std::sort(known.begin(), known.end());
      const std::string nearest = nearest_name(name, known);
      return Diagnostic{anatomy->model->file, chain.empty() ? 0 : chain.front().line,
                        fmt::format("noise on the {} '{}', which '{}' does not have", kind, name, anatomy->model->name),
                        nearest.empty() ? "name one that it has" : fmt::format("did you mean '{}'?", nearest)};
    }
    return {};
  };
  if (auto ok = check(anatomy->model->percept_noise, anatomy->percepts, "percept"); !ok.ok()) return ok.error();
  if (auto ok = check(anatomy->model->action_noise, anatomy->actions, "action"); !ok.ok()) return ok.error();
  if (auto ok = check(anatomy->model->message_noise, anatomy->outlets, "dock"); !ok.ok()) return ok.error();
  return std::shared_ptr<const Anatomy>(anatomy);
}

namespace {

// A plugin's factory may throw.
template <class Make>
Result<void> make_part(Make&& make, const char* kind, const std::string& name, const std::string& file, int line) {
  try {
    make();
    return {};
  } catch (const std::exception& error) {
    return Diagnostic{file, line, fmt::format("the {} '{}' cannot be made: {}", kind, name, error.what()),
                      fmt::format("correct the {}, or leave it out", kind)};
  }
}

}  // namespace

Result<void> Anatomy::add_sensors(const Registries& registries) {
  for (std::size_t j = 0; j < model->joints.size(); ++j) {
    const model::Joint& joint = model->joints[j];
    if (joint.type != model::JointType::revolute && joint.type != model::JointType::prismatic) continue;
    const int index = narrow<int>(j), first = narrow<int>(sensors.size());
    joint_percepts.push_back({index, first, first + 1, joint.motor ? first + 2 : -1});
    if (auto ok = add(joint.name + ".angle", make_joint_angle_sensor(index), 0); !ok.ok()) return ok;
    if (auto ok = add(joint.name + ".velocity", make_joint_velocity_sensor(index), 0); !ok.ok()) return ok;
    if (joint.motor)
      if (auto ok = add(joint.name + ".torque", make_joint_torque_sensor(index), 0); !ok.ok()) return ok;
  }
  for (std::size_t d = 0; d < model->docks.size(); ++d) {
    const std::string& dock = model->docks[d].name;
    dock_percepts.push_back({narrow<int>(d), narrow<int>(sensors.size()), narrow<int>(sensors.size()) + 1});
    if (auto ok = add(dock + ".dock", make_dock_state_sensor(narrow<int>(d)), 0); !ok.ok()) return ok;
    if (auto ok = add(dock + ".load", make_dock_load_sensor(narrow<int>(d)), 0); !ok.ok()) return ok;
  }
  first_other_percept = sensors.size();
  for (std::size_t d = 0; d < model->docks.size(); ++d)
    if (model->docks[d].latch)
      if (auto ok = add(model->docks[d].name + ".latch", make_latch_sensor(narrow<int>(d)), 0); !ok.ok()) return ok;
  for (const model::Wire& wire : model->wires) {
    const std::string& dock = model->docks[wire.dock].name;
    if (auto ok = add(dock + ".link", make_link_sensor(wire.dock), wire.line); !ok.ok()) return ok;
  }
  int outlet = narrow<int>(model->docks.size());
  for (const model::Radio& radio : model->radios)
    if (auto ok = add(radio.name + ".signal", make_signal_sensor(outlet++), radio.line); !ok.ok()) return ok;
  for (const model::Bus& bus : model->buses)
    if (auto ok = add(bus.name + ".link", make_link_sensor(outlet++), bus.line); !ok.ok()) return ok;
  for (const model::Sensor& sensor : model->sensors) {
    const auto factory = registries.sensors.find(sensor.type, model->file, sensor.line);
    if (!factory.ok()) return factory.error();
    const Parameters parameters(sensor.parameters, fmt::format("sensor '{}'", sensor.name), model->file, sensor.line);
    std::unique_ptr<Sensor> made;
    if (auto ok =
            make_part([&] { made = (**factory)(sensor, parameters); }, "sensor", sensor.name, model->file, sensor.line);
        !ok.ok())
      return ok;
    if (auto ok = parameters.check(); !ok.ok()) return ok;
    if (auto ok = add(sensor.name, std::move(made), sensor.line); !ok.ok()) return ok;
  }
  return {};
}

Result<void> Anatomy::add_actuators(const Registries& registries) {
  for (std::size_t j = 0; j < model->joints.size(); ++j)
    if (model->joints[j].motor)
      if (auto ok = add(model->joints[j].name, make_joint_motor(narrow<int>(j)), 0); !ok.ok()) return ok;
  for (std::size_t d = 0; d < model->docks.size(); ++d)
    if (auto ok = add(model->docks[d].name, make_dock_latch(narrow<int>(d)), 0); !ok.ok()) return ok;
  for (std::size_t m = 0; m < model->magnets.size(); ++m)
    if (auto ok = add(model->magnets[m].name, make_magnet(narrow<int>(m)), model->magnets[m].line); !ok.ok()) return ok;
  for (const model::Actuator& actuator : model->actuators) {
    const auto factory = registries.actuators.find(actuator.type, model->file, actuator.line);
    if (!factory.ok()) return factory.error();
    const Parameters parameters(actuator.parameters, fmt::format("actuator '{}'", actuator.name), model->file,
                                actuator.line);
    std::unique_ptr<Actuator> made;
    if (auto ok = make_part([&] { made = (**factory)(actuator, parameters); }, "actuator", actuator.name, model->file,
                            actuator.line);
        !ok.ok())
      return ok;
    if (auto ok = parameters.check(); !ok.ok()) return ok;
    if (made->always() && !made->on_board())  // it would be applied to several modules at once
      return Diagnostic{
          model->file, actuator.line,
          fmt::format("the actuator '{}' of type '{}' acts always, but not on board", actuator.name, actuator.type),
          "let its on_board() say true, and apply() touch its own module alone"};
    if (auto ok = add(actuator.name, std::move(made), actuator.line); !ok.ok()) return ok;
  }
  return {};
}

Result<void> Anatomy::add(std::string name, std::unique_ptr<Sensor> sensor, int line) {
  VOLVOX_ASSERT(sensor != nullptr && sensors.size() == percept_names.size() && percepts.size() == sensors.size());
  const int index = narrow<int>(sensors.size());
  if (!percepts.emplace(name, index).second)
    return Diagnostic{model->file, line, fmt::format("'{}' has two percepts named '{}'", model->name, name),
                      "give one of them another name"};
  if (sensor->casts_rays()) ray_sensors.push_back(index);
  if (sensor->needs_contacts()) needs_contacts = true;
  neighbor_range = std::max(neighbor_range, sensor->neighbor_range());
  percept_names.push_back(std::move(name));
  sensors.push_back(std::move(sensor));
  return {};
}

Result<void> Anatomy::add(std::string name, std::unique_ptr<Actuator> actuator, int line) {
  VOLVOX_ASSERT(actuator != nullptr && actuators.size() == action_names.size() && actions.size() == actuators.size());
  const int index = narrow<int>(actuators.size());
  if (!actions.emplace(name, index).second)
    return Diagnostic{
        model->file, line,
        fmt::format("'{}' has two actions named '{}' (joints, docks, magnets and actuators share their names)",
                    model->name, name),
        "give one of them another name"};
  action_names.push_back(std::move(name));
  actuators.push_back(std::move(actuator));
  return {};
}

}  // namespace volvox::mind
