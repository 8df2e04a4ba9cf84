#include "arm_growth/arm_growth.h"
#include "breakage/breakage.h"
#include "car_dock/car_dock.h"
#include "experiments.h"
#include "manipulator/manipulator.h"
#include "particle_metrics.h"
#include "rolling_track/rolling_track.h"
#include "scatter/scatter.h"
#include "snake/snake.h"
#include "terrain/terrain.h"
#include "track_to_snake/track_to_snake.h"
#include "travel.h"
#include "wheelbot/wheelbot.h"

namespace volvox::experiments::remod3d {

void register_experiments(ExperimentRegistry& registry) {
  registry.add("remod3d/snake", make<Snake>(), "a chain of 3 to 1000 SuperBots crawls by a sinusoidal gait");
  registry.add("remod3d/manipulator", make<Manipulator>(),
               "an arm of three SuperBots moves its tip to random poses by inverse kinematics");
  registry.add("remod3d/arm_growth", make<ArmGrowth>(),
               "a SuperBot on a base docks with modules nearby and becomes an arm of three");
  registry.add("remod3d/rolling_track", make<RollingTrack>(), "a ring of six SuperBots rolls by its accelerometers");
  registry.add("remod3d/scatter", make<Scatter>(), "disconnected modules move all their motors");
  registry.add("remod3d/breakage", make<Breakage>(), "45 docked SuperBots in zero gravity, hit by heavy spheres");
  registry.add("remod3d/terrain", make<Terrain>(), "a snake of five SuperBots crosses hills among 220 loose obstacles");
  registry.add("remod3d/fluid", make<FluidDam>(), "a dam of 40,000 particles of fluid breaks over three SuperBots");
  registry.add("remod3d/debris", make<Rubble>(), "a snake of five SuperBots crawls through rubble");
  registry.add("remod3d/cloth", make<ClothScene>(),
               "a Wheelbot pushes through a curtain, and a net catches a SuperBot");
  registry.add("remod3d/swim", make<Swim>(), "a snake of SuperBots swims in a tank; it floats or sinks by its density");
  registry.add("remod3d/wheelbot", make<Wheelbot>(), "a Wheelbot drives among obstacles by its range sensor");
  registry.add("remod3d/atron_car", make<Travel>(), "five ATRONs drive on four of them as wheels");
  registry.add("remod3d/car_dock", make<CarDock>(),
               "two ATRON cars dock into one of fifteen modules; then three undock and drive away");
  registry.add("remod3d/eight_shape", make<Travel>(), "seven ATRONs in the shape of an 8 stand, twist and roll");
  registry.add("remod3d/complex_structure", make<Travel>(), "fifteen SuperBots, a spine on six legs, stand and walk");
  registry.add("remod3d/track_to_snake", make<TrackToSnake>(), "a rolling track opens and becomes a snake");
}

}  // namespace volvox::experiments::remod3d
