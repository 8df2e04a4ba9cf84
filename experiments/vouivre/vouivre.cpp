#include "experiments.h"
#include "flooding.h"

namespace volvox::experiments::vouivre {

void register_experiments(ExperimentRegistry& registry) {
  registry.add("vouivre/checkerboard", make<Checkerboard>(),
               "a packet floods a board of 20 x 20 catoms by wire and radio");
  registry.add("vouivre/cross", make<Cross>(), "a packet floods the outline of a cross and crosses its gap by radio");
}

}  // namespace volvox::experiments::vouivre
