// Guards between a plugin and the loop: every object of a plugin is wrapped, so that its exceptions and NaNs are
// reported with the plugin's name, and so that its library stays in memory as long as the object exists. Threads as the
// object.
#pragma once

#include <memory>
#include <string>

#include "volvox/base/platform/shared_library.h"
#include "volvox/plugin/plugin.h"

namespace volvox::plugin {

// An error of a plugin; the text names the plugin.
class PluginError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Guard {
  std::string plugin;  // its name in messages
  std::shared_ptr<platform::SharedLibrary> library;

  mind::BehaviorFactory behavior(const mind::BehaviorFactory& make) const;
  mind::SensorFactory sensor(const mind::SensorFactory& make, const std::string& name) const;
  mind::ActuatorFactory actuator(const mind::ActuatorFactory& make) const;
  mind::NoiseFactory noise(const mind::NoiseFactory& make, const std::string& name) const;
  exchange::PropagationFactory propagation(const exchange::PropagationFactory& make, const std::string& name) const;
  physics::EngineFactory engine(const physics::EngineFactory& make, const std::string& name) const;
  sim::ExtensionFactory extension(const sim::ExtensionFactory& make) const;

  // For a factory whose products need no wrapper.
  template <class Result, class... Arguments>
  std::function<Result(Arguments...)> plain(const std::function<Result(Arguments...)>& make) const {
    return [*this, make](Arguments... arguments) {
      return watched([&] { return make(std::forward<Arguments>(arguments)...); });
    };
  }

  // Calls the plugin's code; adds the plugin's name to its exceptions.
  template <class Call>
  auto watched(Call&& call) const {
    try {
      return call();
    } catch (const PluginError&) {
      throw;
    } catch (const std::exception& error) {
      throw PluginError(plugin + ": " + error.what());
    } catch (...) {
      throw PluginError(plugin + ": an exception of an unknown type");
    }
  }
};

}  // namespace volvox::plugin
