// What stands between a plugin and the loop: every object that a plugin makes is wrapped, so that
// what it throws, and numbers that are none, are reported with the plugin's name, and so that its
// library stays in memory as long as the object does.
#pragma once

#include <memory>
#include <string>

#include "volvox/base/platform/shared_library.h"
#include "volvox/plugin/plugin.h"

namespace volvox::plugin {

// Something that a plugin did wrong; the text names it.
class PluginError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Guard {
  std::string plugin;  // as it is named in messages
  std::shared_ptr<platform::SharedLibrary> library;

  mind::BehaviorFactory behavior(const mind::BehaviorFactory& make) const;
  mind::SensorFactory sensor(const mind::SensorFactory& make, const std::string& name) const;
  mind::ActuatorFactory actuator(const mind::ActuatorFactory& make) const;
  mind::NoiseFactory noise(const mind::NoiseFactory& make, const std::string& name) const;
  exchange::PropagationFactory propagation(const exchange::PropagationFactory& make, const std::string& name) const;
  physics::EngineFactory engine(const physics::EngineFactory& make, const std::string& name) const;
  sim::ExtensionFactory extension(const sim::ExtensionFactory& make) const;

  // A factory whose products need no guard of their own.
  template <class Result, class... Arguments>
  std::function<Result(Arguments...)> plain(const std::function<Result(Arguments...)>& make) const {
    return [*this, make](Arguments... arguments) {
      return watched([&] { return make(std::forward<Arguments>(arguments)...); });
    };
  }

  // Runs the plugin's code; what it throws comes out with its name.
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
