#include "volvox/particles/shapes.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/index.h"
#include "volvox/particles/shape_kernels.h"

namespace volvox::particles {
namespace {

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
  // Of a sphere and a capsule, the box around them.
  if (desc.kind == ShapeKind::sphere || desc.kind == ShapeKind::capsule) {
    for (float& half : view.half) half = view.radius;
    view.axis = desc.kind == ShapeKind::capsule ? to_float(desc.half_length) : 0;
    view.half[2] += view.axis;
  }
  return view;
}

Distance distance_to(const ShapeView& s, const Vector& point) { return simple_distance(s, point); }

std::span<const NearShape> find_near(std::span<const ShapeView> shapes, std::span<const Point> points, float distance) {
  thread_local std::vector<NearShape> found;
  found.clear();
  if (points.empty()) return {};
  Vector low = xyz(points[0]), high = low;
  for (const Point& p : points) {
    low = {smaller(low.x, p.x), smaller(low.y, p.y), smaller(low.z, p.z)};
    high = {larger(high.x, p.x), larger(high.y, p.y), larger(high.z, p.z)};
  }
  for (std::uint32_t s = 0; s < shapes.size(); ++s) {
    if (!may_be_near(shapes[s], low, high, distance)) continue;
    NearShape near{s};
    find_bits(shapes[s], points.data(), points.size(), distance, near);
    if ((near.bits[0] | near.bits[1]) != 0) found.push_back(near);
  }
  return found;
}

Covered covered_by(const ShapeView& s, const Vector& point, float support) { return simple_covered(s, point, support); }

}  // namespace volvox::particles
