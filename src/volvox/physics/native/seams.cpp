// A floor cut into many triangles is one floor: of the points that a convex has over all of them,
// those at the corners of what lies on it bound its motion; the rest follow, unless they are
// deeper than those say.
#include <algorithm>
#include <cmath>
#include <span>

#include "volvox/physics/native/surface.h"

namespace volvox::physics::native {
namespace {

constexpr double one_normal = 0.999;  // cosine of 2.6 degrees: triangles that continue each other
constexpr double one_place = 5e-4;    // m
constexpr double deeper = 2e-5;       // m; less deep than that below what others say tells nothing new
constexpr int most_kept = 6;

// The points of one floor, and the few of them that are kept.
class Floor {
 public:
  explicit Floor(std::span<const SurfacePoint> points) : points_(points), normal_(points.front().normal) {}

  // Their places among the points, ascending.
  std::span<const std::size_t> choose() {
    if (points_.size() <= 2) {
      for (std::size_t i = 0; i < points_.size(); ++i) keep(i);
    } else {
      choose_corners();
      std::sort(kept_, kept_ + count_);
    }
    return {kept_, static_cast<std::size_t>(count_)};
  }

 private:
  // The corners are the farthest from the middle, the farthest from it, and the farthest on either
  // side of the line between them.
  void choose_corners() {
    Vec3 middle;
    for (const SurfacePoint& p : points_) middle += p.point.on_a / static_cast<double>(points_.size());
    const std::size_t a = most([&](std::size_t i) { return length_squared(in_plane(at(i) - middle)); });
    const std::size_t b = most([&](std::size_t i) { return length_squared(in_plane(at(i) - at(a))); });
    const Vec3 line = in_plane(at(b) - at(a));
    const double size = length(line);
    if (size < one_place) return keep(most([&](std::size_t i) { return -separation(i); }));
    keep(a), keep(b);
    const Vec3 along = line / size, across = cross(normal_, along);
    const auto forward = [&](std::size_t i) { return dot(along, at(i) - at(a)); };
    const auto aside = [&](std::size_t i) { return dot(across, at(i) - at(a)); };
    const std::size_t c = most([&](std::size_t i) { return std::fabs(aside(i)); });
    const double rise = (separation(b) - separation(a)) / size, width = aside(c);
    double slope = 0;
    if (std::fabs(width) > one_place) {
      const std::size_t d = most([&](std::size_t i) { return width > 0 ? -aside(i) : aside(i); });
      keep(c);
      if (aside(d) * width < 0 && std::fabs(aside(d)) > one_place) keep(d);
      slope = (separation(c) - separation(a) - rise * forward(c)) / width;
    }
    const auto below = [&](std::size_t i) {
      return is_kept(i) ? 0 : separation(a) + rise * forward(i) + slope * aside(i) - separation(i);
    };
    while (count_ < most_kept) {
      const std::size_t deepest = most(below);
      if (below(deepest) <= deeper) return;
      keep(deepest);
    }
  }

  const Vec3& at(std::size_t i) const { return points_[i].point.on_a; }
  double separation(std::size_t i) const { return points_[i].point.separation; }
  Vec3 in_plane(const Vec3& v) const { return v - normal_ * dot(normal_, v); }
  void keep(std::size_t i) {
    if (!is_kept(i)) kept_[count_++] = i;
  }
  bool is_kept(std::size_t i) const { return std::find(kept_, kept_ + count_, i) != kept_ + count_; }
  // The first of those for which a measure is largest.
  template <class Measure>
  std::size_t most(const Measure& measure) const {
    std::size_t found = 0;
    double largest = measure(0);
    for (std::size_t i = 1; i < points_.size(); ++i) {
      const double m = measure(i);
      if (m > largest) largest = m, found = i;
    }
    return found;
  }

  std::span<const SurfacePoint> points_;
  Vec3 normal_;
  std::size_t kept_[most_kept];
  int count_ = 0;
};

}  // namespace

void merge_seams(std::vector<SurfacePoint>& points) {
  if (points.size() <= 2) return;
  static thread_local std::vector<SurfacePoint> floor, others;
  const auto continues = [](const SurfacePoint& first, const SurfacePoint& p) {
    return dot(p.normal, first.normal) > one_normal && p.normal_of == first.normal_of;
  };
  // The points kept so far come first; then those of a floor after the other.
  for (std::size_t done = 0; done < points.size();) {
    floor.clear(), others.clear();
    for (std::size_t i = done; i < points.size(); ++i)
      (i == done || continues(points[done], points[i]) ? floor : others).push_back(points[i]);
    points.resize(done);
    Floor one(floor);
    for (std::size_t i : one.choose()) points.push_back(floor[i]);
    done = points.size();
    points.insert(points.end(), others.begin(), others.end());
  }
}

}  // namespace volvox::physics::native
