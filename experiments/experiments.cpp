#include "experiments.h"

namespace volvox::experiments {

void register_experiments(ExperimentRegistry& registry) {
  arenas::register_experiments(registry);
  dprsim::register_experiments(registry);
  remod3d::register_experiments(registry);
  swarmsimx::register_experiments(registry);
  roles::register_experiments(registry);
  vouivre::register_experiments(registry);
}

}  // namespace volvox::experiments
