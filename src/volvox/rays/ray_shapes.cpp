#include "volvox/rays/ray_shapes.h"
#include "volvox/base/index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace volvox::rays {
namespace {

using namespace model;  // the shapes

constexpr ShapeHit miss{};

// Keeps the part of a ray that lies inside a convex solid, half-space by half-space.
struct Clip {
  double enter = -std::numeric_limits<double>::infinity();
  double leave = std::numeric_limits<double>::infinity();
  Vec3 normal;  // of the surface where the ray enters

  // Inside where height <= 0; `height` at the origin, `climb` per unit of length.
  void half_space(double height, double climb, const Vec3& outward) {
    if (climb == 0) {
      if (height > 0) leave = -std::numeric_limits<double>::infinity();
      return;
    }
    const double t = -height / climb;
    if (climb < 0) {
      if (t > enter) enter = t, normal = outward;
    } else {
      leave = std::min(leave, t);
    }
  }
  ShapeHit hit(double range) const {
    return enter <= leave && enter >= 0 && enter <= range ? ShapeHit{enter, normal} : miss;
  }
};

ShapeHit cast_sphere(const Vec3& centre, double radius, const Vec3& o, const Vec3& d, double range) {
  const Vec3 m = o - centre;
  const double b = dot(m, d), c = dot(m, m) - radius * radius;
  if (c < 0 || b > 0) return miss;
  // The distance of the ray from the centre, without the cancellation of b * b - c.
  const double clearance = length_squared(m - d * b);
  if (clearance > radius * radius) return miss;
  const double t = -b - std::sqrt(radius * radius - clearance);
  if (t < 0 || t > range) return miss;
  return {t, normalized(m + d * t)};
}

// Where a ray meets the side of an infinite cylinder about z: enters, leaves.
bool side_interval(double radius, const Vec3& o, const Vec3& d, double& enter, double& leave) {
  const double a = d.x * d.x + d.y * d.y;
  const double b = o.x * d.x + o.y * d.y;
  const double c = o.x * o.x + o.y * o.y - radius * radius;
  if (a < 1e-30) {
    enter = -std::numeric_limits<double>::infinity(), leave = std::numeric_limits<double>::infinity();
    return c <= 0;
  }
  const double discriminant = b * b - a * c;
  if (discriminant < 0) return false;
  const double root = std::sqrt(discriminant);
  enter = (-b - root) / a, leave = (-b + root) / a;
  return true;
}

ShapeHit cast(const Sphere& s, const std::vector<HullFace>&, const Vec3& o, const Vec3& d, double range) {
  return cast_sphere({}, s.radius, o, d, range);
}

ShapeHit cast(const Box& box, const std::vector<HullFace>&, const Vec3& o, const Vec3& d, double range) {
  Clip clip;
  for (int i = 0; i < 3; ++i) {
    Vec3 axis;
    axis[i] = 1;
    clip.half_space(o[i] - box.size[i] / 2, d[i], axis);
    clip.half_space(-o[i] - box.size[i] / 2, -d[i], -axis);
  }
  return clip.hit(range);
}

ShapeHit cast(const Cylinder& c, const std::vector<HullFace>&, const Vec3& o, const Vec3& d, double range) {
  Clip clip;
  clip.half_space(o.z - c.length / 2, d.z, {0, 0, 1});
  clip.half_space(-o.z - c.length / 2, -d.z, {0, 0, -1});
  double enter = 0, leave = 0;
  if (!side_interval(c.radius, o, d, enter, leave)) return miss;
  if (enter > clip.enter) {
    const Vec3 p = o + d * enter;
    clip.enter = enter;
    clip.normal = normalized(Vec3{p.x, p.y, 0});
  }
  clip.leave = std::min(clip.leave, leave);
  return clip.hit(range);
}

ShapeHit cast(const Capsule& c, const std::vector<HullFace>&, const Vec3& o, const Vec3& d, double range) {
  const double half = c.length / 2;
  // Inside the capsule nothing is seen, although a cap may still lie ahead.
  const Vec3 nearest{0, 0, clamp(o.z, -half, half)};
  if (length_squared(o - nearest) < c.radius * c.radius) return miss;
  ShapeHit best = miss;
  const auto keep = [&](const ShapeHit& hit) {
    if (hit.distance >= 0 && (best.distance < 0 || hit.distance < best.distance)) best = hit;
  };
  keep(cast_sphere({0, 0, half}, c.radius, o, d, range));
  keep(cast_sphere({0, 0, -half}, c.radius, o, d, range));
  double enter = 0, leave = 0;
  if (side_interval(c.radius, o, d, enter, leave) && enter >= 0 && enter <= range) {
    const Vec3 p = o + d * enter;
    if (std::fabs(p.z) <= half) keep({enter, normalized(Vec3{p.x, p.y, 0})});
  }
  return best;
}

ShapeHit cast(const Plane& plane, const std::vector<HullFace>&, const Vec3& o, const Vec3& d, double range) {
  const Vec3 n = normalized(plane.normal);
  const double height = dot(n, o), climb = dot(n, d);
  if (height < 0 || climb >= 0) return miss;
  const double t = -height / climb;
  return t <= range ? ShapeHit{t, n} : miss;
}

ShapeHit cast(const Hull&, const std::vector<HullFace>& faces, const Vec3& o, const Vec3& d, double range) {
  if (faces.empty()) return miss;
  Clip clip;
  for (const HullFace& face : faces) {
    clip.half_space(dot(face.normal, o) - face.offset, dot(face.normal, d), face.normal);
  }
  return clip.hit(range);
}

ShapeHit cast_triangle(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& o, const Vec3& d, double range) {
  const Vec3 ab = b - a, ac = c - a;
  const TriangleMeeting met = meet_triangle(a, ab, ac, o, d);
  if (!met.inside() || !(met.distance >= 0 && met.distance <= range)) return miss;
  const Vec3 n = normalized(cross(ab, ac));
  return {met.distance, dot(n, d) <= 0 ? n : -n};
}

ShapeHit cast(const Mesh& mesh, const std::vector<HullFace>&, const Vec3& o, const Vec3& d, double range) {
  ShapeHit best = miss;
  for (const auto& [i, j, k] : mesh->triangles) {
    const ShapeHit hit = cast_triangle(mesh->vertices[i], mesh->vertices[j], mesh->vertices[k], o, d, range);
    if (hit.distance >= 0) best = hit, range = hit.distance;
  }
  return best;
}

// Walks the cells that the ray crosses, in order, and tests the two triangles of each.
class FieldWalk {
 public:
  FieldWalk(const HeightFieldData& field, const Vec3& o, const Vec3& d, double range)
      : field_(field),
        o_(o),
        d_(d),
        range_(range),
        cell_x_(field.size_x / (field.columns - 1)),
        cell_y_(field.size_y / (field.rows - 1)) {}

