#include "volvox/particles/shapes.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/index.h"
#include "volvox/particles/shape_kernels.h"
#include "volvox/particles/triangle.h"

namespace volvox::particles {
namespace {

Distance cylinder_distance(const ShapeView& s, const Vector& p) {
  const float out = square_root(p.x * p.x + p.y * p.y), around = out - s.radius, along = std::fabs(p.z) - s.axis;
  const float sign = p.z < 0 ? -1.0f : 1.0f;
  const Vector side = out > 0 ? Vector{p.x / out, p.y / out, 0} : Vector{1, 0, 0}, cap{0, 0, sign};
  if (around <= 0 || along <= 0) return around > along ? Distance{around, side} : Distance{along, cap};
  const float d = square_root(around * around + along * along);
  return {d, side * (around / d) + cap * (along / d)};
}

// Interpolated between eight samples; beyond them, what the nearest one has and the way to it.
Distance field_distance(const ShapeView& s, const Vector& p) {
  const DistanceField& f = *s.field;
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
  const float* c = f.distance.data() + cell[2] * layer + cell[1] * row + cell[0];
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

Vec3 terrain_point(const HeightGrid& t, std::int32_t column, std::int32_t row) {
  return {t.size_x * (column / (t.columns - 1.0) - 0.5), t.size_y * (row / (t.rows - 1.0) - 0.5),
          t.heights[static_cast<std::size_t>(row) * t.columns + column]};
}

// The nearest of the triangles around the point's own cell. A point that is farther than four cells above or below has
// the distance to the plane of its own triangle.
Distance terrain_distance(const HeightGrid& t, const Vector& point) {
  const Vec3 p{point.x, point.y, point.z};
  const double cell_x = t.size_x / (t.columns - 1.0), cell_y = t.size_y / (t.rows - 1.0);
  const double x = clamp(p.x / cell_x + (t.columns - 1) * 0.5, 0, t.columns - 1.0),
               y = clamp(p.y / cell_y + (t.rows - 1) * 0.5, 0, t.rows - 1.0);
  const int column = std::min(truncated(x), t.columns - 2), row = std::min(truncated(y), t.rows - 2);
  const double u = x - column, v = y - row;
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
  const int ring = truncated(std::fabs(height) / std::min(cell_x, cell_y)) + 1;
  const Vector straight{to_float(normal.x), to_float(normal.y), to_float(normal.z)};
  if (ring > widest) return {to_float(above), straight};
  // From its own triangle on, only cells that reach nearer in x and y than what was found.
  Vec3 foot = nearest_on_triangle(p, own[0], own[1], own[2]).point;
  double nearest = length_squared(p - foot);
  const double column_x = -0.5 * t.size_x, row_y = -0.5 * t.size_y;
  for (int r = std::max(0, row - ring); r <= std::min(t.rows - 2, row + ring); ++r) {
    const double away_y = std::max({0.0, row_y + r * cell_y - p.y, p.y - row_y - (r + 1) * cell_y});
    for (int c = std::max(0, column - ring); c <= std::min(t.columns - 2, column + ring); ++c) {
      const double away_x = std::max({0.0, column_x + c * cell_x - p.x, p.x - column_x - (c + 1) * cell_x});
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

VOLVOX_FOR_EACH_ISA(void, find_bits,
                    (const ShapeView& s, const Point* points, std::size_t count, float distance, NearShape& out),
                    (s, points, count, distance, out)) {
  for (std::size_t k = 0; k < count; k += lanes) {
    std::uint32_t which[lanes];  // the last ones repeat the last point
    for (std::size_t n = 0; n < lanes; ++n) which[n] = static_cast<std::uint32_t>(k + n < count ? k + n : count - 1);
    PointLanes p;
    gather(p, points, which);
    std::uint64_t found = bits_of(may_be_near(s, p.x, p.y, p.z, distance));
    if (count - k < lanes) found &= (1u << (count - k)) - 1;
    out.bits[k / 64] |= found << k % 64;
  }
}

}  // namespace

Result<void> check(const ShapeDesc& desc) {
  const auto bad = [](const char* what, const char* fix) { return Error(fmt::format("shape: {}", what), fix); };
  if (!finite(desc.pose) || !finite(desc.velocity)) return bad("its pose or velocity is not a number", "set both");
  const Quat& r = desc.pose.rotation;
  if (std::fabs(r.w * r.w + r.x * r.x + r.y * r.y + r.z * r.z - 1) > 1e-3)
    return bad("its rotation is no unit quaternion", "normalise it");
  const bool box = desc.kind == ShapeKind::box || desc.kind == ShapeKind::tank;
  const auto& h = desc.half_size;
  if (box && !(finite(h) && h.x > 0 && h.y > 0 && h.z > 0))
    return bad("a box or tank needs three positive half sizes", "give them in m");
  const bool rod = desc.kind == ShapeKind::capsule || desc.kind == ShapeKind::cylinder;
  const bool round = desc.kind == ShapeKind::sphere || rod;
  if (round && !(std::isfinite(desc.radius) && desc.radius > 0))
    return bad("the radius must be positive", "give it in m");
  if (rod && !(std::isfinite(desc.half_length) && desc.half_length >= 0))
    return bad("the half length of a capsule or cylinder must not be negative", "give it in m");
  if (desc.kind == ShapeKind::field && desc.field == nullptr) return bad("its field is missing", "make one");
  if (desc.kind == ShapeKind::terrain &&
      !(desc.terrain != nullptr && desc.terrain->columns >= 2 && desc.terrain->rows >= 2 && desc.terrain->size_x > 0 &&
        desc.terrain->size_y > 0 &&
        desc.terrain->heights.size() == static_cast<std::size_t>(desc.terrain->columns) * desc.terrain->rows))
    return bad("a terrain needs 2 x 2 heights and a size", "give them in m");
  if (!finite(desc.offset)) return bad("its place in the body is not a number", "set it");
  if (!(std::isfinite(desc.friction) && desc.friction >= 0))
    return bad("friction must not be negative", "give 0 or more");
  const auto& m = desc.moments;
  if (!(std::isfinite(desc.mass) && desc.mass >= 0) || !(finite(m) && m.x > 0 && m.y > 0 && m.z > 0))
    return bad("mass must not be negative and moments must be positive", "give them in kg and kg m^2");
  return {};
}

double volume(const ShapeDesc& desc) {
  const double r = desc.radius;
  switch (desc.kind) {
    case ShapeKind::box: return 8 * desc.half_size.x * desc.half_size.y * desc.half_size.z;
    case ShapeKind::sphere: return 4 * pi / 3 * r * r * r;
    case ShapeKind::capsule: return pi * r * r * (4 * r / 3 + 2 * desc.half_length);
    case ShapeKind::cylinder: return pi * r * r * 2 * desc.half_length;
    case ShapeKind::field: return desc.field->volume;
    default: return 0;
  }
}

ShapeView view_of(const ShapeDesc& desc) {
  ShapeView view;
  view.kind = desc.kind;
  view.radius = to_float(desc.radius);
  view.friction = to_float(desc.friction);
  view.inverse_mass = desc.mass > 0 ? to_float(1 / desc.mass) : 0;
  const bool aside = desc.offset != Pose{};
  Pose pose = aside ? desc.pose * desc.offset : desc.pose;
  Vec3 half = desc.half_size, linear = desc.velocity.linear;
  if (desc.kind == ShapeKind::field) {
    const Vec3 middle = 0.5 * (desc.field->low + desc.field->high);
    for (int k = 0; k < 3; ++k) view.field_middle[k] = to_float(middle[k]);
    half = 0.5 * (desc.field->high - desc.field->low);
    pose.position = pose * middle;
    view.field = desc.field.get();
  }
  if (desc.kind == ShapeKind::terrain) {
    half = {0.5 * desc.terrain->size_x, 0.5 * desc.terrain->size_y, desc.terrain->highest};
    view.terrain = desc.terrain.get();
  }
  if (aside || desc.kind == ShapeKind::field)
    linear += cross(desc.velocity.angular, pose.position - desc.pose.position);
  const Vec3 axes[3] = {pose.rotation * Vec3{1, 0, 0}, pose.rotation * Vec3{0, 1, 0}, pose.rotation * Vec3{0, 0, 1}};
  for (int i = 0; i < 3; ++i) {
    view.center[i] = to_float(pose.position[i]);
    view.velocity[i] = to_float(linear[i]);
    view.spin[i] = to_float(desc.velocity.angular[i]);
    view.half[i] = to_float(half[i]);
    for (int k = 0; k < 3; ++k) view.axes[k][i] = to_float(axes[k][i]);
  }
  const bool rod = desc.kind == ShapeKind::capsule || desc.kind == ShapeKind::cylinder;
  if (rod || desc.kind == ShapeKind::sphere) {
    for (float& side : view.half) side = view.radius;
    view.axis = rod ? to_float(desc.half_length) : 0;
    view.half[2] = desc.kind == ShapeKind::cylinder ? view.axis : view.radius + view.axis;
  }
  return view;
}

Distance distance_to(const ShapeView& s, const Vector& point) {
  if (s.kind <= ShapeKind::capsule) return simple_distance(s, point);
  const Vector p = into_frame(s, point);
  Distance found = s.kind == ShapeKind::field     ? field_distance(s, p)
                   : s.kind == ShapeKind::terrain ? terrain_distance(*s.terrain, p)
                                                  : cylinder_distance(s, p);
  found.normal = out_of_frame(s, found.normal);
  return found;
}

float least_distance(const ShapeView& s, const Vector& point) {
  if (s.kind != ShapeKind::field && s.kind != ShapeKind::terrain) return distance_to(s, point).distance;
  const Vector p = into_frame(s, point);
  const bool deep = s.kind == ShapeKind::terrain;
  const float x = positive(std::fabs(p.x) - s.half[0]), y = positive(std::fabs(p.y) - s.half[1]);
  const float z = positive((deep ? p.z : std::fabs(p.z)) - s.half[2]);
  return square_root(x * x + y * y + z * z);
}

std::span<const NearShape> find_near(std::span<const ShapeView> shapes, std::span<const Point> points, float distance) {
  thread_local std::vector<NearShape> found;
  found.clear();
  if (points.empty()) return {};
  Vector low = xyz(points[0]), high = low;
  for (const Point& p : points) {
    low = {smaller(low.x, p.x), smaller(low.y, p.y), smaller(low.z, p.z)};
    high = {larger(high.x, p.x), larger(high.y, p.y), larger(high.z, p.z)};
  }
  const Vector middle = (low + high) * 0.5f;
  const float reach = 0.5001f * length(high - low) + distance;  // a little more than rounding takes
  for (std::uint32_t s = 0; s < shapes.size(); ++s) {
    if (shapes[s].kind <= ShapeKind::capsule ? !may_be_near(shapes[s], low, high, distance)
                                             : least_distance(shapes[s], middle) > reach)
      continue;
    NearShape near{s};
    find_bits(shapes[s], points.data(), points.size(), distance, near);
    if ((near.bits[0] | near.bits[1]) != 0) found.push_back(near);
  }
  return found;
}

Covered covered_by(const ShapeView& s, const Vector& point, float support) {
  if (s.kind <= ShapeKind::capsule) return simple_covered(s, point, support);
  const Distance d = distance_to(s, point);
  const Behind behind = behind_wall(d.distance / support);
  return {behind.part, d.normal * (-behind.slope / support)};
}

}  // namespace volvox::particles
