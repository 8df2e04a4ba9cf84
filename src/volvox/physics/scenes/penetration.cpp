#include "volvox/physics/scenes/penetration.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/model/hull_faces.h"

namespace volvox::physics::scenes {
namespace {

constexpr double same_direction = 1 - 1e-9;  // cosine of the angle between them
constexpr std::size_t most_edges = 64;       // directions of edges; a hemisphere of 276 points has hundreds

void add_direction(std::vector<Vec3>& directions, const Vec3& direction, bool either_way) {
  const auto same = [&](const Vec3& d) {
    return (either_way ? std::fabs(dot(d, direction)) : dot(d, direction)) > same_direction;
  };
  if (std::none_of(directions.begin(), directions.end(), same)) directions.push_back(direction);
}

void add_faces_and_edges(ConvexPart& part) {
  const std::vector<model::HullFace> faces =
      part.points.size() >= 4 ? model::hull_faces(part.points) : std::vector<model::HullFace>{};
  std::map<std::pair<std::uint32_t, std::uint32_t>, Vec3> face_of_edge;
  for (const model::HullFace& face : faces) {
    add_direction(part.normals, face.normal, false);
    for (int i = 0; i < 3 && part.edges.size() <= most_edges; ++i) {
      const auto [a, b] = std::minmax(face.corners[i], face.corners[(i + 1) % 3]);
      const auto [other, first] = face_of_edge.emplace(std::pair{a, b}, face.normal);
      // An edge between two triangles of one flat face is not an edge of the solid.
      if (!first && dot(other->second, face.normal) < same_direction)
        add_direction(part.edges, normalized(part.points[b] - part.points[a]), true);
    }
  }
  if (part.edges.size() > most_edges) part.edges.clear();
}

// About 200 directions, evenly over the sphere.
const std::vector<Vec3>& all_around() {
  static const std::vector<Vec3> directions = [] {
    std::vector<Vec3> list;
    constexpr int count = 200;
    for (int i = 0; i < count; ++i) {
      const double z = 1 - (2 * i + 1.0) / count, r = std::sqrt(1 - z * z), turn = 2.399963229728653 * i;
      list.push_back({r * volvox::cos(turn), r * volvox::sin(turn), z});
    }
    return list;
  }();
  return directions;
}

ConvexPart convex_part(const model::Collider& collider) {
  ConvexPart part;
  if (const auto* sphere = std::get_if<model::Sphere>(&collider.shape)) {
    part.points = {{}};
    part.radius = sphere->radius;
  } else if (const auto* box = std::get_if<model::Box>(&collider.shape)) {
    for (int i = 0; i < 8; ++i)
      part.points.push_back(multiply(box->size / 2, {i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0}));
  } else if (const auto* capsule = std::get_if<model::Capsule>(&collider.shape)) {
    part.points = {{0, 0, -capsule->length / 2}, {0, 0, capsule->length / 2}};
    part.radius = capsule->radius;
  } else {
    const auto* hull = std::get_if<model::Hull>(&collider.shape);
    VOLVOX_CHECK(hull != nullptr, "a moving body of a scene is made of spheres, boxes, capsules and hulls");
    part.points = (*hull)->points;
  }
  for (Vec3& point : part.points) {
    point = collider.pose * point;
    part.centre += point / real(part.points.size());
  }
  add_faces_and_edges(part);
  return part;
}

double lowest_along(const std::vector<Vec3>& points, const Vec3& d) {
  double low = 1e300;
  for (const Vec3& p : points) low = std::min(low, dot(p, d));
  return low;
}

// Two parts in the frame of the first.
class Overlap {
 public:
  Overlap(const ConvexPart& a, const ConvexPart& b, const Pose& b_in_a)
      : a_(a), b_(b), pose_(b_in_a), radii_(a.radius + b.radius) {
    for (const Vec3& p : b.points) points_b_.push_back(b_in_a * p);
  }

