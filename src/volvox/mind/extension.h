// An extension serves the whole run (seed 003's SimulationExtension): a bridge to other software, a device, a log. It
// is made before the engine and shut down after it. Behaviours get it by name with Agent::extension. Data from outside
// becomes inputs at the boundary of a tick; data for the outside is read from a finished tick.
// The run owns it, and calls it from the thread of the loop. Behaviours call it from several threads at once: what they
// call must lock, and must give each the same answers at any number of threads.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "volvox/base/result.h"

namespace volvox::sim {
class Metrics;
class Simulation;
}  // namespace volvox::sim

namespace volvox::mind {

class Extension {
 public:
  virtual ~Extension() = default;
  // Called before the engine is made. After an error no other function is called.
  virtual Result<void> init() { return {}; }
  // Called after the engine was destroyed, in reverse order of the extensions. Must not throw.
  virtual void shutdown() {}

  // Hooks of the loop, called in its thread, but not when a recording is replayed. An exception ends the run.
  virtual void begin(const sim::Simulation&) {}  // before the first tick
  // The input phase: hand inputs to Simulation::give(). Nothing else may be changed.
  virtual void before_tick(sim::Simulation&) {}
  virtual void after_tick(const sim::Simulation&) {}  // the publish phase: read the state and send it out
  // The run is over: add the extension's metrics.
  virtual void add_metrics(sim::Metrics&) const {}
};

// The extensions of a run, by name.
class Extensions {
 public:
  Extensions() = default;
  ~Extensions() { shut_down(); }
  Extensions(const Extensions&) = delete;
  Extensions& operator=(const Extensions&) = delete;

  // Calls init. An extension whose init fails is not kept.
  Result<void> add(const std::string& name, std::unique_ptr<Extension> extension);
  void shut_down();  // all, the last one first; each is freed after its shutdown

  Extension* find(std::string_view name) const;  // null if there is none
  std::vector<std::string> names() const;
  const std::vector<std::pair<std::string, std::unique_ptr<Extension>>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, std::unique_ptr<Extension>>> all_;  // in the order in which they were added
};

}  // namespace volvox::mind
