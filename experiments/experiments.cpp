#include "experiments.h"

#include "remod3d/scatter/scatter.h"
#include "remod3d/snake/snake.h"

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
}

}  // namespace volvox::experiments
