// What lives around a run and serves all of it (seed 003's SimulationExtension): a bridge to other
// software, a device, a log. First in, last out: it is there before the engine is made, and until the
// engine is gone. A behaviour can ask for one by name, see Agent::extension. What it reads outside becomes inputs at
// the boundary of a tick, and what it sends out it reads from a finished tick.
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
  // Before engines are made and configured. After an error nothing else is called.
  virtual Result<void> init() { return {}; }
  // After the engine has gone; extensions that came later have been shut down before. Must not throw.
  virtual void shutdown() {}

  // The hooks of the loop, called in the loop's thread; not when a recording is replayed. What they throw ends the run.
  virtual void begin(const sim::Simulation&) {}  // the simulation stands at its first tick
  // The input phase: Simulation::give() takes what came from outside. Nothing else may be changed.
  virtual void before_tick(sim::Simulation&) {}
  virtual void after_tick(const sim::Simulation&) {}  // the publish phase: look, and send out
  // The run is over: what it has to say of how it went.
  virtual void add_metrics(sim::Metrics&) const {}
};

// The extensions of a run, by name.
class Extensions {
 public:
  Extensions() = default;
  ~Extensions() { shut_down(); }
  Extensions(const Extensions&) = delete;
  Extensions& operator=(const Extensions&) = delete;

  // Calls init. An extension that fails in it is not kept.
  Result<void> add(const std::string& name, std::unique_ptr<Extension> extension);
  void shut_down();  // all, the last one first; each is freed after its shutdown

  Extension* find(std::string_view name) const;  // null: there is none
  std::vector<std::string> names() const;
  const std::vector<std::pair<std::string, std::unique_ptr<Extension>>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, std::unique_ptr<Extension>>> all_;  // in the order in which they came
};

}  // namespace volvox::mind
