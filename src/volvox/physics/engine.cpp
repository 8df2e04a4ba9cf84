#include "volvox/physics/engine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "volvox/physics/bullet/bullet_engine.h"
#include "volvox/physics/native/native_engine.h"
#include "volvox/physics/none/none_engine.h"
#ifdef VOLVOX_HAS_MUJOCO
#  include "volvox/physics/mujoco/mujoco_engine.h"
#endif
#ifdef VOLVOX_HAS_ODE
#  include "volvox/physics/ode/ode_engine.h"
#endif

namespace volvox::physics {

const char* name(Precision precision) { return precision == Precision::mixed ? "mixed" : "double"; }

Result<Precision> parse_precision(const std::string& text) {
  for (const Precision precision : {Precision::mixed, Precision::double_})
    if (text == name(precision)) return precision;
  return Error(fmt::format("there is no precision '{}'", text), "give mixed (floats where they are enough) or double");
}

Result<std::unique_ptr<Engine>> EngineRegistry::make(const std::string& name, const EngineSettings& settings) const {
  const auto found = factories_.find(name);
  if (found != factories_.end()) {
    std::unique_ptr<Engine> engine = found->second(settings);
    if (const Precision has = engine->info().precision; settings.precision && has != *settings.precision)
      return Error(
          fmt::format("the engine '{}' knows {} precision only", name, physics::name(has)),
          fmt::format("leave out {} (--precision, or after the @), or use native", physics::name(*settings.precision)));
    return engine;
  }
  const std::string near = nearest_name(name, names());
  return Error(fmt::format("there is no physics engine '{}'", name),
               near.empty() ? fmt::format("choose one of: {}", fmt::join(names(), ", "))
                            : fmt::format("did you mean '{}'? The engines are: {}", near, fmt::join(names(), ", ")));
}

std::vector<std::string> EngineRegistry::names() const {
  std::vector<std::string> result;
  for (const auto& [name, factory] : factories_) result.push_back(name);
  return result;
}

EngineRegistry built_in_engines() {
  EngineRegistry registry;
  registry.add("bullet", make_bullet_engine);
#ifdef VOLVOX_HAS_MUJOCO
  registry.add("mujoco", make_mujoco_engine);
#endif
  registry.add("native", make_native_engine);
  registry.add("none", make_none_engine);
#ifdef VOLVOX_HAS_ODE
  registry.add("ode", make_ode_engine);
#endif
  return registry;
}

}  // namespace volvox::physics
