// A sensor that detects the nearest free dock, like docks with infrared emitters and detectors around them.
// SI units. As all sensors (sensor.h), several threads use it at once, and it has no state.
#pragma once

#include "volvox/mind/sensor.h"

namespace volvox::mind {

// The nearest free dock of another module that faces this one, in the frame of the sensor.
struct DockBeacon {
  bool seen = false;
  Vec3 position;          // m
  Vec3 facing{-1, 0, 0};  // a unit vector out of that dock; (-1, 0, 0): straight towards this one
};
VOLVOX_TYPE(DockBeacon, seen, position, facing)

// Mounted at a dock; x points out of the module. Parameters: max_range in m (0.3), field_of_view in rad (3.0). It needs
// a line of sight to the middle of the other dock: walls and other modules hide it, the two modules themselves do not.
std::unique_ptr<Sensor> make_dock_beacon(const model::Sensor& sensor, const Parameters& parameters);

}  // namespace volvox::mind
