#include <algorithm>
#include <bit>

#include "volvox/physics/native/detector.h"
#include "volvox/physics/native/plane_kernel.h"
#include "volvox/physics/native/wide.h"

namespace volvox::physics::native {
namespace {

// Left as raw memory: of five hundred places a call uses a few.
class Candidates {
 public:
  void add(const PlaneCandidate& c) {
    if (count_ == most_candidates) return;
    x_[count_] = c.point.x, y_[count_] = c.point.y, z_[count_] = c.point.z;
    height_[count_] = c.height, id_[count_] = c.id, convex_[count_++] = c.convex;
  }
  int count() const { return count_; }
  PlaneCandidate operator[](int i) const { return {{x_[i], y_[i], z_[i]}, height_[i], id_[i], convex_[i]}; }

  // For each lean, the lowest if the plane is tipped so. Returns how many leans there are.
  int lowest(const SeenPlane& plane, int (&out)[Leans::most]) const {
    const Leans leans = leans_of(plane);
    wide_lowest(x_, y_, z_, height_, count_, leans, out);
    return leans.count;
  }

 private:
  double x_[most_candidates], y_[most_candidates], z_[most_candidates], height_[most_candidates];
  std::uint32_t id_[most_candidates];
  int convex_[most_candidates];
  int count_ = 0;
};

void add_cloud(const Shape& shape, const SeenPlane& plane, Candidates& out) {
  const Shape::Cloud& cloud = shape.cloud;
  double heights[64];
  const int padded = static_cast<int>(cloud.x.size());
  for (int first = 0; first < cloud.count; first += 64) {
    std::uint64_t below = wide_heights(cloud.x.data() + first, cloud.y.data() + first, cloud.z.data() + first,
                                       cloud.radius.data() + first, std::min(64, padded - first), plane.normal,
                                       plane.offset, plane.margin, heights);
    for (; below != 0; below &= below - 1) {
      const int i = std::countr_zero(below);
      if (first + i >= cloud.count) break;
      const std::size_t k = static_cast<std::size_t>(first + i);
      out.add({{cloud.x[k], cloud.y[k], cloud.z[k]},
               heights[i],
               static_cast<std::uint32_t>(cloud.point[k]),
               cloud.convex[k]});
    }
  }
}

}  // namespace

void collide_half_space(const Shape& shape, const SeenPlane& plane, Manifold& out,
                        int (&convex)[Manifold::most_found]) {
  Candidates candidates;
  add_cloud(shape, plane, candidates);
  for (std::size_t i = 0; i < shape.convexes.size(); ++i) {
    if (shape.convexes[i].cylinder()) add_cylinder(shape.convexes[i], static_cast<int>(i), plane, candidates);
  }
  choose_points(shape, candidates, plane, out, convex);
}

}  // namespace volvox::physics::native
