#include "experiments.h"
#include "flood/flood.h"

namespace volvox::experiments::dprsim {

void register_experiments(ExperimentRegistry& registry) {
  registry.add("dprsim/flood", make<Flood>(), "a wave floods an ensemble of catoms on a lattice, by messages alone");
}

}  // namespace volvox::experiments::dprsim
