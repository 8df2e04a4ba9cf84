// Flat polygons with holes, and the triangles that fill them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace volvox::scan {

struct Vec2 {
  double x = 0, y = 0;
  friend constexpr Vec2 operator+(const Vec2& a, const Vec2& b) { return {a.x + b.x, a.y + b.y}; }
  friend constexpr Vec2 operator-(const Vec2& a, const Vec2& b) { return {a.x - b.x, a.y - b.y}; }
  friend constexpr Vec2 operator*(const Vec2& a, double s) { return {a.x * s, a.y * s}; }
  friend constexpr bool operator==(const Vec2&, const Vec2&) = default;
};
constexpr double dot(const Vec2& a, const Vec2& b) { return a.x * b.x + a.y * b.y; }
constexpr double cross(const Vec2& a, const Vec2& b) { return a.x * b.y - a.y * b.x; }
double length(const Vec2& a);

// Positive: counter-clockwise.
double signed_area(std::span<const Vec2> loop);
bool contains(std::span<const Vec2> loop, const Vec2& point);

// Triangles (counter-clockwise) of an outer loop (counter-clockwise) with holes (clockwise), by
// numbers into all loops one after the other. V corners and H holes give V + 2 H - 2 triangles; what
// is degenerate or crosses itself is still filled as far as it goes, and never hangs.
std::vector<std::array<std::uint32_t, 3>> triangulate(const std::vector<std::vector<Vec2>>& loops);

}  // namespace volvox::scan