  double depth() {
    const Vec3 between = pose_ * b_.centre - a_.centre;
    look(length(between) > 0 ? normalized(between) : Vec3{0, 0, 1});
    for (const Vec3& n : a_.normals) look(n);
    for (const Vec3& n : b_.normals) look(pose_.rotation * -n);
    for (const Vec3& e : a_.edges) {
      for (const Vec3& f : b_.edges) {
        const Vec3 across = cross(e, pose_.rotation * f);
        if (best_ < 0 || length_squared(across) < 1e-12) continue;
        look(normalized(across));
        look(-normalized(across));
      }
    }
    if (a_.edges.empty() || b_.edges.empty()) {
      for (const Vec3& d : all_around()) look(d);
      refine();
    }
    return best_;
  }

 private:
  // The distance that b must move along d to be separated from a.
  double way_out(const Vec3& d) const { return -lowest_along(a_.points, -d) - lowest_along(points_b_, d) + radii_; }

  bool look(const Vec3& d) {
    if (best_ < 0) return false;  // they are separated
    const double depth = way_out(d);
    if (depth >= best_) return false;
    best_ = depth, along_ = d;
    return true;
  }

  // Refines the direction by smaller and smaller steps.
  void refine() {
    for (double step = 0.1; step > 1e-4 && best_ >= 0;) {
      const Vec3 u = perpendicular(along_), v = cross(along_, u);
      bool better = false;
      for (const Vec3& side : {u, -u, v, -v, u + v, -u - v, u - v, v - u})
        better = look(normalized(along_ + side * step)) || better;
      if (!better) step *= 0.5;
    }
  }

