// The links of a lone robot as planes meet them (lone_kernel.h).
// In m, in the frame of a link. Read only once made: any thread.
#pragma once

#include <cstdint>

#include "volvox/physics/native/box.h"
#include "volvox/physics/native/flock_data.h"
#include "volvox/physics/native/plane_kernel.h"

namespace volvox::physics::native {

struct LoneConvex {
  Vec3 centre, axis;  // of a cylinder, as in Convex
  double radius = 0, disc = 0, half_length = 0;
  double friction = 0, restitution = 0;
  int collider = 0;
  VOLVOX_KERNEL bool cylinder() const { return disc > 0; }
};

// What planes can meet of a body: see Shape.
struct LoneShape {
  Row<const double> x, y, z, radius;  // the cloud
  Row<const int> convex, point;
  Row<const LoneConvex> convexes;  // none: it touches nothing
  Box3 bounds;
  double reach = 0, swing = 0;
  Vec3 axle;
};

// The points of a cloud, and of cylinders, that are near a plane.
class LoneCandidates {
 public:
  static constexpr int most_extra = 64;
  VOLVOX_KERNEL LoneCandidates(const LoneShape& shape, const SeenPlane& plane) : shape_(shape), plane_(plane) {
    // Copies: what is listed might change the numbers, for all that a compiler knows.
    const int points = static_cast<int>(shape.point.size());
    const double *x = shape.x.data(), *y = shape.y.data(), *z = shape.z.data(), *radius = shape.radius.data();
    const Vec3 normal = plane.normal;
    const double offset = plane.offset, margin = plane.margin;
    int listed = 0;
    for (int k = 0; k < points; ++k) {
      const double height = x[k] * normal.x + y[k] * normal.y + z[k] * normal.z - offset - radius[k];
      if (height < margin && listed < most_candidates) list_[listed++] = static_cast<std::uint16_t>(k);
    }
    listed_ = listed;
  }
  VOLVOX_KERNEL void add(const PlaneCandidate& c) {
    if (listed_ + extras_ < most_candidates && extras_ < most_extra) extra_[extras_++] = c;
  }
  VOLVOX_KERNEL int count() const { return listed_ + extras_; }
  VOLVOX_KERNEL PlaneCandidate operator[](int i) const {
    if (i >= listed_) return extra_[i - listed_];
    const std::size_t k = list_[i];
    return {{shape_.x[k], shape_.y[k], shape_.z[k]},
            height(list_[i]),
            static_cast<std::uint32_t>(shape_.point[k]),
            shape_.convex[k]};
  }

  // As Candidates of half_space.cpp; tip k + 4 is the opposite of tip k, and half a lean is half of what it gives, all
  // to the bit: five products a point are enough.
  VOLVOX_KERNEL int lowest(const SeenPlane& plane, int (&out)[Leans::most]) const {
    constexpr int half = plane_tips / 2, most = 3 + plane_tips;
    const Vec3 u = perpendicular(plane.normal), v = cross(plane.normal, u);
    Vec3 way[half];
    for (int k = 0; k < half; ++k) way[k] = (u * tip_cosine(k) + v * tip_cosine(k + 6)) * plane_tip;
    double least[most];
    int best[most];
    for (int i = 0; i < most; ++i) least[i] = 1e300, best[i] = 0;
    for (int j = 0; j < count(); ++j) {
      const PlaneCandidate c = (*this)[j];
      const double h = c.height, along = dot3(c.point, plane.lean);
      double m[most];
      m[0] = h, m[1] = h + along * 0.5, m[2] = h + along;
      for (int i = 0; i < half; ++i) {
        const double d = dot3(c.point, way[i]);
        m[3 + i] = h + d, m[3 + i + half] = h - d;
      }
      for (int i = 0; i < most; ++i) {
        best[i] = m[i] < least[i] ? j : best[i];
        least[i] = m[i] < least[i] ? m[i] : least[i];
      }
    }
    int count = 0;
    const bool leans = plane.lean != Vec3{};
    for (int i = 0; i < most; ++i)
      if (leans || (i != 1 && i != 2)) out[count++] = best[i];
    return count;
  }

 private:
  VOLVOX_KERNEL static double dot3(const Vec3& p, const Vec3& lean) {
    return p.x * lean.x + p.y * lean.y + p.z * lean.z;
  }
  VOLVOX_KERNEL double height(int k) const {
    const std::size_t i = static_cast<std::size_t>(k);
    return shape_.x[i] * plane_.normal.x + shape_.y[i] * plane_.normal.y + shape_.z[i] * plane_.normal.z -
           plane_.offset - shape_.radius[i];
  }

  const LoneShape& shape_;
  const SeenPlane& plane_;
  std::uint16_t list_[most_candidates];
  union {
    PlaneCandidate extra_[most_extra];  // left as they are
  };
  int listed_ = 0, extras_ = 0;
};

}  // namespace volvox::physics::native
