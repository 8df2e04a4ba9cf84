// Where the axes of our charts have their ticks.
#pragma once

#include <cmath>

namespace volvox::experiments {

// A round step that gives about as many ticks.
inline double tick_step(double span, int ticks) {
  const double raw = span / ticks, power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= raw * 0.999) return factor * power;
  return 10 * power;
}

}  // namespace volvox::experiments
