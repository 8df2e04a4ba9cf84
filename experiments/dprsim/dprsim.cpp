#include "crawl/crawl.h"
#include "experiments.h"
#include "flood/flood.h"
#include "gradient/gradient.h"
#include "meld/meld.h"
#include "melt/melt.h"
#include "shape/shape.h"
#include "stepper/stepper.h"
#include "walkers/walkers.h"

namespace volvox::experiments::dprsim {

void register_experiments(ExperimentRegistry& registry) {
  registry.add("dprsim/flood", make<Flood>(), "a wave floods an ensemble of catoms on a lattice, by messages alone");
  registry.add("dprsim/crawl", make<Crawl>(),
               "catoms crawl over a box of others by rolling, sliding or pivoting, on any lattice");
  registry.add("dprsim/gradient", make<Gradient>(),
               "every catom of an ensemble learns its distance from the nearest source");
  registry.add(
      "dprsim/melt", make<Melt>(),
      "a tower of catoms on a lattice is hit and falls: what moves goes over to dynamics, what lies goes back");
  registry.add("dprsim/shape", make<Shape>(), "a heap of catoms rolls itself into a given shape, by self-assembly");
  registry.add("dprsim/stepper", make<Stepper>(),
               "a catom rolls about another by its magnets, as a stepper motor turns; too fast, it misses steps");
  registry.add("dprsim/walkers", make<Walkers>(),
               "groups of catoms walk to their barycentre, meet there, and rescue isolated ones on the way");
  registry.add("dprsim/meld", make<Meld>(), "a program in Meld on all catoms of a lattice: volvox run FILE.meld");
}

}  // namespace volvox::experiments::dprsim
