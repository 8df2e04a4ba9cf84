// The elementary functions of math.h whose bits kernels need on a GPU, too: the same text is compiled for both.
// math.h says what they promise; other code calls them there.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "volvox/base/gpu.h"
#include "volvox/base/math.h"

namespace volvox::elementary {

// Taylor polynomials for |x| <= pi/4: the first omitted term is below 1e-18 of the result.
VOLVOX_ALSO_ON_GPU inline double sin_kernel(double x) {
  const double z = x * x;
  double p = -1.0 / 1307674368000.0;
  p = p * z + 1.0 / 6227020800.0;
  p = p * z - 1.0 / 39916800.0;
  p = p * z + 1.0 / 362880.0;
  p = p * z - 1.0 / 5040.0;
  p = p * z + 1.0 / 120.0;
  p = p * z - 1.0 / 6.0;
  return x + x * (z * p);
}

VOLVOX_ALSO_ON_GPU inline double cos_kernel(double x) {
  const double z = x * x;
  double p = 1.0 / 20922789888000.0;
  p = p * z - 1.0 / 87178291200.0;
  p = p * z + 1.0 / 479001600.0;
  p = p * z - 1.0 / 3628800.0;
  p = p * z + 1.0 / 40320.0;
  p = p * z - 1.0 / 720.0;
  p = p * z + 1.0 / 24.0;
  // Adds the rounding error of 1 - z/2 back.
  const double half = 0.5 * z;
  const double w = 1.0 - half;
  return w + (((1.0 - w) - half) + z * z * p);
}

// x - n pi/2, with pi/2 split into three parts of 33 bits, so that n times a part is exact.
struct Reduced {
  double x;
  unsigned quadrant;
};

VOLVOX_ALSO_ON_GPU inline Reduced reduce(double x) {
  constexpr double part1 = 0x1.921fb544p+0, part2 = 0x1.0b4611a6p-34, part3 = 0x1.3198a2e037073p-69;
  const double n = std::nearbyint(x * (2.0 / pi));
  const double r = ((x - n * part1) - n * part2) - n * part3;
  return {r, static_cast<unsigned>(static_cast<std::int64_t>(n) & 3)};
}

inline constexpr double largest_angle = 1e9;  // a double of larger angles has too little precision

VOLVOX_ALSO_ON_GPU inline double sin(double x) {
  if (!(std::fabs(x) < largest_angle)) return std::numeric_limits<double>::quiet_NaN();
  const auto [r, quadrant] = reduce(x);
  const double value = (quadrant & 1) ? cos_kernel(r) : sin_kernel(r);
  return (quadrant & 2) ? -value : value;
}

VOLVOX_ALSO_ON_GPU inline double cos(double x) {
  if (!(std::fabs(x) < largest_angle)) return std::numeric_limits<double>::quiet_NaN();
  const auto [r, quadrant] = reduce(x);
  const double value = (quadrant & 1) ? sin_kernel(r) : cos_kernel(r);
  return (quadrant == 1 || quadrant == 2) ? -value : value;
}

// atan on [0, 1]: atan(x) = atan(c) + atan((x - c) / (1 + x c)) with c the nearest k/8,
// so that the series is needed for |t| <= 1/16 only.
VOLVOX_ALSO_ON_GPU inline double atan_unit(double x) {
  constexpr double table[9] = {0.0,
                               0.12435499454676143503,
                               0.24497866312686415417,
                               0.35877067027057222040,
                               0.46364760900080611621,
                               0.55859931534356243597,
                               0.64350110879328438680,
                               0.71882999962162450542,
                               0.78539816339744830962};
  const int k = static_cast<int>(x * 8 + 0.5);
  const double c = k / 8.0;
  const double t = (x - c) / (1 + x * c);
  const double z = t * t;
  double p = 1.0 / 13;
  p = p * z - 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z - 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z - 1.0 / 3;
  return table[k] + (t + t * (z * p));
}

VOLVOX_ALSO_ON_GPU inline double atan2(double y, double x) {
  if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<double>::quiet_NaN();
  const double ax = std::fabs(x), ay = std::fabs(y);
  double angle;
  if (ax == 0 && ay == 0) angle = 0;
  else if (std::isinf(ax) && std::isinf(ay)) angle = pi / 4;
  else angle = ay <= ax ? atan_unit(ay / ax) : pi / 2 - atan_unit(ax / ay);
  if (std::signbit(x)) angle = pi - angle;
  return std::signbit(y) ? -angle : angle;
}

}  // namespace volvox::elementary
