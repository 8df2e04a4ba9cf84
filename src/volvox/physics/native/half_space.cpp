#include <algorithm>
#include <bit>

#include "volvox/physics/native/detector.h"
#include "volvox/physics/native/plane_kernel.h"
#include "volvox/physics/native/wide.h"

namespace volvox::physics::native {
namespace {

struct Opened {
  double x[most_candidates], y[most_candidates], z[most_candidates];
  int id[most_candidates], convex[most_candidates];
  void set(int i, const PlaneCandidate& c) {
    x[i] = c.point.x, y[i] = c.point.y, z[i] = c.point.z, id[i] = static_cast<int>(c.id), convex[i] = c.convex;
  }
};

// Points of a cloud by their places in it; where there are cylinders, copies with their rims behind them. Left as raw
// memory: of five hundred places a call uses a few.
class Candidates {
 public:
  explicit Candidates(const Shape::Cloud& cloud)
      : x_(cloud.x.data()),
        y_(cloud.y.data()),
        z_(cloud.z.data()),
        id_(cloud.point.data()),
        convex_(cloud.convex.data()) {}

  void add(int place, double height) {
    if (count_ == most_candidates) return;
    place_[count_] = place, height_[count_++] = height;
  }
  // From here on others than those of the cloud may be added.
  void open(Opened& own) {
    for (int i = 0; i < count_; ++i) {
      const PlaneCandidate c = (*this)[i];
      own.set(i, c);
      place_[i] = i;
    }
    x_ = own.x, y_ = own.y, z_ = own.z, id_ = own.id, convex_ = own.convex;
    opened_ = &own;
  }
  void add(const PlaneCandidate& c) {
    if (count_ == most_candidates) return;
    opened_->set(count_, c);
    add(count_, c.height);
  }
  int count() const { return count_; }
  PlaneCandidate operator[](int i) const {
    const int k = place_[i];
    return {{x_[k], y_[k], z_[k]}, height_[i], static_cast<std::uint32_t>(id_[k]), convex_[k]};
  }

  // For each lean, the lowest if the plane is tipped so. Returns how many leans there are.
  int lowest(const SeenPlane& plane, int (&out)[Leans::most]) const {
    Leans leans = leans_of(plane);
    leans.fill_up();
    wide_lowest(x_, y_, z_, place_, height_, count_, leans, out);
    return leans.count;
  }

 private:
  const double *x_, *y_, *z_;
  const int *id_, *convex_;
  Opened* opened_ = nullptr;
  int place_[most_candidates];
  double height_[most_candidates];
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
      out.add(first + i, heights[i]);
    }
  }
}

}  // namespace

void collide_half_space(const Shape& shape, const SeenPlane& plane, Manifold& out,
                        int (&convex)[Manifold::most_found]) {
  Candidates candidates(shape.cloud);
  add_cloud(shape, plane, candidates);
  const auto round = [](const Convex& c) { return c.cylinder(); };
  if (std::ranges::any_of(shape.convexes, round)) {
    Opened own;
    candidates.open(own);
    for (std::size_t i = 0; i < shape.convexes.size(); ++i)
      if (round(shape.convexes[i])) add_cylinder(shape.convexes[i], static_cast<int>(i), plane, candidates);
    return choose_points(shape, candidates, plane, out, convex);
  }
  choose_points(shape, candidates, plane, out, convex);
}

}  // namespace volvox::physics::native
