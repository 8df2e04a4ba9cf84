#include "volvox/physics/native/shape.h"

#include <algorithm>
#include <cmath>

#include "volvox/physics/native/polyhedron.h"
#include "volvox/physics/native/wide.h"

namespace volvox::physics::native {
namespace {

Box3 box_of(const model::Bounds& bounds) {
  if (bounds.empty()) return {};
  return {(bounds.low + bounds.high) * 0.5, (bounds.high - bounds.low) * 0.5};
}

struct Builder {
  Shape& shape;
  const Pose& pose;  // of the collider in the principal frame
  const model::Collider& collider;
  int index;

  Convex& add_convex() {
    Convex convex;
    convex.collider = index;
    convex.material = collider.material;
    convex.centre = pose.position;
    convex.bounds = box_of(model::bounds(collider.shape, pose));
    shape.convexes.push_back(std::move(convex));
    return shape.convexes.back();
  }
  Surface& add_surface() {
    Surface surface;
    surface.collider = index;
    surface.material = collider.material;
    surface.pose = pose;
    surface.bounds = box_of(model::bounds(collider.shape, pose));
    shape.surfaces.push_back(std::move(surface));
    return shape.surfaces.back();
  }
  void polyhedron(Convex& convex, const std::vector<Vec3>& points) {
    for (const Vec3& p : points) convex.points.push_back(pose * p);
    convex.faces = polyhedron_faces(convex.points);
    for (const Vec3& p : convex.points) convex.x.push_back(p.x), convex.y.push_back(p.y), convex.z.push_back(p.z);
    for (const Convex::Face& face : convex.faces) {
      const Vec3& n = face.normal;
      convex.face_x.push_back(n.x), convex.face_y.push_back(n.y), convex.face_z.push_back(n.z);
    }
    for (std::vector<double>* column :
         {&convex.x, &convex.y, &convex.z, &convex.face_x, &convex.face_y, &convex.face_z}) {
      while (!column->empty() && column->size() % row_block != 0) column->push_back(column->front());
    }
    convex.centre = {};
    for (const Vec3& p : convex.points) convex.centre += p / static_cast<double>(convex.points.size());
  }

