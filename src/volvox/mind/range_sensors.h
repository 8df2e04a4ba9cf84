// Sensors that measure by rays: what they see is all through one ray caster (sight.h).
#pragma once

#include <optional>

#include "volvox/mind/sensor.h"

namespace volvox::mind {

// What an infrared proximity sensor tells: light of its own that comes back.
struct Proximity {
  bool seen = false;
  double distance = 0;  // m, of the nearest thing in its cone; its range if there is none
  double strength = 0;  // 0 to 1: the share of the light that comes back
};
VOLVOX_TYPE(Proximity, seen, distance, strength)

// How the distances of a range sensor or a laser lie, for those who show or publish them: rows of
// rays from right to left, the lowest row first.
struct ScanGeometry {
  int rows = 1;
  double field_of_view = 0;             // rad
  double min_range = 0, max_range = 0;  // m
};
std::optional<ScanGeometry> scan_geometry(const model::Sensor& sensor);  // none: it is neither

// range, laser, proximity, sonar, obstacle.
void add_range_sensors(SensorRegistry& registry);

}  // namespace volvox::mind
