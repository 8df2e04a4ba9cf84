// Sensors that measure by rays: what they see is all through one ray caster (sight.h).
#pragma once

#include "volvox/mind/sensor.h"

namespace volvox::mind {

// What an infrared proximity sensor tells: light of its own that comes back.
struct Proximity {
  bool seen = false;
  double distance = 0;  // m, of the nearest thing in its cone; its range if there is none
  double strength = 0;  // 0 to 1: the share of the light that comes back
};
VOLVOX_TYPE(Proximity, seen, distance, strength)

// range, laser, proximity, sonar, obstacle.
void add_range_sensors(SensorRegistry& registry);

}  // namespace volvox::mind
