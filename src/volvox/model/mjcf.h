// A world as MJCF, the format of MuJoCo: links become bodies, motors actuators, engaged docks welds, free docks sites.
// What MJCF cannot say is left out and named. Pure; the same world gives the same text. SI units, angles in rad.
#pragma once

#include <string>
#include <vector>

#include "volvox/model/world_model.h"

namespace volvox::model {

struct Mjcf {
  std::string text;
  std::vector<std::string> left_out;  // in words, each once
};

// Bodies are named PLACEMENT.LINK, joints and actuators PLACEMENT.JOINT, sites PLACEMENT.DOCK. The keyframe "start" has
// the positions and velocities of the world at its beginning. For MuJoCo 3 or later.
Mjcf write_mjcf(const WorldModel& world);

}  // namespace volvox::model
