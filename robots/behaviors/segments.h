// Distances between the axes of an arm's parts, for plans that keep them apart.
#pragma once

#include "volvox/base/math.h"

namespace volvox::robots {

// m, between the segments a0-a1 and b0-b1, which may be points.
inline double segment_distance(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1) {
  const Vec3 a = a1 - a0, b = b1 - b0, between = a0 - b0;
  const double aa = dot(a, a), bb = dot(b, b), ab = dot(a, b), ar = dot(a, between), br = dot(b, between);
  const double across = aa * bb - ab * ab;
  double s = across > 1e-12 ? clamp((ab * br - ar * bb) / across, 0, 1) : 0;
  const double t = bb > 0 ? clamp((ab * s + br) / bb, 0, 1) : 0;
  s = aa > 0 ? clamp((ab * t - ar) / aa, 0, 1) : 0;
  return length(a0 + a * s - (b0 + b * t));
}

}  // namespace volvox::robots
