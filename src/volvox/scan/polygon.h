// Polygons with holes in a plane, and their triangulation. Pure, deterministic functions.
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

// Triangulates an outer loop (counter-clockwise) with holes (clockwise). The triangles are counter-clockwise; their
// indices count the corners of all loops, one loop after another. V corners and H holes give V + 2 H - 2 triangles.
// Degenerate or self-intersecting loops give an incomplete result, but always terminate.
std::vector<std::array<std::uint32_t, 3>> triangulate(const std::vector<std::vector<Vec2>>& loops);

}  // namespace volvox::scan