  ShapeHit walk() {
    Clip inside;
    inside.half_space(o_.x - field_.size_x / 2, d_.x, {});
    inside.half_space(-o_.x - field_.size_x / 2, -d_.x, {});
    inside.half_space(o_.y - field_.size_y / 2, d_.y, {});
    inside.half_space(-o_.y - field_.size_y / 2, -d_.y, {});
    const double start = std::max(inside.enter, 0.0), end = std::min(inside.leave, range_);
    if (start > end) return miss;
    const Vec3 p = o_ + d_ * start;
    int column = cell((p.x + field_.size_x / 2) / cell_x_, field_.columns);
    int row = cell((p.y + field_.size_y / 2) / cell_y_, field_.rows);
    for (;;) {
      const ShapeHit hit = cast_cell(column, row);
      if (hit.distance >= 0) return hit;
      const double next_x = border(o_.x + field_.size_x / 2, d_.x, column, cell_x_);
      const double next_y = border(o_.y + field_.size_y / 2, d_.y, row, cell_y_);
      if (std::min(next_x, next_y) > end) return miss;
      if (next_x <= next_y) column += d_.x > 0 ? 1 : -1;
      if (next_y <= next_x) row += d_.y > 0 ? 1 : -1;
      if (column < 0 || row < 0 || column >= int(field_.columns) - 1 || row >= int(field_.rows) - 1) return miss;
    }
  }

