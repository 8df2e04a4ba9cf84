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
    const DistanceField& field = *desc.field;
    for (int k = 0; k < 3; ++k) view.field.count[k] = field.count[k], view.field.first[k] = field.first[k];
    view.field.inverse_cell = field.inverse_cell, view.field.distance = field.distance.data();
  }
  if (desc.kind == ShapeKind::terrain) {
    half = {0.5 * desc.terrain->size_x, 0.5 * desc.terrain->size_y, desc.terrain->highest};
    const HeightGrid& t = *desc.terrain;
    view.terrain = {t.columns, t.rows, t.size_x, t.size_y, t.heights.data()};
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

Distance distance_to(const ShapeView& s, const Vector& point) { return any_distance(s, point); }

float least_distance(const ShapeView& s, const Vector& point) { return least_of_any(s, point); }

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

Covered covered_by(const ShapeView& s, const Vector& point, float support) { return any_covered(s, point, support); }

}  // namespace volvox::particles