  const ConvexPart &a_, &b_;
  Pose pose_;
  double radii_;
  std::vector<Vec3> points_b_;
  double best_ = 1e300;
  Vec3 along_;
};

model::Bounds bounds_of(const std::vector<ConvexPart>& parts, const Pose& pose) {
  model::Bounds bounds;
  for (const ConvexPart& part : parts) {
    const Vec3 r{part.radius, part.radius, part.radius};
    for (const Vec3& p : part.points) bounds.add(model::Bounds{pose * p - r, pose * p + r});
  }
  return bounds;
}

bool meet(const model::Bounds& a, const model::Bounds& b) {
  return a.low.x < b.high.x && b.low.x < a.high.x && a.low.y < b.high.y && b.low.y < a.high.y && a.low.z < b.high.z &&
         b.low.z < a.high.z;
}

// The depth of the deepest corner below a height field, measured vertically (an upper bound of the penetration), and of
// the highest sample of the field inside the part, for a part that rests on a summit.
double below_field(const ConvexPart& part, const Pose& pose, const model::HeightFieldData& field,
                   const Pose& field_pose) {
  const Pose local = field_pose.inverse() * pose;
  double depth = -1e300;
  model::Bounds bounds;
  for (const Vec3& p : part.points) {
    const Vec3 q = local * p;
    bounds.add(q);
    depth = std::max(depth, field.height_at(q.x, q.y) - (q.z - part.radius));
  }
  if (part.normals.empty()) return depth;
  const double dx = field.size_x / (field.columns - 1), dy = field.size_y / (field.rows - 1);
  const auto index = [](double x, double size, double step, std::uint32_t count) {
    return clamp((x + size / 2) / step, 0, count - 1);
  };
  for (auto row = truncated<std::uint32_t>(std::ceil(index(bounds.low.y, field.size_y, dy, field.rows)));
       row <= index(bounds.high.y, field.size_y, dy, field.rows); ++row) {
    for (auto column = truncated<std::uint32_t>(std::ceil(index(bounds.low.x, field.size_x, dx, field.columns)));
         column <= index(bounds.high.x, field.size_x, dx, field.columns); ++column) {
      const Vec3 summit = local.inverse() * Vec3{column * dx - field.size_x / 2, row * dy - field.size_y / 2,
                                                 field.heights[std::size_t{row} * field.columns + column]};
      double inside = 1e300;
      for (const Vec3& n : part.normals) inside = std::min(inside, -lowest_along(part.points, -n) - dot(n, summit));
      depth = std::max(depth, inside);
    }
  }
  return depth;
}

}  // namespace

double overlap(const ConvexPart& a, const Pose& pose_a, const ConvexPart& b, const Pose& pose_b) {
  return Overlap(a, b, pose_a.inverse() * pose_b).depth();
}

PenetrationMeter::PenetrationMeter(const BenchScene& scene) : scene_(scene) {
  const auto known = [&](const model::Geometry* geometry) {
    return std::find_if(geometries_.begin(), geometries_.end(), [&](const auto& g) { return g.first == geometry; });
  };
  for (const BodyDesc& body : scene.bodies) {
    if (body.motion != Motion::dynamic || known(body.geometry.get()) != geometries_.end()) continue;
    std::vector<ConvexPart> parts;
    for (const model::Collider& collider : body.geometry->colliders) parts.push_back(convex_part(collider));
    geometries_.emplace_back(body.geometry.get(), std::move(parts));
  }
  for (const BodyDesc& body : scene.bodies)
    parts_.push_back(body.motion == Motion::dynamic ? &known(body.geometry.get())->second : nullptr);
  for (const SceneJoint& joint : scene.joints)
    joined_.push_back(std::minmax<std::size_t>(joint.desc.a.index, joint.desc.b.index));
  std::sort(joined_.begin(), joined_.end());
}

double PenetrationMeter::below_surfaces(std::size_t body, const Pose& pose) const {
  double depth = 0;
  for (const BodyDesc& ground : scene_.bodies) {
    if (ground.motion != Motion::fixed) continue;
    for (const model::Collider& collider : ground.geometry->colliders) {
      const Pose at = ground.pose * collider.pose;
      for (const ConvexPart& part : *parts_[body]) {
        if (const auto* plane = std::get_if<model::Plane>(&collider.shape)) {
          const Vec3 normal = at.rotation * plane->normal;
          const double height =
              lowest_along(part.points, pose.rotation.conjugate() * normal) + dot(normal, pose.position - at.position);
          depth = std::max(depth, part.radius - height);
        } else if (const auto* field = std::get_if<model::HeightField>(&collider.shape)) {
          depth = std::max(depth, below_field(part, pose, **field, at));
        }
      }
    }
  }
  return depth;
}

double PenetrationMeter::deepest(std::span<const Pose> poses) const {
  struct Box {
    std::size_t body;
    model::Bounds bounds;
  };
  std::vector<Box> boxes;
  double depth = 0;
  for (std::size_t i = 0; i < poses.size(); ++i) {
    if (parts_[i] == nullptr || !finite(poses[i])) continue;
    depth = std::max(depth, below_surfaces(i, poses[i]));
    boxes.push_back({i, bounds_of(*parts_[i], poses[i])});
  }
  std::sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.bounds.low.x < b.bounds.low.x; });
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = i + 1; j < boxes.size() && boxes[j].bounds.low.x < boxes[i].bounds.high.x; ++j) {
      if (!meet(boxes[i].bounds, boxes[j].bounds)) continue;
      const auto [a, b] = std::minmax(boxes[i].body, boxes[j].body);
      const BodyDesc &one = scene_.bodies[a], &other = scene_.bodies[b];
      if (one.quiet && other.quiet && one.owner != 0 && one.owner == other.owner) continue;
      if (std::binary_search(joined_.begin(), joined_.end(), std::pair{a, b})) continue;
      for (const ConvexPart& p : *parts_[a])
        for (const ConvexPart& q : *parts_[b]) depth = std::max(depth, overlap(p, poses[a], q, poses[b]));
    }
  }
  return depth;
}

}  // namespace volvox::physics::scenes
