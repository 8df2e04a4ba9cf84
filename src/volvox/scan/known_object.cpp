#include "volvox/scan/known_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "volvox/base/index.h"
#include "volvox/base/platform/paths.h"
#include "volvox/model/closed_mesh.h"

namespace volvox::scan {
namespace {

namespace fs = std::filesystem;

constexpr int round = 72;            // corners of a circle: right to 0.1 % of its radius
constexpr double least_size = 0.05;  // m: what is smaller cannot be told from noise of 7 mm
constexpr double largest_size = 5;   // m
constexpr double down = -0.7;        // cosine: a face is underneath
constexpr double touching = 0.0005;  // m

void add_ring(std::vector<Vec3>& points, double radius, double z) {
  for (int i = 0; i < round; ++i) {
    const double angle = 2 * pi * i / round;
    points.push_back({radius * volvox::cos(angle), radius * volvox::sin(angle), z});
  }
}

// The corners of a convex shape; empty for others.
std::vector<Vec3> corners_of(const model::Shape& shape) {
  std::vector<Vec3> points;
  if (const auto* box = std::get_if<model::Box>(&shape)) {
    for (int i = 0; i < 8; ++i)
      points.push_back(multiply(box->size, {i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5}));
  } else if (const auto* cylinder = std::get_if<model::Cylinder>(&shape)) {
    for (const double side : {-0.5, 0.5}) add_ring(points, cylinder->radius, side * cylinder->length);
  } else if (const auto* hull = std::get_if<model::Hull>(&shape)) {
    points = (*hull)->points;
  } else {
    const auto* sphere = std::get_if<model::Sphere>(&shape);
    const auto* capsule = std::get_if<model::Capsule>(&shape);
    if (sphere == nullptr && capsule == nullptr) return points;
    const double radius = sphere != nullptr ? sphere->radius : capsule->radius;
    constexpr int rings = round / 4;
    for (int ring = 1; ring < rings; ++ring) {
      const double angle = pi * ring / rings - pi / 2;
      const double half = capsule == nullptr ? 0 : ring * 2 < rings ? -capsule->length / 2 : capsule->length / 2;
      add_ring(points, radius * volvox::cos(angle), radius * volvox::sin(angle) + half);
    }
    const double top = radius + (capsule == nullptr ? 0 : capsule->length / 2);
    points.push_back({0, 0, -top});
    points.push_back({0, 0, top});
  }
  return points;
}

Error unusable(const model::ModuleModel& model, const std::string& what, const std::string& fix) {
  return Diagnostic{model.file, 0, fmt::format("'{}' cannot be looked for: {}", model.name, what), fix};
}

double volume(const TriangleMesh& mesh) {
  double six = 0;
  const Vec3 from = mesh.vertices.empty() ? Vec3{} : mesh.vertices[0];
  for (const Triangle& t : mesh.triangles)
    six += dot(corner(mesh, t, 0) - from, cross(corner(mesh, t, 1) - from, corner(mesh, t, 2) - from));
  return six / 6;
}

// The convex outline of points in the plane, counter-clockwise.
std::vector<Vec2> convex_outline(std::vector<Vec2> points) {
  const auto before = [](const Vec2& a, const Vec2& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; };
  std::sort(points.begin(), points.end(), before);
  std::vector<Vec2> outline;
  const auto walk = [&](auto begin, auto end) {
    const std::size_t first = outline.size();
    for (auto p = begin; p != end; ++p) {
      while (outline.size() >= first + 2 &&
             cross(outline.back() - outline[outline.size() - 2], *p - outline.back()) <= 1e-12)
        outline.pop_back();
      outline.push_back(*p);
    }
    if (!outline.empty()) outline.pop_back();
  };
  walk(points.begin(), points.end());
  walk(points.rbegin(), points.rend());
  return outline;
}

}  // namespace

double KnownObject::Part::outside(const Vec3& point) const {
  if (!faces.empty()) {
    double most = -1e300;
    for (const model::HullFace& face : faces) most = std::max(most, dot(face.normal, point) - face.offset);
    return most;
  }
  const TriangleTree::Nearest nearest = tree->nearest(point);
  const Vec3 normal = area_normal(*mesh, mesh->triangles[nearest.triangle]);
  return dot(point - nearest.point, normal) < 0 ? -nearest.distance : nearest.distance;
}

double KnownObject::outside(const Vec3& point) const {
  double least = 1e300;
  for (const Part& part : parts_) least = std::min(least, part.outside(point));
  return least;
}

Result<KnownObject> KnownObject::from(model::Model model) {
  const model::ModuleModel& m = *model;
  for (const model::Joint& joint : m.joints)
    if (joint.type != model::JointType::fixed)
      return unusable(m, fmt::format("its joint '{}' moves, so that it has no one shape", joint.name),
                      "give a model whose joints are fixed");
  const std::vector<Pose> poses = model::forward_kinematics(m, std::vector<double>(m.joints.size()));
  KnownObject object;
  for (std::size_t link = 0; link < m.links.size(); ++link)
    for (const model::Collider& collider : m.links[link].geometry->colliders) {
      const Pose at = poses[link] * collider.pose;
      TriangleMesh surface;
      Part part;
      if (const auto* mesh = std::get_if<model::Mesh>(&collider.shape)) {
        surface.vertices = (*mesh)->vertices;
        surface.triangles = (*mesh)->triangles;
        for (Vec3& p : surface.vertices) p = at * p;
        if (const auto hole = model::hole_in(surface))
          return unusable(m, fmt::format("collision '{}': {}", collider.name, *hole),
                          "give a mesh without holes, or build it of boxes and hulls");
        if (!(volume(surface) > 0))
          return unusable(m, fmt::format("the mesh of '{}' is flat or inside out", collider.name),
                          "give a mesh whose triangles wind counter-clockwise seen from outside");
      } else {
        surface.vertices = corners_of(collider.shape);
        if (surface.vertices.empty())
          return unusable(m, fmt::format("its {} '{}' has no end", model::name(collider.shape), collider.name),
                          "build it of boxes, cylinders, spheres, capsules, hulls or meshes");
        for (Vec3& p : surface.vertices) p = at * p;
        part.faces = model::hull_faces(surface.vertices);
        for (const model::HullFace& face : part.faces) surface.triangles.push_back(face.corners);
      }
      if (surface.triangles.empty())
        return unusable(m, fmt::format("its {} '{}' is flat", model::name(collider.shape), collider.name),
                        "give shapes that have an inside");
      object.bounds_.add(scan::bounds(surface));
      part.mesh = std::make_shared<const TriangleMesh>(std::move(surface));
      if (part.faces.empty()) part.tree = std::make_shared<const TriangleTree>(*part.mesh);
      object.parts_.push_back(std::move(part));
    }
  if (object.parts_.empty())
    return unusable(m, "it has no <collision>", "give its link the shapes that a laser sees as <collision>");
  const Vec3 size = object.bounds_.high - object.bounds_.low;
  const double most = std::max({size.x, size.y, size.z});
  if (most < least_size || most > largest_size)
    return unusable(m, fmt::format("its size is {:.3f} m", most),
                    fmt::format("give objects of {} to {} m", least_size, largest_size));
  object.model_ = std::move(model);
  object.find_surface();
  if (object.surface_->triangles.empty())
    return unusable(*object.model_, "all its faces are underneath", "give shapes that a laser sees from above");
  object.find_symmetry();
  return object;
}

void KnownObject::find_surface() {
  TriangleMesh seen;
  std::vector<Vec2> low;
  for (const Part& part : parts_) {
    const auto first = narrow<std::uint32_t>(seen.vertices.size());
    seen.vertices.insert(seen.vertices.end(), part.mesh->vertices.begin(), part.mesh->vertices.end());
    for (const Triangle& t : part.mesh->triangles)
      if (normalized(area_normal(*part.mesh, t)).z > down)
        seen.triangles.push_back({first + t[0], first + t[1], first + t[2]}), part_of_.push_back(&part - parts_.data());
    for (const Vec3& p : part.mesh->vertices)
      if (p.z < bounds_.low.z + 0.001) low.push_back({p.x, p.y});
  }
  surface_ = std::make_shared<const TriangleMesh>(std::move(seen));
  foot_ = convex_outline(std::move(low));
}

std::vector<KnownObject::Sample> KnownObject::samples(double spacing) const {
  // Many points on every triangle; of those in one cell with one direction, the one nearest to the cell's middle.
  struct Kept {
    double off = 1e300;
    Sample sample;
  };
  std::map<std::tuple<int, int, int, int, int, int>, Kept> cells;
  const double density = 16 / (spacing * spacing);
  for (std::size_t triangle = 0; triangle < surface_->triangles.size(); ++triangle) {
    const Triangle& t = surface_->triangles[triangle];
    const TriangleMesh one{{{corner(*surface_, t, 0), corner(*surface_, t, 1), corner(*surface_, t, 2)}, {{0, 1, 2}}},
                           {}};
    const Vec3 normal = normalized(area_normal(one, one.triangles[0]));
    for (const Vec3& p : surface_points(one, density)) {
      bool hidden = false;
      for (std::size_t k = 0; k < parts_.size() && !hidden; ++k) {
        if (k == part_of_[triangle] || parts_[k].outside(p) >= touching) continue;
        // Of faces that coincide, the first part's is seen; faces that meet hide each other.
        const bool coincide = parts_[k].outside(p + normal * (2 * touching)) > touching;
        hidden = !coincide || k < part_of_[triangle];
      }
      if (hidden) continue;
      const auto cell = [&](int i) { return truncated<int>(std::floor((p[i] - bounds_.low[i]) / spacing + 1e-6)); };
      const auto way = [&](int i) { return truncated<int>(std::floor(normal[i] * 2 + 0.5)); };
      const Vec3 middle = bounds_.low + Vec3{real(cell(0)) + 0.5, real(cell(1)) + 0.5, real(cell(2)) + 0.5} * spacing;
      Kept& kept = cells[{cell(0), cell(1), cell(2), way(0), way(1), way(2)}];
      const Vec3 across = (p - middle) - normal * dot(p - middle, normal);
      if (length(across) < kept.off) kept = {length(across), {p, normal}};
    }
  }
  std::vector<Sample> result;
  for (const auto& [key, kept] : cells) result.push_back(kept.sample);
  return result;
}

void KnownObject::find_symmetry() {
  const Vec3 middle = (bounds_.low + bounds_.high) / 2;
  const std::vector<Sample> all = samples(std::max(0.02, length(bounds_.high - bounds_.low) / 20));
  const TriangleTree tree(*surface_);
  // The axis of symmetry goes through the middle of the bounds, if there is one (of three folds it does not).
  const auto looks_the_same = [&](double turn) {
    const Quat q = Quat::axis_angle({0, 0, 1}, turn);
    return std::all_of(all.begin(), all.end(), [&](const Sample& sample) {
      return tree.nearest(middle + q * (sample.point - middle)).distance < 0.002;
    });
  };
  if (looks_the_same(1.0) && looks_the_same(0.4)) symmetry_ = 0;
  else
    for (const int folds : {6, 4, 2})
      if (symmetry_ == 2 * pi && looks_the_same(2 * pi / folds)) symmetry_ = 2 * pi / folds;
}

namespace {

// A path, or below experiments/ of Volvox.
fs::path library_at(const std::string& named) {
  std::error_code failure;
  if (!fs::exists(named, failure))
    for (const fs::path& root : platform::resource_path())
      if (fs::is_directory(root / "experiments" / named, failure)) return root / "experiments" / named;
  return named;
}

}  // namespace

Result<std::vector<KnownObject>> read_objects(const std::vector<std::string>& libraries, model::ModelLibrary& models) {
  std::vector<fs::path> files;
  for (const std::string& named : libraries) {
    const fs::path library = library_at(named);
    std::error_code failure;
    if (!fs::is_directory(library, failure)) {
      if (!fs::exists(library, failure))
        return Diagnostic{named, 0, "there is no such folder or file of objects",
                          "give a folder of .sdf files, one .sdf file, or arenas/objects, which come with Volvox"};
      files.push_back(library);
      continue;
    }
    const std::size_t before = files.size();
    for (fs::directory_iterator entry(library, failure); !failure && entry != fs::directory_iterator();
         entry.increment(failure))
      if (entry->path().extension() == ".sdf") files.push_back(entry->path());
    if (failure)
      return Diagnostic{named, 0, fmt::format("the folder cannot be read: {}", failure.message()),
                        "give a folder that you may read"};
    if (files.size() == before)
      return Diagnostic{named, 0, "the folder has no objects", "give a folder with .sdf files, one for each object"};
    std::sort(files.begin() + before, files.end());
  }
  std::vector<KnownObject> objects;
  for (const fs::path& file : files) {
    auto model = models.load(file.string(), fs::current_path());
    if (!model.ok()) return model.error();
    auto object = KnownObject::from(*model);
    if (!object.ok()) return object.error();
    for (const KnownObject& other : objects)
      if (other.name() == object->name())
        return Diagnostic{file.string(), 0,
                          fmt::format("'{}' is also the name of the object in {}", other.name(), other.model()->file),
                          "give every object a name of its own"};
    objects.push_back(std::move(*object));
  }
  return objects;
}

}  // namespace volvox::scan
