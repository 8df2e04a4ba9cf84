#include "experiments.h"

namespace volvox::experiments::swarmsimx {

// Each in the file of its name.
sim::ExperimentFactory exchange(), figure_eight(), formation(), grasp(), vehicle();

void register_experiments(ExperimentRegistry& registry) {
  registry.add("swarmsimx/exchange", exchange(),
               "the physics engine is changed in the middle of a run, again and again");
  registry.add("swarmsimx/figure_eight", figure_eight(),
               "two quadrotors fly a horizontal and a vertical eight: the tracking error");
  registry.add("swarmsimx/formation", formation(),
               "quadrotors keep a formation on a sphere among pillars: the time of a tick");
  registry.add("swarmsimx/grasp", grasp(), "a quadrotor and a ground robot carry a bar through an automatic door");
  registry.add("swarmsimx/vehicle", vehicle(), "a buggy with springs and tyres sinks in, drives, and circles");
}

}  // namespace volvox::experiments::swarmsimx