 private:
  static int cell(double place, std::uint32_t samples) { return truncated(clamp(std::floor(place), 0, samples - 2.0)); }
  // How far along the ray the next border of the cell lies.
  static double border(double origin, double direction, int index, double cell) {
    if (direction == 0) return std::numeric_limits<double>::infinity();
    return ((index + (direction > 0 ? 1 : 0)) * cell - origin) / direction;
  }
  Vec3 corner(int column, int row) const {
    return {column * cell_x_ - field_.size_x / 2, row * cell_y_ - field_.size_y / 2,
            field_.heights[std::size_t{field_.columns} * row + column]};
  }
  ShapeHit cast_cell(int column, int row) const {
    const Vec3 a = corner(column, row), b = corner(column + 1, row);
    const Vec3 c = corner(column + 1, row + 1), e = corner(column, row + 1);
    const ShapeHit lower = cast_triangle(a, b, c, o_, d_, range_);
    const ShapeHit upper = cast_triangle(a, c, e, o_, d_, range_);
    if (lower.distance < 0 || (upper.distance >= 0 && upper.distance < lower.distance)) return upper;
    return lower;
  }

  const HeightFieldData& field_;
  Vec3 o_, d_;
  double range_;
  double cell_x_, cell_y_;
};

ShapeHit cast(const HeightField& field, const std::vector<HullFace>&, const Vec3& o, const Vec3& d, double range) {
  return FieldWalk(*field, o, d, range).walk();
}

double radius_of(const Shape& shape) {
  struct Visitor {
    double operator()(const Sphere& s) const { return s.radius; }
    double operator()(const Box& b) const { return length(b.size) / 2; }
    double operator()(const Capsule& c) const { return c.radius + c.length / 2; }
    double operator()(const Cylinder& c) const { return std::sqrt(c.radius * c.radius + c.length * c.length / 4); }
    double operator()(const Plane&) const { return std::numeric_limits<double>::infinity(); }
    double operator()(const Hull& h) const { return of_points(h->points); }
    double operator()(const Mesh& m) const { return of_points(m->vertices); }
    double operator()(const HeightField& f) const {
      double height = 0;
      for (float h : f->heights) height = std::max(height, std::fabs(double{h}));
      return length(Vec3{f->size_x / 2, f->size_y / 2, height});
    }
    static double of_points(const std::vector<Vec3>& points) {
      double r = 0;
      for (const Vec3& p : points) r = std::max(r, length(p));
      return r;
    }
  };
  return std::visit(Visitor{}, shape);
}

}  // namespace

RayGeometry::RayGeometry(std::shared_ptr<const Geometry> geometry) : geometry_(std::move(geometry)) {
  for (const Collider& collider : geometry_->colliders) {
    Part part{collider.pose.inverse(), {}};
    if (const auto* hull = std::get_if<Hull>(&collider.shape)) part.faces = hull_faces((*hull)->points);
    parts_.push_back(std::move(part));
    radius_ = std::max(radius_, length(collider.pose.position) + radius_of(collider.shape));
  }
}

ShapeHit RayGeometry::cast(std::size_t collider, const Vec3& origin, const Vec3& direction, double range) const {
  const Part& part = parts_[collider];
  const Collider& c = geometry_->colliders[collider];
  const Vec3 o = part.to_shape * origin, d = part.to_shape.rotation * direction;
  ShapeHit hit = std::visit([&](const auto& shape) { return rays::cast(shape, part.faces, o, d, range); }, c.shape);
  hit.normal = c.pose.rotation * hit.normal;
  return hit;
}

ShapeHit RayGeometry::cast(const Vec3& origin, const Vec3& direction, double range) const {
  ShapeHit best;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const ShapeHit hit = cast(i, origin, direction, range);
    if (hit.distance >= 0) best = hit, range = hit.distance;
  }
  return best;
}

}  // namespace volvox::rays