  void operator()(const model::Sphere& s) {
    Convex& convex = add_convex();
    convex.points = {pose.position};
    convex.radius = s.radius;
  }
  void operator()(const model::Capsule& c) {
    Convex& convex = add_convex();
    convex.points = {pose * Vec3{0, 0, -c.length / 2}, pose * Vec3{0, 0, c.length / 2}};
    convex.radius = c.radius;
  }
  void operator()(const model::Box& b) {
    std::vector<Vec3> points;
    for (int i = 0; i < 8; ++i)
      points.push_back(multiply(b.size / 2, {i & 1 ? 1. : -1., i & 2 ? 1. : -1., i & 4 ? 1. : -1.}));
    polyhedron(add_convex(), points);
  }
  void operator()(const model::Hull& h) { polyhedron(add_convex(), h->points); }
  void operator()(const model::Cylinder& c) {
    Convex& convex = add_convex();
    convex.axis = pose.rotation * Vec3{0, 0, 1};
    convex.disc = c.radius;
    convex.half_length = c.length / 2;
  }
  void operator()(const model::Plane& p) {
    const Vec3 normal = pose.rotation * normalized(p.normal);
    shape.half_spaces.push_back({index, collider.material, normal, dot(normal, pose.position)});
  }
  void operator()(const model::Mesh& mesh) {
    Surface& surface = add_surface();
    surface.triangles = mesh_triangles(*mesh, pose);
    std::vector<Box3> boxes;
    for (const Triangle& t : surface.triangles) {
      model::Bounds bounds;
      for (const Vec3& corner : t.corners) bounds.add(corner);
      boxes.push_back(box_of(bounds));
    }
    surface.tree = BoxTree(boxes);
  }
  void operator()(const model::HeightField& field) { add_surface().field = field; }
};

double reach_of(const Box3& box) {
  const Vec3 far{std::fabs(box.centre.x) + box.half.x, std::fabs(box.centre.y) + box.half.y,
                 std::fabs(box.centre.z) + box.half.z};
  return length(far);
}

void fill_cloud(Shape& shape) {
  Shape::Cloud& cloud = shape.cloud;
  const auto add = [&](const Vec3& p, double radius, int convex, int point) {
    cloud.x.push_back(p.x), cloud.y.push_back(p.y), cloud.z.push_back(p.z);
    cloud.radius.push_back(radius), cloud.convex.push_back(convex), cloud.point.push_back(point);
  };
  for (std::size_t i = 0; i < shape.convexes.size(); ++i) {
    const Convex& convex = shape.convexes[i];
    for (std::size_t k = 0; k < convex.points.size(); ++k)
      add(convex.points[k], convex.radius, static_cast<int>(i), static_cast<int>(k));
  }
  cloud.count = static_cast<int>(cloud.x.size());
  while (cloud.count > 0 && cloud.x.size() % 8 != 0) {
    add({cloud.x[0], cloud.y[0], cloud.z[0]}, cloud.radius[0], cloud.convex[0], cloud.point[0]);
  }
}

// Where the line is that a convex is round about: a point on it and its direction, zero if any
// will do.
struct Line {
  Vec3 at, along;
};
bool round_about(const Convex& convex, Line& line) {
  line.at = convex.centre;
  if (convex.cylinder()) line.along = convex.axis;
  else if (convex.points.size() == 1) line.along = {};
  else if (convex.points.size() == 2) line.along = normalized(convex.points[1] - convex.points[0]);
  else return false;
  return true;
}

// What is so little off its axle is round: 1 um in a hand's breadth.
constexpr double round_enough = 1e-5;

// Finds the axle, if there is one.
void set_round(Shape& shape) {
  shape.axle = {}, shape.swing = shape.reach;
  if (shape.convexes.empty() || !shape.surfaces.empty() || !shape.half_spaces.empty()) return;
  Vec3 axle;
  const double off = round_enough * shape.reach;
  for (const Convex& convex : shape.convexes) {
    Line line;
    if (!round_about(convex, line)) return;
    const Vec3 along = line.along != Vec3{} ? line.along : length(line.at) > off ? normalized(line.at) : Vec3{};
    if (axle == Vec3{}) axle = along;
    if (length(cross(axle, along)) > round_enough || length(cross(axle, line.at)) > off) return;
  }
  shape.axle = axle;
  if (axle == Vec3{}) shape.swing = 0;
}

// How far a convex reaches from a point.
double farthest_from(const Convex& convex, const Vec3& from) {
  if (convex.cylinder())
    return length(convex.centre - from) +
           std::sqrt(convex.disc * convex.disc + convex.half_length * convex.half_length) + convex.radius;
  double most = 0;
  for (const Vec3& p : convex.points) most = std::max(most, length(p - from));
  return most + convex.radius;
}

}  // namespace

Vec3 Convex::support(const Vec3& direction) const {
  if (cylinder()) {
    const double along = dot(direction, axis);
    const Vec3 across = direction - axis * along;
    const double size = length(across);
    const Vec3 end = axis * (along >= 0 ? half_length : -half_length);
    return centre + end + (size > 1e-12 ? across * (disc / size) : Vec3{});
  }
  if (points.size() > 16 && !x.empty()) {
    const int farthest = wide_farthest(x.data(), y.data(), z.data(), static_cast<int>(x.size()), direction);
    return points[static_cast<std::size_t>(farthest)];
  }
  std::size_t best = 0;
  double most = dot(points[0], direction);
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double d = dot(points[i], direction);
    if (d > most) most = d, best = i;
  }
  return points[best];
}

std::shared_ptr<const Shape> ShapeCache::shape(const std::shared_ptr<const model::Geometry>& geometry,
                                               const Pose& from_link) {
  std::vector<Entry>& entries = entries_[geometry.get()];
  std::erase_if(entries, [](const Entry& e) { return e.shape.expired(); });
  for (const Entry& entry : entries) {
    if (entry.from_link == from_link) return entry.shape.lock();
  }
  auto made = std::make_shared<Shape>();
  made->geometry = geometry;
  const Pose to_principal = from_link.inverse();
  for (std::size_t i = 0; i < geometry->colliders.size(); ++i) {
    const Pose pose = to_principal * geometry->colliders[i].pose;
    std::visit(Builder{*made, pose, geometry->colliders[i], static_cast<int>(i)}, geometry->colliders[i].shape);
  }
  model::Bounds all;
  made->core = made->convexes.empty() ? 0 : 1e300;
  const auto include = [&](const Box3& box) {
    all.add(box.centre - box.half);
    all.add(box.centre + box.half);
  };
  for (Convex& convex : made->convexes) {
    include(convex.bounds);
    (convex.polyhedron() ? made->polyhedra : made->others) = true;
    convex.reach = farthest_from(convex, convex.bounds.centre);
    made->reach = std::max(made->reach, farthest_from(convex, {}));
    made->core = std::min({made->core, convex.bounds.half.x, convex.bounds.half.y, convex.bounds.half.z});
  }
  for (const Surface& surface : made->surfaces) {
    include(surface.bounds);
    made->reach = std::max(made->reach, reach_of(surface.bounds));
  }
  if (!made->surfaces.empty() || !made->half_spaces.empty()) made->others = true;
  made->bounds = box_of(all);
  set_round(*made);
  fill_cloud(*made);
  entries.push_back({from_link, made});
  return made;
}

}  // namespace volvox::physics::native
