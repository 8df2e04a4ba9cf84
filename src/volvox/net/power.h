// Power as an integer: 1e-20 W a unit (-170 dBm). Sums of interference must return to
// exactly what they were when a transmission ends; floating point leaves a residue on nearly
// every node after one flood, integers leave none.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "volvox/base/math.h"

namespace volvox::net {

using PowerUnits = std::int64_t;

inline constexpr double units_per_watt = 1e20;
// One link saturates here (1.44 mW, +1.6 dBm: any real receiver has long gone deaf), so
// that 60 of the strongest transmissions at once still sum without overflow.
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
  return units >= static_cast<double>(most) ? most : static_cast<PowerUnits>(units);
}

// What one link lends to a receiver is kept in 4 bytes while the frame is on the air, because
// floods spend their time and memory on it: rounded to 24 bits (2.6e-7 dB), the same when it is
// added and when it is taken away. Thresholds that it is compared with are rounded alike, so
// that a receiver just at its range stays in range.
using LinkPower = float;
inline PowerUnits in_units(LinkPower power) { return static_cast<PowerUnits>(power); }
// A threshold for one link's power; never 0, because nothing is not heard.
inline PowerUnits least_units(double watt) {
  return std::max<PowerUnits>(1, in_units(static_cast<LinkPower>(to_units(watt))));
}

inline double to_watt(PowerUnits units) { return static_cast<double>(units) / units_per_watt; }

}  // namespace volvox::net
