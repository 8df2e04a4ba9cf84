// The convex hull of a few hundred points, one point at a time: each new point removes the
// faces that see it and is joined to the border of the hole. Quadratic, and run once a shape.
#include "volvox/model/hull_faces.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace volvox::model {
namespace {

using Corner = std::uint32_t;

class HullBuilder {
 public:
  explicit HullBuilder(const std::vector<Vec3>& points) : points_(points) {}

  std::vector<HullFace> build() {
    if (!start()) return {};
    for (Corner i = 0; i < points_.size(); ++i) add(i);
    return std::move(faces_);
  }

 private:
  // Starts with four points that span a volume, far apart from each other. False if there are none.
  bool start() {
    if (points_.size() < 4) return false;
    const Vec3& a = points_[0];
    const Corner b = farthest([&](const Vec3& p) { return length(p - a); });
    const double size = length(points_[b] - a);
    const Vec3 u = normalized(points_[b] - a);
    const Corner c = farthest([&](const Vec3& p) { return length(cross(p - a, u)); });
    const Vec3 n = normalized(cross(u, points_[c] - a));
    const Corner d = farthest([&](const Vec3& p) { return std::fabs(dot(p - a, n)); });
    tolerance_ = 1e-10 * size;
    if (!(std::fabs(dot(points_[d] - a, n)) > 1e-7 * size)) return false;
    inside_ = (a + points_[b] + points_[c] + points_[d]) / 4;
    add_face(0, b, c), add_face(0, c, d), add_face(0, d, b), add_face(b, d, c);
    return true;
  }

  template <class Measure>
  Corner farthest(const Measure& measure) const {
    Corner best = 0;
    for (Corner i = 1; i < points_.size(); ++i) {
      if (measure(points_[i]) > measure(points_[best])) best = i;
    }
    return best;
  }

  void add_face(Corner a, Corner b, Corner c) {
    Vec3 n = normalized(cross(points_[b] - points_[a], points_[c] - points_[a]));
    if (dot(n, points_[a] - inside_) < 0) n = -n, std::swap(b, c);
    faces_.push_back({n, dot(n, points_[a]), {a, b, c}});
  }

  void add(Corner point) {
    const auto sees = [&](const HullFace& face) { return dot(face.normal, points_[point]) > face.offset + tolerance_; };
    // An edge on the border of the hole belongs to one removed face; an inner edge belongs to two, which pass it in
    // opposite directions.
    std::map<std::pair<Corner, Corner>, int> edges;
    for (const HullFace& face : faces_) {
      if (!sees(face)) continue;
      for (std::size_t i = 0; i < 3; ++i) edges[{face.corners[i], face.corners[(i + 1) % 3]}] = 1;
    }
    if (edges.empty()) return;
    std::erase_if(faces_, sees);
    for (const auto& [edge, one] : edges) {
      if (!edges.contains({edge.second, edge.first})) add_face(edge.first, edge.second, point);
    }
  }

  const std::vector<Vec3>& points_;
  std::vector<HullFace> faces_;
  Vec3 inside_;
  double tolerance_ = 0;
};

}  // namespace

std::vector<HullFace> hull_faces(const std::vector<Vec3>& points) { return HullBuilder(points).build(); }

}  // namespace volvox::model
