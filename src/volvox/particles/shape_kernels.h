// The arithmetic of shapes, once for the processor and for a GPU.
// Lengths in m, world frame unless a name says otherwise. Pure functions.
#pragma once

#include "volvox/base/index.h"
#include "volvox/particles/shapes.h"
#include "volvox/particles/triangle.h"

namespace volvox::particles {

VOLVOX_KERNEL Vector into_frame(const ShapeView& s, const Vector& point) {
  const Vector p = point - vector_of(s.center);
  return {dot(p, vector_of(s.axes[0])), dot(p, vector_of(s.axes[1])), dot(p, vector_of(s.axes[2]))};
}
VOLVOX_KERNEL Vector out_of_frame(const ShapeView& s, const Vector& v) {
  return vector_of(s.axes[0]) * v.x + vector_of(s.axes[1]) * v.y + vector_of(s.axes[2]) * v.z;
}
VOLVOX_KERNEL Vector to_capsule_axis(const ShapeView& s, const Vector& p) {
  const float along = p.z < -s.axis ? -s.axis : s.axis < p.z ? s.axis : p.z;
  return {p.x, p.y, p.z - along};
}

VOLVOX_KERNEL Distance box_distance(const ShapeView& s, const Vector& p) {
  const float over[3] = {std::fabs(p.x) - s.half[0], std::fabs(p.y) - s.half[1], std::fabs(p.z) - s.half[2]};
  const float sign[3] = {p.x < 0 ? -1.0f : 1.0f, p.y < 0 ? -1.0f : 1.0f, p.z < 0 ? -1.0f : 1.0f};
  const int most = over[0] > over[1] ? (over[0] > over[2] ? 0 : 2) : (over[1] > over[2] ? 1 : 2);
  const float farthest = most == 0 ? over[0] : most == 1 ? over[1] : over[2];
  if (farthest <= 0)
    return {farthest, {most == 0 ? sign[0] : 0.0f, most == 1 ? sign[1] : 0.0f, most == 2 ? sign[2] : 0.0f}};
  const Vector out{sign[0] * positive(over[0]), sign[1] * positive(over[1]), sign[2] * positive(over[2])};
  const float d = length(out);
  return {d, out * (1 / d)};
}

// Of planes, boxes, tanks, spheres and capsules.
VOLVOX_KERNEL Distance simple_distance(const ShapeView& s, const Vector& point) {
  const Vector p = into_frame(s, point);
  if (s.kind == ShapeKind::plane) return {p.z, vector_of(s.axes[2])};
  Distance found;
  if (s.kind == ShapeKind::sphere || s.kind == ShapeKind::capsule) {
    const Vector out = s.kind == ShapeKind::sphere ? p : to_capsule_axis(s, p);
    const float d = length(out);
    found = {d - s.radius, d > 0 ? out * (1 / d) : Vector{1, 0, 0}};
  } else {
    found = box_distance(s, p);
    if (s.kind == ShapeKind::tank) found = {-found.distance, found.normal * -1.0f};
  }
  found.normal = out_of_frame(s, found.normal);
  return found;
}

VOLVOX_KERNEL Behind behind_shape(const ShapeView& s, float distance, float support) {
  float d = distance / support;
  if (s.radius > 0) d += gap_at_round(s.radius, support) * (s.kind == ShapeKind::sphere ? 1.0f : 0.5f);
  return behind_wall(d);
}

VOLVOX_KERNEL Covered simple_covered(const ShapeView& s, const Vector& point, float support) {
  if (s.kind != ShapeKind::tank) {
    const Distance d = simple_distance(s, point);
    const Behind behind = behind_shape(s, d.distance, support);
    return {behind.part, d.normal * (-behind.slope / support)};
  }
  // The walls of a tank add up, so that corners are no different.
  const Vector p = into_frame(s, point);
  Covered covered;
  const auto wall = [&](float place, float half) {
    const Behind low = behind_wall((half + place) / support), high = behind_wall((half - place) / support);
    covered.part += low.part + high.part;
    return (high.slope - low.slope) / support;
  };
  covered.gradient.x = wall(p.x, s.half[0]);
  covered.gradient.y = wall(p.y, s.half[1]);
  covered.gradient.z = wall(p.z, s.half[2]);
  covered.gradient = out_of_frame(s, covered.gradient);
  return covered;
}

VOLVOX_KERNEL Distance cylinder_distance(const ShapeView& s, const Vector& p) {
  const float out = square_root(p.x * p.x + p.y * p.y), around = out - s.radius, along = std::fabs(p.z) - s.axis;
  const float sign = p.z < 0 ? -1.0f : 1.0f;
  const Vector side = out > 0 ? Vector{p.x / out, p.y / out, 0} : Vector{1, 0, 0}, cap{0, 0, sign};
  if (around <= 0 || along <= 0) return around > along ? Distance{around, side} : Distance{along, cap};
  const float d = square_root(around * around + along * along);
  return {d, side * (around / d) + cap * (along / d)};
}

// Interpolated between eight samples. Outside of the field: the value at its nearest point, plus the distance to there.
VOLVOX_KERNEL Distance field_distance(const ShapeView& s, const Vector& p) {
  const FieldView& f = s.field;
  const float at[3] = {p.x + s.field_middle[0], p.y + s.field_middle[1], p.z + s.field_middle[2]};
  float part[3], beyond[3];
  std::size_t cell[3];
  for (int k = 0; k < 3; ++k) {
    const float last = static_cast<float>(f.count[k] - 1), g = (at[k] - f.first[k]) * f.inverse_cell;
    const float within = smaller(larger(g, 0), last);
    beyond[k] = (g - within) / f.inverse_cell;
    cell[k] = static_cast<std::size_t>(smaller(within, last - 1));
    part[k] = within - static_cast<float>(cell[k]);
  }
  const std::size_t row = static_cast<std::size_t>(f.count[0]), layer = row * static_cast<std::size_t>(f.count[1]);
  const float* c = f.distance + cell[2] * layer + cell[1] * row + cell[0];
  const auto mix = [](float a, float b, float t) { return a + (b - a) * t; };
  const float x00 = mix(c[0], c[1], part[0]), x10 = mix(c[row], c[row + 1], part[0]);
  const float x01 = mix(c[layer], c[layer + 1], part[0]), x11 = mix(c[layer + row], c[layer + row + 1], part[0]);
  const float y0 = mix(x00, x10, part[1]), y1 = mix(x01, x11, part[1]);
  const auto slope = [&](std::size_t i) { return c[i + 1] - c[i]; };
  Vector normal{mix(mix(slope(0), slope(row), part[1]), mix(slope(layer), slope(layer + row), part[1]), part[2]),
                mix(x10 - x00, x11 - x01, part[2]), y1 - y0};
  const Vector way{beyond[0], beyond[1], beyond[2]};
  const float out = length(way), steep = length(normal);
  if (out > 0) return {mix(y0, y1, part[2]) + out, way * (1 / out)};
  const float middle = length(p);
  if (steep > 0) normal = normal * (1 / steep);
  else normal = middle > 0 ? p * (1 / middle) : Vector{0, 0, 1};
  return {mix(y0, y1, part[2]), normal};
}

VOLVOX_KERNEL int lesser(int a, int b) { return b < a ? b : a; }
VOLVOX_KERNEL Vec3 terrain_point(const TerrainView& t, std::int32_t column, std::int32_t row) {
  return {t.size_x * (column / (t.columns - 1.0) - 0.5), t.size_y * (row / (t.rows - 1.0) - 0.5),
          t.heights[static_cast<std::size_t>(row) * t.columns + column]};
}

// The nearest of the triangles around the point's own cell. A point that is farther than four cells above or below has
// the distance to the plane of its own triangle.
VOLVOX_KERNEL Distance terrain_distance(const TerrainView& t, const Vector& point) {
  const Vec3 p{point.x, point.y, point.z};
  const double cell_x = t.size_x / (t.columns - 1.0), cell_y = t.size_y / (t.rows - 1.0);
  const double x = clamp(p.x / cell_x + (t.columns - 1) * 0.5, 0, t.columns - 1.0),
               y = clamp(p.y / cell_y + (t.rows - 1) * 0.5, 0, t.rows - 1.0);
  const int column = lesser(truncated(x), t.columns - 2), row = lesser(truncated(y), t.rows - 2);
  const double u = x - column, v = y - row;
  const auto farther = [](double below, double above) {
    const double most = 0 < below ? below : 0;
    return most < above ? above : most;
  };
  const auto corners = [&](int c, int r, bool upper, Vec3(&out)[3]) {
    out[0] = terrain_point(t, c, r), out[1] = terrain_point(t, c + 1, r + 1);
    if (upper) out[2] = terrain_point(t, c, r + 1);
    else out[2] = out[1], out[1] = terrain_point(t, c + 1, r);
  };
  Vec3 own[3];
  corners(column, row, v > u, own);
  const Vec3 normal = normalized(cross(own[1] - own[0], own[2] - own[0]));
  const double above = dot(p - own[0], normal);
  const double height = p.z - (own[0].z - (normal.x * (p.x - own[0].x) + normal.y * (p.y - own[0].y)) / normal.z);
  constexpr int widest = 4;
  const int ring = truncated(std::fabs(height) / (cell_y < cell_x ? cell_y : cell_x)) + 1;
  const Vector straight{to_float(normal.x), to_float(normal.y), to_float(normal.z)};
  if (ring > widest) return {to_float(above), straight};
  // Begins with its own triangle; then only cells whose distance in x and y is less than the least distance so far.
  Vec3 foot = nearest_on_triangle(p, own[0], own[1], own[2]).point;
  double nearest = length_squared(p - foot);
  const double column_x = -0.5 * t.size_x, row_y = -0.5 * t.size_y;
  for (int r = row < ring ? 0 : row - ring; r <= lesser(t.rows - 2, row + ring); ++r) {
    const double away_y = farther(row_y + r * cell_y - p.y, p.y - row_y - (r + 1) * cell_y);
    for (int c = column < ring ? 0 : column - ring; c <= lesser(t.columns - 2, column + ring); ++c) {
      const double away_x = farther(column_x + c * cell_x - p.x, p.x - column_x - (c + 1) * cell_x);
      if (away_x * away_x + away_y * away_y >= nearest) continue;
      for (const bool upper : {false, true}) {
        Vec3 triangle[3];
        corners(c, r, upper, triangle);
        const Vec3 found = nearest_on_triangle(p, triangle[0], triangle[1], triangle[2]).point;
        if (const double d = length_squared(p - found); d < nearest) nearest = d, foot = found;
      }
    }
  }
  const bool outside = std::fabs(p.x) > t.size_x / 2 || std::fabs(p.y) > t.size_y / 2;
  const double d = std::sqrt(nearest), sign = height < 0 && !outside ? -1 : 1;
  if (d < 1e-9) return {0, straight};
  const Vec3 way = (p - foot) * (sign / d);
  return {to_float(sign * d), {to_float(way.x), to_float(way.y), to_float(way.z)}};
}

// Of all shapes.
VOLVOX_KERNEL Distance any_distance(const ShapeView& s, const Vector& point) {
  if (s.kind <= ShapeKind::capsule) return simple_distance(s, point);
  const Vector p = into_frame(s, point);
  Distance found = s.kind == ShapeKind::field     ? field_distance(s, p)
                   : s.kind == ShapeKind::terrain ? terrain_distance(s.terrain, p)
                                                  : cylinder_distance(s, p);
  found.normal = out_of_frame(s, found.normal);
  return found;
}
VOLVOX_KERNEL float least_of_any(const ShapeView& s, const Vector& point) {
  if (s.kind <= ShapeKind::capsule) return simple_distance(s, point).distance;
  const Vector p = into_frame(s, point);
  if (s.kind == ShapeKind::cylinder) return cylinder_distance(s, p).distance;
  const bool deep = s.kind == ShapeKind::terrain;
  const float x = positive(std::fabs(p.x) - s.half[0]), y = positive(std::fabs(p.y) - s.half[1]);
  const float z = positive((deep ? p.z : std::fabs(p.z)) - s.half[2]);
  return square_root(x * x + y * y + z * z);
}
VOLVOX_KERNEL Covered any_covered(const ShapeView& s, const Vector& point, float support) {
  if (s.kind <= ShapeKind::capsule) return simple_covered(s, point, support);
  const Distance d = any_distance(s, point);
  const Behind behind = behind_shape(s, d.distance, support);
  return {behind.part, d.normal * (-behind.slope / support)};
}

VOLVOX_KERNEL bool has(const DrainView& drain, const Vec3& point) {
  const Vec3 p = drain.into * point, &h = drain.half;
  return p.x >= -h.x && p.y >= -h.y && p.z >= -h.z && p.x <= h.x && p.y <= h.y && p.z <= h.z;
}

template <class Number>
VOLVOX_KERNEL Number size_of(const Number& a) {
  return larger(a, -a);
}
// Whether points may be within a distance of a shape, for floats and for lanes.
template <class Number>
VOLVOX_KERNEL auto may_be_near(const ShapeView& s, const Number& px, const Number& py, const Number& pz, float distance)
    -> decltype(px < py) {
  const Number x = px - s.center[0], y = py - s.center[1], z = pz - s.center[2];
  const Number along = size_of<Number>(x * s.axes[0][0] + y * s.axes[0][1] + z * s.axes[0][2]);
  const Number across = size_of<Number>(x * s.axes[1][0] + y * s.axes[1][1] + z * s.axes[1][2]);
  const Number up = x * s.axes[2][0] + y * s.axes[2][1] + z * s.axes[2][2];
  const Number far_along = along - s.half[0], far_across = across - s.half[1], far_up = size_of<Number>(up) - s.half[2];
  if (s.kind == ShapeKind::plane) return up < distance;
  if (s.kind == ShapeKind::tank) return (far_along > -distance) | (far_across > -distance) | (far_up > -distance);
  if (s.kind == ShapeKind::terrain) {  // a point near the surface is near the box around this block of it
    const Number x_out = positive(far_along), y_out = positive(far_across), z_out = positive(up - s.half[2]);
    return x_out * x_out + y_out * y_out + z_out * z_out < distance * distance;
  }
  // The others are in a box.
  return (far_along < distance) & (far_across < distance) & (far_up < distance);
}
// Whether a shape may be within a distance of some of the points in a box.
VOLVOX_KERNEL bool may_be_near(const ShapeView& s, const Vector& low, const Vector& high, float distance) {
  const Vector middle = (low + high) * 0.5f;
  const float reach = 0.5001f * length(high - low) + distance;  // a little more than rounding takes
  return !(least_of_any(s, middle) > reach);
}

}  // namespace volvox::particles
