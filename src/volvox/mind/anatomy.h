// The percepts and actions of a module model by name, and the sensors and actuators behind them. Made once for each
// model and shared by its modules; it does not change during a run, so all threads may read it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "volvox/exchange/exchange.h"
#include "volvox/mind/actuator.h"
#include "volvox/mind/extension.h"
#include "volvox/mind/noise.h"
#include "volvox/mind/sensor.h"

namespace volvox::mind {

class Behavior;
class Agent;

using BehaviorFactory = std::function<std::unique_ptr<Behavior>()>;
using BehaviorRegistry = Registry<BehaviorFactory>;

// The factories of everything that a module's description can name.
struct Registries {
  SensorRegistry sensors = built_in_sensors();
  ActuatorRegistry actuators = built_in_actuators();
  NoiseRegistry noise = built_in_noise();
  BehaviorRegistry behaviors{"behavior"};
  exchange::PropagationRegistry propagations{"law of propagation"};
  const Extensions* extensions = nullptr;  // of the run; may be null
};

// Indices by name. A lookup by string_view does not make a string.
struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
};
using NameIndex = std::unordered_map<std::string, int, NameHash, std::equal_to<>>;

struct Anatomy {
  static Result<std::shared_ptr<const Anatomy>> make(std::shared_ptr<const model::ModuleModel> model,
                                                     const Registries& registries);

  std::shared_ptr<const model::ModuleModel> model;
  std::vector<std::string> percept_names, action_names;
  std::vector<std::string> outlet_names;             // docks, radios, buses
  std::vector<std::unique_ptr<Sensor>> sensors;      // by percept
  std::vector<std::unique_ptr<Actuator>> actuators;  // by action
  NameIndex percepts, actions, outlets;
  std::vector<int> ray_sensors;  // percepts whose sensors cast rays
  bool needs_contacts = false;
  double neighbor_range = 0;  // m, the largest of its sensors

  // The percepts of joints and docks, which every module has: they are the first.
  struct OfJoint {
    int joint, angle, velocity;
    int torque;  // negative: it has no motor
  };
  struct OfDock {
    int dock, state, load;
  };
  std::vector<OfJoint> joint_percepts;
  std::vector<OfDock> dock_percepts;
  std::size_t first_other_percept = 0;

 private:
  Result<void> add_sensors(const Registries& registries);
  Result<void> add_actuators(const Registries& registries);
  Result<void> add(std::string name, std::unique_ptr<Sensor> sensor, int line);
  Result<void> add(std::string name, std::unique_ptr<Actuator> actuator, int line);
};

}  // namespace volvox::mind
