// Sensors that measure by ray casting, all through one ray caster (exchange/sight.h).
// SI units, the frame of the mount. Several threads use a sensor at once; it has no state. The same bits on every
// machine.
#pragma once

#include <optional>

#include "volvox/mind/sensor.h"

namespace volvox::mind {

// The reading of an infrared proximity sensor, which measures the reflection of its own light.
struct Proximity {
  bool seen = false;
  double distance = 0;  // m, of the nearest object in its cone; its range if there is none
  double strength = 0;  // 0 to 1: the share of the light that comes back
};
VOLVOX_TYPE(Proximity, seen, distance, strength)

// The order of the distances of a range sensor or a laser, for viewers and bridges: rows of rays from right to left,
// the lowest row first.
struct ScanGeometry {
  int rows = 1;
  double field_of_view = 0;             // rad
  double min_range = 0, max_range = 0;  // m
};
std::optional<ScanGeometry> scan_geometry(
    const model::Sensor& sensor);  // none: it is neither a range sensor nor a laser

// range, laser, proximity, sonar, obstacle.
void add_range_sensors(SensorRegistry& registry);

}  // namespace volvox::mind
