#include "experiments.h"
#include "figure_eight/figure_eight.h"
#include "formation/formation.h"
#include "grasp/grasp.h"

namespace volvox::experiments::swarmsimx {

void register_experiments(ExperimentRegistry& registry) {
  registry.add("swarmsimx/figure_eight", make<FigureEight>(),
               "two quadrotors fly eights, one lying and one standing: how well they keep to them");
  registry.add("swarmsimx/formation", make<Formation>(),
               "quadrotors keep a formation on a sphere among pillars; what a tick costs by their number");
  registry.add("swarmsimx/grasp", make<Grasp>(),
               "a quadrotor and a ground robot take a bar and carry it through an automatic door");
}

}  // namespace volvox::experiments::swarmsimx
