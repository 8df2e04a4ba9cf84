// A library with all robots' behaviours and all experiments, for tests.
#pragma once

#include "behaviors.h"
#include "experiments.h"
#include "volvox/sim/run.h"

namespace volvox::experiments {

inline const sim::Library& library() {
  static const sim::Library all = [] {
    sim::Library made;
    robots::register_behaviors(made.minds.behaviors);
    register_experiments(made.experiments);
    return made;
  }();
  return all;
}

}  // namespace volvox::experiments
