#include <algorithm>
#include <array>
#include <cmath>

#include "volvox/physics/native/minkowski.h"

namespace volvox::physics::native {
namespace {

// A polytope inside the difference, grown where its surface is nearest to the origin.
class Polytope {
 public:
  explicit Polytope(const Minkowski& difference) : difference_(difference) {}

  bool start(Difference (&corner)[4], int count);
  Proximity grow();

 private:
  static constexpr int most_points = 96, most_faces = 192;
  struct Face {
    int corner[3];
    Vec3 normal;
    double distance;  // of its plane from the origin
    bool alive;
  };

  bool add_face(int a, int b, int c);
  bool add_point(const Difference& point);
  int nearest() const;
  Proximity result(const Face& face) const;

  const Minkowski& difference_;
  std::array<Difference, most_points> points_;
  std::array<Face, most_faces> faces_;
  int point_count_ = 0, face_count_ = 0;
  Vec3 inside_;
};

// Four corners that span a volume, from fewer if need be.
bool Polytope::start(Difference (&corner)[4], int count) {
  const auto farther = [&](const Vec3& along) {
    const Difference up = difference_.support(along), down = difference_.support(-along);
    const double base = dot(corner[0].point, along);
    return std::fabs(dot(up.point, along) - base) >= std::fabs(dot(down.point, along) - base) ? up : down;
  };
  if (count < 1) corner[0] = difference_.support({1, 0, 0}), count = 1;
  if (count < 2) {
    for (int axis = 0; axis < 3 && count < 2; ++axis) {
      Vec3 along;
      along[axis] = 1;
      corner[1] = farther(along);
      if (length(corner[1].point - corner[0].point) > 1e-9) count = 2;
    }
  }
  if (count < 2) return false;
  if (count < 3) {
    const Vec3 edge = normalized(corner[1].point - corner[0].point), side = perpendicular(edge);
    corner[2] = farther(side);
    if (!(length(cross(corner[2].point - corner[0].point, edge)) > 1e-9)) corner[2] = farther(cross(edge, side));
    if (!(length(cross(corner[2].point - corner[0].point, edge)) > 1e-9)) return false;
    count = 3;
  }
  const Vec3 normal = normalized(cross(corner[1].point - corner[0].point, corner[2].point - corner[0].point));
  if (count < 4) corner[3] = farther(normal);
  if (!(std::fabs(dot(corner[3].point - corner[0].point, normal)) > 1e-10)) return false;
  inside_ = {};
  for (int i = 0; i < 4; ++i) {
    points_[static_cast<std::size_t>(i)] = corner[i];
    inside_ += corner[i].point * 0.25;
  }
  point_count_ = 4;
  return add_face(0, 1, 2) && add_face(0, 2, 3) && add_face(0, 3, 1) && add_face(1, 3, 2);
}

bool Polytope::add_face(int a, int b, int c) {
  if (face_count_ == most_faces) return false;
  const Vec3 &p = points_[static_cast<std::size_t>(a)].point, &q = points_[static_cast<std::size_t>(b)].point;
  const Vec3& r = points_[static_cast<std::size_t>(c)].point;
  Vec3 normal = cross(q - p, r - p);
  const double size = length(normal);
  if (!(size > 1e-20)) return false;
  normal = normal / size;
  if (dot(normal, p - inside_) < 0) normal = -normal, std::swap(b, c);
  faces_[static_cast<std::size_t>(face_count_++)] = {{a, b, c}, normal, dot(normal, p), true};
  return true;
}

int Polytope::nearest() const {
  int best = -1;
  for (int i = 0; i < face_count_; ++i) {
    const Face& face = faces_[static_cast<std::size_t>(i)];
    if (face.alive && (best < 0 || face.distance < faces_[static_cast<std::size_t>(best)].distance)) best = i;
  }
  return best;
}

// Removes the faces that see the point, and joins it to the border of the hole.
bool Polytope::add_point(const Difference& point) {
  if (point_count_ == most_points) return false;
  std::array<std::pair<int, int>, most_faces> border;
  std::size_t edges = 0;
  for (int i = 0; i < face_count_; ++i) {
    Face& face = faces_[static_cast<std::size_t>(i)];
    if (!face.alive || dot(face.normal, point.point) <= face.distance + 1e-12) continue;
    face.alive = false;
    for (int k = 0; k < 3; ++k) {
      const std::pair<int, int> edge{face.corner[k], face.corner[(k + 1) % 3]};
      const auto end = border.begin() + static_cast<std::ptrdiff_t>(edges);
      const auto twin = std::find(border.begin(), end, std::pair{edge.second, edge.first});
      if (twin != end) {
        *twin = border[--edges];
      } else if (edges < border.size()) {
        border[edges++] = edge;
      }
    }
  }
  if (edges == 0) return false;
  points_[static_cast<std::size_t>(point_count_)] = point;
  for (std::size_t i = 0; i < edges; ++i) {
    if (!add_face(border[i].first, border[i].second, point_count_)) return false;
  }
  ++point_count_;
  return true;
}

Proximity Polytope::result(const Face& face) const {
  const Difference& a = points_[static_cast<std::size_t>(face.corner[0])];
  const Difference& b = points_[static_cast<std::size_t>(face.corner[1])];
  const Difference& c = points_[static_cast<std::size_t>(face.corner[2])];
  // Weights of the foot of the perpendicular from the origin.
  const Vec3 foot = face.normal * face.distance;
  const double area = dot(face.normal, cross(b.point - a.point, c.point - a.point));
  const double u = dot(face.normal, cross(c.point - b.point, foot - b.point)) / area;
  const double v = dot(face.normal, cross(a.point - c.point, foot - c.point)) / area;
  const double w = 1 - u - v;
  Proximity found;
  found.near = true;
  found.distance = -face.distance;
  found.normal = -face.normal;
  found.on_a = a.a * u + b.a * v + c.a * w;
  found.on_b = a.b * u + b.b * v + c.b * w;
  return found;
}

Proximity Polytope::grow() {
  Face best = faces_[static_cast<std::size_t>(nearest())];
  for (int i = 0; i < 64; ++i) {
    const int index = nearest();
    if (index < 0) break;
    best = faces_[static_cast<std::size_t>(index)];
    const Difference point = difference_.support(best.normal);
    if (dot(best.normal, point.point) - best.distance < 1e-8) break;
    if (!add_point(point)) break;
  }
  return result(best);
}

}  // namespace

Proximity overlap(const Minkowski& difference, Difference (&start)[4], int count) {
  Polytope polytope(difference);
  if (polytope.start(start, count)) return polytope.grow();
  return {};  // flat: two segments that cross, or a point on one
}

}  // namespace volvox::physics::native
