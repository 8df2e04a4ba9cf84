#include "experiments.h"
#include "pit_snake.h"
#include "rangefinder.h"

namespace volvox::experiments::arenas {

void register_experiments(ExperimentRegistry& registry) {
  registry.add("arenas/pit_snake", make<PitSnake>(), "a U-shaped snake of Scouts rolls over a pit; a short one falls in");
  registry.add("arenas/rangefinder", make<Rangefinder>(), "a Scout scans arenas of few and of many triangles with a laser");
}

}  // namespace volvox::experiments::arenas
