// Two docked Scouts; the first carries sensors. One Scout alone would tip over on its two wheels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "volvox/sim/experiment.h"

namespace volvox::experiments::arenas {

constexpr double scout_clearance = 0.049;  // m, height of a Scout's axle above the floor at the start
constexpr const char* laser = "laser";     // the sensor that experiments give the first

// Both run the behaviour roll_on with the parameters `mind`. The Scouts' own proximity sensors are removed, so that
// only `sensors` casts rays.
Result<void> add_scout_pair(model::WorldBuilder& builder, model::ModelLibrary& library,
                            const std::vector<model::Sensor>& sensors, const Pose& pose,
                            std::map<std::string, std::string> mind,
                            const std::map<std::string, model::NoiseChainSpec>& noise = {});

}  // namespace volvox::experiments::arenas
