// The nearest point of a triangle. Pure functions for doubles (Vec3) and floats.
#pragma once

#include <cstdint>

#include "volvox/base/gpu.h"
#include "volvox/base/math.h"

namespace volvox::particles {

enum class TriangleFeature : std::uint8_t { face, edge_ab, edge_bc, edge_ca, corner_a, corner_b, corner_c };

struct OnTriangle {
  Vec3 point;
  TriangleFeature feature = TriangleFeature::face;
};

// By the regions around the triangle (Ericson, "Real-Time Collision Detection", 2005, 5.1.5).
VOLVOX_ALSO_ON_GPU inline OnTriangle nearest_on_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 ab = b - a, ac = c - a, ap = p - a, bp = p - b, cp = p - c;
  const double d1 = dot(ab, ap), d2 = dot(ac, ap);
  if (d1 <= 0 && d2 <= 0) return {a, TriangleFeature::corner_a};
  const double d3 = dot(ab, bp), d4 = dot(ac, bp);
  if (d3 >= 0 && d4 <= d3) return {b, TriangleFeature::corner_b};
  const double d5 = dot(ab, cp), d6 = dot(ac, cp);
  if (d6 >= 0 && d5 <= d6) return {c, TriangleFeature::corner_c};
  const double in_c = d1 * d4 - d3 * d2;
  if (in_c <= 0 && d1 >= 0 && d3 <= 0) return {a + ab * (d1 / (d1 - d3)), TriangleFeature::edge_ab};
  const double in_b = d5 * d2 - d1 * d6;
  if (in_b <= 0 && d2 >= 0 && d6 <= 0) return {a + ac * (d2 / (d2 - d6)), TriangleFeature::edge_ca};
  const double in_a = d3 * d6 - d5 * d4;
  if (in_a <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
    return {b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6))), TriangleFeature::edge_bc};
  const double share = 1 / (in_a + in_b + in_c);
  return {a + ab * (in_b * share) + ac * (in_c * share), TriangleFeature::face};
}

}  // namespace volvox::particles
