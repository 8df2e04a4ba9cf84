// The only header that a plugin needs. In one of its source files:
//
//   #include <volvox/plugin/plugin.h>
//   VOLVOX_PLUGIN("patrol", "walks along fences") {
//     plugin.behaviors.add("patrol", [] { return std::make_unique<Patrol>(); }, "along the nearest fence");
//   }
//
// Exceptions are caught and reported with the plugin's name. docs/plugins.md says how to build a plugin.
//
// Units are SI. What the factories make belongs to the run. Behaviours and sensors of different modules are called from
// several threads at once (mind/behavior.h, mind/sensor.h).
#pragma once

#include <cstdio>
#include <exception>
#include <string>

#include "volvox/exchange/exchange.h"
#include "volvox/mind/behavior.h"
#include "volvox/plugin/abi.h"
#include "volvox/sim/experiment.h"
#include "volvox/view/render_engine.h"

namespace volvox::plugin {

// The registries that a plugin fills. A name that already exists is replaced, with a warning.
struct Registrations {
  mind::BehaviorRegistry behaviors{"behavior"};
  mind::SensorRegistry sensors{"sensor type"};
  mind::ActuatorRegistry actuators{"actuator type"};
  mind::NoiseRegistry noise{"noise model"};
  exchange::PropagationRegistry propagations{"law of propagation"};
  Registry<physics::EngineFactory> engines{"physics engine"};
  view::RenderEngineRegistry renderers{"render engine"};
  sim::ExtensionRegistry extensions{"extension"};
  Registry<sim::ExperimentFactory> experiments{"experiment"};
};

// What must be equal in Volvox and in a plugin (ABI): the compiler, its standard library, and the sizes of the shared
// classes. Each side compiles its own text.
inline std::string build_id() {
  std::uint64_t layout = 0;
  for (const std::size_t size :
       {sizeof(mind::Agent), sizeof(mind::Behavior), sizeof(mind::SenseContext), sizeof(mind::Registries),
        sizeof(world::World), sizeof(model::ModuleModel), sizeof(model::WorldModel), sizeof(physics::BodyDesc),
        sizeof(physics::JointDesc), sizeof(physics::Engine), sizeof(physics::StateArrays), sizeof(sim::Simulation),
        sizeof(sim::Library), sizeof(view::RenderTree), sizeof(view::Frame), sizeof(Value), sizeof(TypeInfo),
        sizeof(Registrations)})
    layout = layout * 1099511628211u + size;
#if defined(__clang__)
  const std::string compiler = "clang " + std::to_string(__clang_major__);
#else
  const std::string compiler = "gcc " + std::to_string(__GNUC__);
#endif
#ifdef _GLIBCXX_USE_CXX11_ABI
  const std::string library = "libstdc++ (cxx11 " + std::to_string(_GLIBCXX_USE_CXX11_ABI) + ")";
#else
  const std::string library = "another standard library";
#endif
  char text[32];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(layout));
  return compiler + ", " + library + ", layout " + text;
}

// Wraps the plugin's code: no exception leaves the C function.
inline int add_all(void (*fill)(Registrations&), void* registrations, char* error, std::size_t error_size) {
  try {
    fill(*static_cast<Registrations*>(registrations));
    return 0;
  } catch (const std::exception& thrown) {
    std::snprintf(error, error_size, "%s", thrown.what());
  } catch (...) {
    std::snprintf(error, error_size, "an exception of an unknown type");
  }
  return 1;
}

}  // namespace volvox::plugin

#define VOLVOX_PLUGIN(NAME, DESCRIPTION)                                                                               \
  static void volvox_plugin_fill(volvox::plugin::Registrations& plugin);                                               \
  extern "C" __attribute__((visibility("default"))) const volvox_plugin_info* volvox_plugin() {                        \
    static const std::string build = volvox::plugin::build_id();                                                       \
    static const volvox_plugin_info info = {VOLVOX_PLUGIN_ABI_VERSION,                                                 \
                                            sizeof(volvox_plugin_info),                                                \
                                            build.c_str(),                                                             \
                                            NAME,                                                                      \
                                            DESCRIPTION,                                                               \
                                            [](void* registrations, char* error, size_t size) {                        \
                                              return volvox::plugin::add_all(volvox_plugin_fill, registrations, error, \
                                                                             size);                                    \
                                            }};                                                                        \
    return &info;                                                                                                      \
  }                                                                                                                    \
  static void volvox_plugin_fill([[maybe_unused]] volvox::plugin::Registrations& plugin)
