#include "experiments.h"
#include "manipulator/manipulator.h"
#include "rolling_track/rolling_track.h"
#include "scatter/scatter.h"
#include "snake/snake.h"
#include "track_to_snake/track_to_snake.h"

namespace volvox::experiments::remod3d {

void register_experiments(ExperimentRegistry& registry) {
  registry.add("remod3d/snake", make<Snake>(), "a chain of 3 to 1000 SuperBots that crawls by a sinusoidal gait");
  registry.add("remod3d/manipulator", make<Manipulator>(), "an arm of three SuperBots whose tip goes to random poses by inverse kinematics");
  registry.add("remod3d/rolling_track", make<RollingTrack>(), "six SuperBots in a ring that rolls by its accelerometers");
  registry.add("remod3d/scatter", make<Scatter>(), "disconnected modules that move all their motors");
  registry.add("remod3d/track_to_snake", make<TrackToSnake>(), "a rolling track that opens and becomes a snake");
}

}  // namespace volvox::experiments::remod3d
