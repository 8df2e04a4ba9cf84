// A PluginHost that can say what became of its plugins, once a run is over.
#pragma once

#include <string>
#include <vector>

namespace volvox::sim {

class TellsOfPlugins {
 public:
  virtual ~TellsOfPlugins() = default;
  // What was said of plugins that are there for all runs: no run's own log has it.
  virtual std::vector<std::string> warnings() const = 0;
  // Whether an isolated plugin was disabled for taking too long: another time it may not be.
  virtual bool clock_decided() const = 0;
};

}  // namespace volvox::sim
