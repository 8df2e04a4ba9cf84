#include "volvox/physics/native/manifold.h"

#include <algorithm>
#include <cmath>

#include "volvox/physics/native/wide.h"

namespace volvox::physics::native {
namespace {

using NormalOf = ContactPoint::NormalOf;

// A face counts as the one that is touched if its normal is this near to the contact's.
constexpr double aligned = 0.985;  // 10 degrees
constexpr int disc_corners = 12;
// Of more faces, eight are looked at side by side.
constexpr std::size_t many_faces = 8;
static_assert(cylinder_side_id == 2 * disc_corners);

// The part of a core that faces a direction: a point, a segment or a polygon.
struct Feature {
  static constexpr int most = 32;
  struct Corner {
    double x, y, z;
    std::uint32_t id;
    Vec3 at() const { return {x, y, z}; }
  };
  Corner corners[most];  // left as they are: most are never used
  int count = 0;
  Vec3 normal;           // of a polygon
  double alignment = 0;  // of its normal with the direction

  Vec3 point(int i) const { return corners[i].at(); }
  void add(const Vec3& p, std::uint32_t id) {
    if (count < most) corners[count++] = {p.x, p.y, p.z, id};
  }
};

Feature cylinder_feature(const Convex& c, const Vec3& direction) {
  Feature f;
  const double along = dot(direction, c.axis);
  if (std::fabs(along) > 0.7) {
    const double sign = along > 0 ? 1 : -1;
    const Vec3 u = perpendicular(c.axis), v = cross(c.axis, u) * sign;
    for (int i = 0; i < disc_corners; ++i) {
      const double angle = 2 * pi * i / disc_corners;
      f.add(c.centre + c.axis * (sign * c.half_length) + (u * volvox::cos(angle) + v * volvox::sin(angle)) * c.disc,
            static_cast<std::uint32_t>(i + (sign > 0 ? disc_corners : 0)));
    }
    f.normal = c.axis * sign;
    f.alignment = std::fabs(along);
    return f;
  }
  const Vec3 rim = c.centre + normalized(direction - c.axis * along) * c.disc;
  f.add(rim - c.axis * c.half_length, cylinder_side_id);
  f.add(rim + c.axis * c.half_length, cylinder_side_id + 1);
  return f;
}

Feature feature(const Convex& c, const Vec3& direction) {
  if (c.cylinder()) return cylinder_feature(c, direction);
  Feature f;
  if (c.faces.empty()) {
    for (std::size_t i = 0; i < c.points.size(); ++i) f.add(c.points[i], static_cast<std::uint32_t>(i));
    return f;
  }
  const Convex::Face* best = &c.faces.front();
  if (c.faces.size() > many_faces && !c.face_x.empty()) {
    best +=
        wide_farthest(c.face_x.data(), c.face_y.data(), c.face_z.data(), static_cast<int>(c.face_x.size()), direction);
    f.alignment = dot(best->normal, direction);
  } else {
    f.alignment = dot(best->normal, direction);
    for (const Convex::Face& face : c.faces) {
      const double d = dot(face.normal, direction);
      if (d > f.alignment) best = &face, f.alignment = d;
    }
  }
  f.normal = best->normal;
  for (int i : best->corners) f.add(c.points[static_cast<std::size_t>(i)], static_cast<std::uint32_t>(i));
  return f;
}

// Cuts away what lies outside of the plane through `origin` with an outward normal.
void cut(Feature& f, const Vec3& origin, const Vec3& outward, std::uint32_t plane) {
  double beyond[Feature::most];
  bool any = false;
  for (int i = 0; i < f.count; ++i) {
    beyond[i] = dot(f.point(i) - origin, outward);
    any = any || beyond[i] > 0;
  }
  if (!any) return;
  Feature::Corner whole[Feature::most];
  const int count = f.count, edges = count > 2 ? count : count - 1;
  std::copy(f.corners, f.corners + count, whole);
  f.count = 0;
  for (int i = 0; i < count; ++i) {
    if (beyond[i] <= 0) f.add(whole[i].at(), whole[i].id);
    if (i >= edges) continue;
    const int j = i + 1 < count ? i + 1 : 0;
    if ((beyond[i] < 0 && beyond[j] > 0) || (beyond[i] > 0 && beyond[j] < 0)) {
      const double t = beyond[i] / (beyond[i] - beyond[j]);
      f.add(whole[i].at() + (whole[j].at() - whole[i].at()) * t, (plane + 1) << 8 | whole[i].id);
    }
  }
}

// Clips `incident` to the prism that stands on `reference`.
void clip(Feature& incident, const Feature& reference, const Vec3& up) {
  if (reference.count == 2) {
    const Vec3 along = reference.point(1) - reference.point(0);
    cut(incident, reference.point(0), -along, 0);
    cut(incident, reference.point(1), along, 1);
    return;
  }
  for (int i = 0; i < reference.count && incident.count > 0; ++i) {
    const Vec3 p = reference.point(i);
    cut(incident, p, cross(reference.point((i + 1) % reference.count) - p, up), static_cast<std::uint32_t>(i));
  }
}

bool parallel(const Feature& a, const Feature& b) {
  if (a.count != 2 || b.count != 2) return false;
  const Vec3 u = normalized(a.point(1) - a.point(0)), v = normalized(b.point(1) - b.point(0));
  return std::fabs(dot(u, v)) > aligned;
}

void turn_to_first(Feature& f, const Placement& place) {
  for (Feature::Corner* c = f.corners; c != f.corners + f.count; ++c) {
    const Vec3 p = place.to_first(c->at());
    c->x = p.x, c->y = p.y, c->z = p.z;
  }
  f.normal = place.turn_to_first(f.normal);
}

}  // namespace

void clip_features(const Convex& a, const Convex& b, const Placement& place, const Proximity& nearest, double margin,
                   Manifold& out) {
  const double radius = a.radius + b.radius;
  const Vec3& n = nearest.normal;
  out.normal = n;
  out.normal_of = NormalOf::b;
  Feature on_a = feature(a, -n), on_b = feature(b, place.turn_to_second(n));
  turn_to_first(on_b, place);
  const bool face_a = on_a.count > 2 && on_a.alignment > aligned, face_b = on_b.count > 2 && on_b.alignment > aligned;
  const bool segments = parallel(on_a, on_b);
  // The better aligned face carries the other's corners; of two alike, b's.
  if (face_b && (!face_a || on_b.alignment >= on_a.alignment - 1e-3)) {
    clip(on_a, on_b, on_b.normal);
    for (int i = 0; i < on_a.count; ++i) {
      const double s = dot(on_a.point(i) - on_b.point(0), on_b.normal) / dot(n, on_b.normal);
      if (s - radius <= margin) out.add({on_a.point(i), on_a.point(i) - n * s, s - radius, on_a.corners[i].id});
    }
  } else if (face_a || segments) {
    const Vec3 up = face_a ? on_a.normal : -n;
    clip(on_b, on_a, up);
    if (face_a) out.normal_of = NormalOf::a;
    for (int i = 0; i < on_b.count; ++i) {
      const double s = -dot(on_b.point(i) - on_a.point(0), up) / dot(n, up);
      if (s - radius <= margin)
        out.add({on_b.point(i) + n * s, on_b.point(i), s - radius, 0x10000u | on_b.corners[i].id});
    }
  }
  if (out.count == 0) {
    out.add({nearest.on_a, nearest.on_b, nearest.distance - radius, 0xffffu});
    if (a.radius > 0 && b.radius > 0 && nearest.distance > 1e-6) out.normal_of = NormalOf::centres;
  }
  out.reduce();
}

bool collide(const Convex& a, const Convex& b, const Placement& place, double margin, Manifold& out, GjkCount& count) {
  out.count = 0;
  Proximity nearest = proximity(a, b, place, margin + a.radius + b.radius, count);
  if (!nearest.near) {
    // Two cores without volume that cross (capsules, spheres): any way out is as good.
    if (a.radius <= 0 || b.radius <= 0 || a.cylinder() || b.cylinder()) return false;
    const Vec3 between = a.centre - place.to_first(b.centre);
    if (a.points.size() > 2 || b.points.size() > 2 || length(between) > 0.5 * (a.radius + b.radius)) return false;
    nearest = {true, 0, length(between) > 1e-9 ? normalized(between) : Vec3{0, 0, 1}, a.centre,
               place.to_first(b.centre)};
    if (a.points.size() == 2 && b.points.size() == 2) {
      const Vec3 across = cross(a.points[1] - a.points[0], place.turn_to_first(b.points[1] - b.points[0]));
      if (length(across) > 1e-9) nearest.normal = normalized(across);
    }
  }
  return collide(a, b, place, margin, nearest, out);
}

bool collide(const Convex& a, const Convex& b, const Placement& place, double margin, const Proximity& nearest,
             Manifold& out) {
  out.count = 0;
  if (!nearest.near || nearest.distance - a.radius - b.radius > margin) return false;
  clip_features(a, b, place, nearest, margin, out);
  return true;
}

}  // namespace volvox::physics::native
