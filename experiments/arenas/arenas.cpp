#include "experiments.h"
#include "explore.h"
#include "pit_snake.h"
#include "rangefinder.h"
#include "reconstruct.h"
#include "room.h"

namespace volvox::experiments::arenas {

void register_experiments(ExperimentRegistry& registry) {
  registry.add("arenas/pit_snake", make<PitSnake>(),
               "a U-shaped snake of Scouts rolls over a pit; a short one falls in");
  registry.add("arenas/explore", make<Explore>(),
               "a pair of Scouts scans the arena with the pit as it drives, and its mesh gets better");
  registry.add("arenas/room", make<Room>(),
               "a pair of Scouts drives in a room built from a laser scan; its laser is compared with the scan");
  registry.add("arenas/reconstruct", make<Reconstruct>(),
               "the arena with the pit, built from a noisy cloud of points: gsrm, gg or pf");
  registry.add("arenas/rangefinder", make<Rangefinder>(),
               "a pair of Scouts with a laser in arenas of few and of many triangles");
}

}  // namespace volvox::experiments::arenas
