#include "experiments.h"
#include "travel.h"

namespace volvox::experiments::remod3d {

// Each in the file of its name; those with particles in particle_metrics.cpp.
sim::ExperimentFactory arm_growth(), breakage(), car_dock(), clamps(), manipulator(), rolling_track(), scatter(),
    snake(), terrain(), track_to_snake(), wheelbot(), fluid(), debris(), cloth(), swim();

void register_experiments(ExperimentRegistry& registry) {
  registry.add("remod3d/snake", snake(), "a chain of 3 to 1000 SuperBots crawls by a sinusoidal gait");
  registry.add("remod3d/manipulator", manipulator(),
               "an arm of three SuperBots moves its tip to random poses by inverse kinematics");
  registry.add("remod3d/arm_growth", arm_growth(),
               "a SuperBot on a base docks with modules nearby and becomes an arm of three");
  registry.add("remod3d/rolling_track", rolling_track(), "a ring of six SuperBots rolls by its accelerometers");
  registry.add("remod3d/scatter", scatter(), "disconnected modules move all their motors");
  registry.add("remod3d/breakage", breakage(), "45 docked SuperBots in zero gravity, hit by heavy spheres");
  registry.add(
      "remod3d/clamps", clamps(),
      "a hand whose jaws take time, jam and hold by friction finds a socket, docks, and pulls until they slip");
  registry.add("remod3d/terrain", terrain(), "a snake of five SuperBots crosses hills among 220 loose obstacles");
  registry.add("remod3d/fluid", fluid(), "a dam of 40,000 particles of fluid breaks over three SuperBots");
  registry.add("remod3d/debris", debris(), "a snake of five SuperBots crawls through rubble");
  registry.add("remod3d/cloth", cloth(), "a Wheelbot pushes through a curtain, and a net catches a SuperBot");
  registry.add("remod3d/swim", swim(), "a snake of SuperBots swims in a tank; it floats or sinks by its density");
  registry.add("remod3d/wheelbot", wheelbot(), "a Wheelbot drives among obstacles by its range sensor");
  registry.add("remod3d/atron_car", make<Travel>(), "five ATRONs drive on four of them as wheels");
  registry.add("remod3d/car_dock", car_dock(),
               "two ATRON cars dock into one of fifteen modules; then three undock and drive away");
  registry.add("remod3d/eight_shape", make<Travel>(), "seven ATRONs in the shape of an 8 stand, twist and roll");
  registry.add("remod3d/complex_structure", make<Travel>(), "fifteen SuperBots, a spine on six legs, stand and walk");
  registry.add("remod3d/track_to_snake", track_to_snake(), "a rolling track opens and becomes a snake");
}

}  // namespace volvox::experiments::remod3d
