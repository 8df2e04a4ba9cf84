// Runs experiments of this family in one process, for its tests and figures.
#pragma once

#include <map>
#include <string>

#include "behaviors.h"
#include "experiments.h"
#include "volvox/sim/run.h"

namespace volvox::experiments::roles {

class Study {
 public:
  Study() {
    robots::register_behaviors(library_.minds.behaviors);
    experiments::register_experiments(library_.experiments);
  }

  // Runs one experiment by its name, such as "walker". Throws if the run fails.
  sim::RunReport run(const std::string& name, std::map<std::string, std::string> settings = {}, double duration = 0,
                     std::uint64_t seed = 1, const std::string& engine = "native", int threads = 1) const {
    sim::RunOptions options;
    options.experiment = "roles/" + name;
    options.settings = std::move(settings);
    options.engine = engine;
    options.seed = seed;
    options.threads = threads;
    if (duration > 0) options.duration = duration;
    Log log;
    auto run = sim::Run::prepare(options, library_, log);
    if (!run.ok()) throw std::runtime_error(run.error().text());
    (*run)->finish();
    if ((*run)->report().status != "done") throw std::runtime_error((*run)->report().failure);
    return (*run)->report();
  }
  const sim::Library& library() const { return library_; }

 private:
  sim::Library library_;
};

// A metric of a run. Throws if there is no metric of that name.
inline double metric(const sim::RunReport& report, const std::string& name) {
  const sim::Metric* found = report.metrics.find(name);
  if (found == nullptr) throw std::runtime_error("no metric " + name);
  return found->value;
}

}  // namespace volvox::experiments::roles
