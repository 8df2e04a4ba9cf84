#include "experiments.h"

namespace volvox::experiments::arenas {

// Each in the file of its name.
sim::ExperimentFactory explore(), objects(), pit_snake(), rangefinder(), reconstruct(), room();

void register_experiments(ExperimentRegistry& registry) {
  registry.add("arenas/pit_snake", pit_snake(), "a U-shaped snake of Scouts rolls over a pit; a short one falls in");
  registry.add("arenas/explore", explore(),
               "a pair of Scouts scans the arena with the pit as it drives, and its mesh gets better");
  registry.add(
      "arenas/objects", objects(),
      "crates, a power plug and the like are recognized in a scan and put in as they are; Scouts dock with the plug");
  registry.add("arenas/room", room(),
               "a pair of Scouts drives in a room built from a laser scan; its laser is compared with the scan");
  registry.add("arenas/reconstruct", reconstruct(),
               "the arena with the pit, built from a noisy cloud of points: gsrm, gg or pf");
  registry.add("arenas/rangefinder", rangefinder(),
               "a pair of Scouts with a laser in arenas of few and of many triangles");
}

}  // namespace volvox::experiments::arenas
