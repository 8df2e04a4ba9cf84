// Two Scouts in a row, because one alone tips on its two wheels; the first carries sensors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "volvox/sim/experiment.h"

namespace volvox::experiments::arenas {

constexpr double scout_clearance = 0.049;  // m, of a Scout's axle over the floor that it is put on

// They run roll_on with these parameters; nothing but `sensors` casts rays.
Result<void> add_scout_pair(model::SceneBuilder& scene, model::ModelLibrary& library,
                            const std::vector<model::Sensor>& sensors, const Pose& pose,
                            std::map<std::string, std::string> mind,
                            const std::map<std::string, model::NoiseChainSpec>& noise = {});

}  // namespace volvox::experiments::arenas
