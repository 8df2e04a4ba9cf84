#include "experiments.h"
#include "flood/flood.h"
#include "gradient/gradient.h"
#include "meld/meld.h"
#include "shape/shape.h"

namespace volvox::experiments::dprsim {

void register_experiments(ExperimentRegistry& registry) {
  registry.add("dprsim/flood", make<Flood>(), "a wave floods an ensemble of catoms on a lattice, by messages alone");
  registry.add("dprsim/gradient", make<Gradient>(),
               "every catom of an ensemble learns its distance from the nearest source");
  registry.add("dprsim/shape", make<Shape>(), "a heap of catoms rolls itself into a given shape, by self-assembly");
  registry.add("dprsim/meld", make<Meld>(), "a program in Meld on all catoms of a lattice: volvox run FILE.meld");
}

}  // namespace volvox::experiments::dprsim
