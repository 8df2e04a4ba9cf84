// Extensions that take part in the loop: what they read outside becomes inputs at the boundary of a
// tick, and what they send out they read from a finished tick.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "volvox/base/parameters.h"
#include "volvox/base/registry.h"
#include "volvox/mind/extension.h"

namespace volvox::sim {

class Simulation;

class Extension : public mind::Extension {
 public:
  virtual void begin(const Simulation&) {}  // the simulation stands at its first tick
  // Between two ticks: Simulation::give() takes what came from outside. Nothing else may be changed.
  virtual void before_tick(Simulation&) {}
  virtual void after_tick(const Simulation&) {}  // the publish phase: look, and send out
};

// What an extension is made with. When a recording is replayed nothing outside may be touched: the
// hooks of the loop are not called then, and init must open nothing.
struct ExtensionSetup {
  const Parameters& parameters;
  std::filesystem::path folder;  // of the world's file
  bool replay = false;
};
using ExtensionFactory = std::function<std::unique_ptr<mind::Extension>(const ExtensionSetup&)>;
using ExtensionRegistry = Registry<ExtensionFactory>;

}  // namespace volvox::sim
