#include "exchange/exchange.h"
#include "experiments.h"
#include "figure_eight/figure_eight.h"
#include "formation/formation.h"
#include "grasp/grasp.h"

namespace volvox::experiments::swarmsimx {

void register_experiments(ExperimentRegistry& registry) {
  registry.add("swarmsimx/exchange", make<Exchange>(),
               "the physics engine is changed in the middle of a run, again and again");
  registry.add("swarmsimx/figure_eight", make<FigureEight>(),
               "two quadrotors fly a horizontal and a vertical eight: the tracking error");
  registry.add("swarmsimx/formation", make<Formation>(),
               "quadrotors keep a formation on a sphere among pillars: the time of a tick");
  registry.add("swarmsimx/grasp", make<Grasp>(),
               "a quadrotor and a ground robot carry a bar through an automatic door");
}

}  // namespace volvox::experiments::swarmsimx
