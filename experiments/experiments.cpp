#include "experiments.h"

#include "remod3d/scatter/scatter.h"
#include "remod3d/snake/snake.h"
#include "vouivre/flooding.h"

namespace volvox::experiments {
namespace {

template <class E>
sim::ExperimentFactory make() {
  return [] { return std::unique_ptr<sim::Experiment>(std::make_unique<E>()); };
}

}  // namespace

void register_experiments(Registry<sim::ExperimentFactory>& registry) {
  registry.add("remod3d/snake", make<remod3d::Snake>(), "a chain of 3 to 1000 SuperBots that crawls by a sinusoidal gait");
  registry.add("remod3d/scatter", make<remod3d::Scatter>(), "disconnected modules that move all their motors");
  registry.add("vouivre/checkerboard", make<vouivre::Checkerboard>(), "a packet floods a board of 20 x 20 catoms by wire and radio");
  registry.add("vouivre/cross", make<vouivre::Cross>(), "a packet floods the outline of a cross, and jumps across its gap by radio");
}

}  // namespace volvox::experiments
