#include "experiments.h"
#include "flood/flood.h"
#include "meld/meld.h"

namespace volvox::experiments::dprsim {

void register_experiments(ExperimentRegistry& registry) {
  registry.add("dprsim/flood", make<Flood>(), "a wave floods an ensemble of catoms on a lattice, by messages alone");
  registry.add("dprsim/meld", make<Meld>(), "a program in Meld on all catoms of a lattice: volvox run FILE.meld");
}

}  // namespace volvox::experiments::dprsim
