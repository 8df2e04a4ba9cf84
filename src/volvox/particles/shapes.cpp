#include "volvox/particles/shapes.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/index.h"

namespace volvox::particles {
namespace {

Vector into_frame(const ShapeView& s, const Vector& point) {
  const Vector p = point - vector_of(s.center);
  return {dot(p, vector_of(s.axes[0])), dot(p, vector_of(s.axes[1])), dot(p, vector_of(s.axes[2]))};
}
Vector out_of_frame(const ShapeView& s, const Vector& v) {
  return vector_of(s.axes[0]) * v.x + vector_of(s.axes[1]) * v.y + vector_of(s.axes[2]) * v.z;
}
Vector to_capsule_axis(const ShapeView& s, const Vector& p) {
  const float along = std::clamp(p.z, -s.half[2], s.half[2]);
  return {p.x, p.y, p.z - along};
}

Distance box_distance(const ShapeView& s, const Vector& p) {
  const float over[3] = {std::fabs(p.x) - s.half[0], std::fabs(p.y) - s.half[1], std::fabs(p.z) - s.half[2]};
  const float sign[3] = {p.x < 0 ? -1.0f : 1.0f, p.y < 0 ? -1.0f : 1.0f, p.z < 0 ? -1.0f : 1.0f};
  const int most = over[0] > over[1] ? (over[0] > over[2] ? 0 : 2) : (over[1] > over[2] ? 1 : 2);
  if (over[most] <= 0) {
    float n[3] = {};
    n[most] = sign[most];
    return {over[most], vector_of(n)};
  }
  const Vector out{sign[0] * positive(over[0]), sign[1] * positive(over[1]), sign[2] * positive(over[2])};
  const float d = length(out);
  return {d, out * (1 / d)};
}

}  // namespace

Result<void> check(const ShapeDesc& desc) {
  const auto bad = [](const char* what, const char* fix) { return Error(fmt::format("shape: {}", what), fix); };
  if (!finite(desc.pose) || !finite(desc.velocity)) return bad("its pose or velocity is not a number", "set both");
  const bool box = desc.kind == ShapeKind::box || desc.kind == ShapeKind::tank;
  const auto& h = desc.half_size;
  if (box && !(finite(h) && h.x > 0 && h.y > 0 && h.z > 0))
    return bad("a box or tank needs three positive half sizes", "give them in m");
  const bool round = desc.kind == ShapeKind::sphere || desc.kind == ShapeKind::capsule;
  if (round && !(std::isfinite(desc.radius) && desc.radius > 0))
    return bad("the radius must be positive", "give it in m");
  if (desc.kind == ShapeKind::capsule && !(std::isfinite(desc.half_length) && desc.half_length >= 0))
    return bad("the half length of a capsule must not be negative", "give it in m");
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
    default: return 0;
  }
}

ShapeView view_of(const ShapeDesc& desc) {
  ShapeView view;
  view.kind = desc.kind;
  view.radius = to_float(desc.radius);
  view.friction = to_float(desc.friction);
  view.inverse_mass = desc.mass > 0 ? to_float(1 / desc.mass) : 0;
  const Vec3 axes[3] = {desc.pose.rotation * Vec3{1, 0, 0}, desc.pose.rotation * Vec3{0, 1, 0},
                        desc.pose.rotation * Vec3{0, 0, 1}};
  for (int i = 0; i < 3; ++i) {
    view.center[i] = to_float(desc.pose.position[i]);
    view.velocity[i] = to_float(desc.velocity.linear[i]);
    view.spin[i] = to_float(desc.velocity.angular[i]);
    view.half[i] = to_float(desc.half_size[i]);
    for (int k = 0; k < 3; ++k) view.axes[k][i] = to_float(axes[k][i]);
  }
  if (desc.kind == ShapeKind::capsule) view.half[2] = to_float(desc.half_length);
  return view;
}

Distance distance_to(const ShapeView& s, const Vector& point) {
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

bool near(const ShapeView& s, const Vector& point, float distance) {
  const Vector p = into_frame(s, point);
  const float x = std::fabs(p.x), y = std::fabs(p.y), z = std::fabs(p.z);
  switch (s.kind) {
    case ShapeKind::plane: return p.z < distance;
    case ShapeKind::tank: return s.half[0] - x < distance || s.half[1] - y < distance || s.half[2] - z < distance;
    case ShapeKind::box: return x - s.half[0] < distance && y - s.half[1] < distance && z - s.half[2] < distance;
    default: {
      const float r = s.radius + distance;
      return x < r && y < r && z < r + s.half[2] * (s.kind == ShapeKind::capsule);
    }
  }
}

Covered covered_by(const ShapeView& s, const Vector& point, float support) {
  if (s.kind != ShapeKind::tank) {
    const Distance d = distance_to(s, point);
    const Behind behind = behind_wall(d.distance / support);
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

}  // namespace volvox::particles
