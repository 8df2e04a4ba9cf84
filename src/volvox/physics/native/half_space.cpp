#include <algorithm>
#include <bit>
#include <cmath>

#include "volvox/physics/native/detector.h"
#include "volvox/physics/native/wide.h"

namespace volvox::physics::native {
namespace {

constexpr int most_candidates = 512;
// Beside the lowest point, those that would be lowest if the body tipped by this (rad) one
// way or another: they are the corners that it stands on, not those that are merely near.
constexpr double tip = 0.05;
constexpr int tips = 8;
// Directions that are no symmetry of anything: cosine and sine of 0.3 rad + k pi / 4.
constexpr double tip_cosine[tips] = {0.955336489125606,  0.466560567667782,  -0.295520206661340, -0.884489251883547,
                                     -0.955336489125606, -0.466560567667782, 0.295520206661340,  0.884489251883547};

struct Candidate {
  Vec3 point;  // on the core
  double height;
  std::uint32_t id;
  int convex;
};

// Left as raw memory: of five hundred places a call uses a few.
class Candidates {
 public:
  void add(const Candidate& c) {
    if (count_ == most_candidates) return;
    x_[count_] = c.point.x, y_[count_] = c.point.y, z_[count_] = c.point.z;
    height_[count_] = c.height, id_[count_] = c.id, convex_[count_++] = c.convex;
  }
  int count() const { return count_; }
  Candidate operator[](int i) const { return {{x_[i], y_[i], z_[i]}, height_[i], id_[i], convex_[i]}; }

  // For each lean, the lowest if the plane is tipped so.
  void lowest(const Leans& leans, int (&out)[Leans::most]) const {
    wide_lowest(x_, y_, z_, height_, count_, leans, out);
  }

 private:
  double x_[most_candidates], y_[most_candidates], z_[most_candidates], height_[most_candidates];
  std::uint32_t id_[most_candidates];
  int convex_[most_candidates];
  int count_ = 0;
};

// The rim points of a cylinder that a plane may meet: on each disc the lowest, and, if the
// disc lies nearly flat, two more that a circle stands on.
void add_cylinder(const Convex& c, int index, const Vec3& normal, double offset, double margin, Candidates& out) {
  const double along = dot(normal, c.axis);
  Vec3 down = c.axis * along - normal;
  const bool flat = length(down) < 0.3;
  down = length(down) > 1e-9 ? normalized(down) : perpendicular(c.axis);
  const Vec3 side = cross(c.axis, down);
  for (int end = 0; end < 2; ++end) {
    const Vec3 middle = c.centre + c.axis * (end == 0 ? -c.half_length : c.half_length);
    const int points = flat && (end == 0) == (along > 0) ? 4 : 1;
    const Vec3 rim[4] = {down, -down, side, -side};
    for (int k = 0; k < points; ++k) {
      const Vec3 p = middle + rim[k] * c.disc;
      const double height = dot(normal, p) - offset;
      if (height < margin) out.add({p, height, static_cast<std::uint32_t>(end * 4 + k), index});
    }
  }
}

void add_cloud(const Shape& shape, const Vec3& normal, double offset, double margin, Candidates& out) {
  const Shape::Cloud& cloud = shape.cloud;
  double heights[64];
  const int padded = static_cast<int>(cloud.x.size());
  for (int first = 0; first < cloud.count; first += 64) {
    std::uint64_t below =
        wide_heights(cloud.x.data() + first, cloud.y.data() + first, cloud.z.data() + first,
                     cloud.radius.data() + first, std::min(64, padded - first), normal, offset, margin, heights);
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

void collide_half_space(const Shape& shape, const Vec3& normal, double offset, double margin, const Vec3& lean,
                        Manifold& out, int (&convex)[Manifold::most_found]) {
  out.count = 0;
  out.normal = normal;
  out.normal_of = ContactPoint::NormalOf::b;
  Candidates candidates;
  add_cloud(shape, normal, offset, margin, candidates);
  for (std::size_t i = 0; i < shape.convexes.size(); ++i) {
    if (shape.convexes[i].cylinder())
      add_cylinder(shape.convexes[i], static_cast<int>(i), normal, offset, margin, candidates);
  }
  if (candidates.count() == 0) return;
  int chosen[3 + tips], count = 0;
  static_assert(3 + tips <= Leans::most && Manifold::most_kept <= 3 + tips);
  const auto choose = [&](int i) {
    if (std::find(chosen, chosen + count, i) == chosen + count) chosen[count++] = i;
  };
  if (candidates.count() <= Manifold::most_kept) {
    for (int i = 0; i < candidates.count(); ++i) choose(i);
  } else {
    Leans leans;
    leans.add({});
    if (lean != Vec3{}) leans.add(lean * 0.5), leans.add(lean);
    const Vec3 u = perpendicular(normal), v = cross(normal, u);
    for (int k = 0; k < tips; ++k) leans.add((u * tip_cosine[k] + v * tip_cosine[(k + 6) % tips]) * tip);
    int lowest[Leans::most];
    candidates.lowest(leans, lowest);
    for (int k = 0; k < leans.count; ++k) choose(lowest[k]);
  }
  // The candidate's place in the list rides along in the id, so that its convex is found again.
  for (int i = 0; i < count; ++i) {
    const Candidate c = candidates[chosen[i]];
    const double radius = shape.convexes[static_cast<std::size_t>(c.convex)].radius;
    const double lowest = c.height + std::min(0.0, dot(lean, c.point));
    out.add({c.point, c.point - normal * (c.height + radius), lowest, static_cast<std::uint32_t>(chosen[i])});
  }
  out.reduce();
  for (int i = 0; i < out.count; ++i) {
    const Candidate c = candidates[static_cast<int>(out.points[i].id)];
    convex[i] = c.convex;
    out.points[i].id = c.id;
  }
}

}  // namespace volvox::physics::native
