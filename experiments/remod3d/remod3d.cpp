#include "experiments.h"
#include "scatter/scatter.h"
#include "snake/snake.h"

namespace volvox::experiments::remod3d {

void register_experiments(ExperimentRegistry& registry) {
  registry.add("remod3d/snake", make<Snake>(), "a chain of 3 to 1000 SuperBots that crawls by a sinusoidal gait");
  registry.add("remod3d/scatter", make<Scatter>(), "disconnected modules that move all their motors");
}

}  // namespace volvox::experiments::remod3d
