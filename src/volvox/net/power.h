// Power as an integer in units of 1e-20 W (-170 dBm). A sum of interference must return to exactly its
// earlier value when a transmission ends; floating point leaves a residue at nearly every node after one
// flood, integers leave none. All functions give the same bits on every machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "volvox/base/index.h"
#include "volvox/base/math.h"

namespace volvox::net {

using PowerUnits = std::int64_t;

inline constexpr double units_per_watt = 1e20;
// One link saturates here (1.44 mW, +1.6 dBm, above the saturation of any real receiver), so that the sum
// of 60 of the strongest transmissions does not overflow.
inline constexpr PowerUnits largest_link_power = PowerUnits{1} << 57;

inline constexpr double boltzmann = 1.380649e-23;    // J/K
inline constexpr double standard_temperature = 290;  // K, the T0 of noise figures
inline constexpr double speed_of_light = 299792458;  // m/s

inline double decibel(double ratio) { return 10 * volvox::log(ratio) / 2.302585092994045684; }
inline double from_decibel(double decibels) { return volvox::exp(decibels * 0.2302585092994045684); }
inline double dbm(double watt) { return decibel(watt / 1e-3); }

inline double thermal_noise_w(double bandwidth_hz, double noise_factor = 1) {
  return boltzmann * standard_temperature * bandwidth_hz * noise_factor;
}

// Saturates at `most` instead of overflowing.
inline PowerUnits to_units(double watt, PowerUnits most = largest_link_power) {
  const double units = watt * units_per_watt;
  return units >= real(most) ? most : truncated<PowerUnits>(units);
}

// The power that one link adds at a receiver, in units. Floods spend most of their time and memory on these,
// so they have 4 bytes: rounded to 24 bits (2.6e-7 dB); the same value is added and later subtracted.
// Thresholds for one link are rounded in the same way, so that a receiver exactly at its range is in range.
using LinkPower = float;
template <class Number>
constexpr LinkPower to_link_power(Number units) {
  return static_cast<LinkPower>(units);
}
inline PowerUnits in_units(LinkPower power) { return static_cast<PowerUnits>(power); }
// A threshold for the power of one link; at least 1, because a power of 0 is never received.
inline PowerUnits least_units(double watt) { return std::max<PowerUnits>(1, in_units(to_link_power(to_units(watt)))); }

inline double to_watt(PowerUnits units) { return real(units) / units_per_watt; }

}  // namespace volvox::net
