#include "volvox/physics/ode/ode_shapes.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/model/hull_faces.h"

namespace volvox::physics::ode {
namespace {

// Merges the triangles of a hull in one plane into a polygon, from whose ordered corners ODE finds all contacts of a
// flat side. Returns the corners, counter-clockwise seen from outside.
std::vector<unsigned int> polygon_of(const std::vector<model::HullFace>& faces, std::size_t first,
                                     std::vector<bool>& used, const std::vector<Vec3>& points) {
  std::vector<unsigned int> corners;
  for (std::size_t i = first; i < faces.size(); ++i) {
    if (used[i] || dot(faces[i].normal, faces[first].normal) < 1 - 1e-9) continue;
    if (std::fabs(faces[i].offset - faces[first].offset) > 1e-7) continue;
    used[i] = true;
    for (const std::uint32_t c : faces[i].corners) {
      if (std::find(corners.begin(), corners.end(), c) == corners.end()) corners.push_back(c);
    }
  }
  Vec3 middle;
  for (const unsigned int c : corners) middle += points[c] / real(corners.size());
  const Vec3 u = perpendicular(faces[first].normal), v = cross(faces[first].normal, u);
  std::vector<std::pair<double, unsigned int>> order;
  for (const unsigned int c : corners) {
    order.emplace_back(volvox::atan2(dot(points[c] - middle, v), dot(points[c] - middle, u)), c);
  }
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) corners[i] = order[i].second;
  // ODE takes the orientation from the first three corners: they must not be collinear.
  const auto bend = [&](std::size_t i) {
    const auto corner = [&](std::size_t k) { return points[corners[(i + k) % corners.size()]]; };
    return dot(faces[first].normal, cross(corner(1) - corner(0), corner(2) - corner(1)));
  };
  std::size_t start = 0;
  for (std::size_t i = 1; i < corners.size(); ++i) {
    if (bend(i) > bend(start)) start = i;
  }
  std::rotate(corners.begin(), corners.begin() + start, corners.end());
  return corners;
}

void make_hull(ColliderShape& out, const model::HullData& hull) {
  const std::vector<model::HullFace> faces = model::hull_faces(hull.points);
  // Only the corners: points inside cost time in every query.
  std::vector<unsigned int> number(hull.points.size(), ~0u);
  Vec3 inside;
  for (const model::HullFace& face : faces) {
    for (const std::uint32_t c : face.corners) {
      if (number[c] != ~0u) continue;
      number[c] = narrow<unsigned int>(out.points.size());
      out.points.push_back(hull.points[c]);
      inside += hull.points[c];
    }
  }
  inside = inside / std::max(1.0, real(out.points.size()));
  for (Vec3& p : out.points) p -= inside;
  out.pose = out.pose * Pose{inside, {}};
  std::vector<bool> used(faces.size(), false);
  for (std::size_t i = 0; i < faces.size(); ++i) {
    if (used[i]) continue;
    const std::vector<unsigned int> corners = polygon_of(faces, i, used, hull.points);
    const Vec3& n = faces[i].normal;
    out.planes.insert(out.planes.end(), {n.x, n.y, n.z, faces[i].offset - dot(n, inside)});
    out.polygons.push_back(narrow<unsigned int>(corners.size()));
    for (const unsigned int c : corners) out.polygons.push_back(number[c]);
  }
  out.one_contact = true;
}

void add_triangle(ColliderShape& out, dTriIndex a, dTriIndex b, dTriIndex c) {
  out.indices.insert(out.indices.end(), {a, b, c});
}

void build_mesh(ColliderShape& out) {
  out.mesh = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildDouble(out.mesh, out.vertices.data(), 3 * sizeof(dReal), narrow<int>(out.vertices.size() / 3),
                              out.indices.data(), narrow<int>(out.indices.size()), 3 * sizeof(dTriIndex));
  // Collisions with hulls need to know the convex edges.
  dGeomTriMeshDataPreprocess2(out.mesh, 1u << dTRIDATAPREPROCESS_BUILD_FACE_ANGLES, nullptr);
}

// ODE's triangles collide from one side only, ours from both: a mesh is two geoms, front and back. In a single geom ODE
// would merge the contacts of the back with those of the front.
void make_mesh(ColliderShape& out, const model::MeshData& mesh, bool back) {
  for (const Vec3& v : mesh.vertices) out.vertices.insert(out.vertices.end(), {v.x, v.y, v.z});
  for (const auto& t : mesh.triangles) add_triangle(out, t[0], t[back ? 2 : 1], t[back ? 1 : 2]);
  build_mesh(out);
}

// Not ODE's own height field, which splits its cells along the other diagonal.
void make_field(ColliderShape& out, const model::HeightFieldData& field) {
  for (std::uint32_t r = 0; r < field.rows; ++r) {
    for (std::uint32_t c = 0; c < field.columns; ++c) {
      out.vertices.insert(out.vertices.end(), {field.size_x * (double(c) / (field.columns - 1) - 0.5),
                                               field.size_y * (double(r) / (field.rows - 1) - 0.5),
                                               double{field.heights[std::size_t{r} * field.columns + c]}});
    }
  }
  for (std::uint32_t r = 0; r + 1 < field.rows; ++r) {
    for (std::uint32_t c = 0; c + 1 < field.columns; ++c) {
      const std::uint32_t i = r * field.columns + c;
      add_triangle(out, i, i + 1, i + field.columns + 1);
      add_triangle(out, i, i + field.columns + 1, i + field.columns);
    }
  }
  build_mesh(out);
}

std::unique_ptr<ColliderShape> make_collider(const model::Collider& collider, bool back = false) {
  auto made = std::make_unique<ColliderShape>();
  made->shape = collider.shape;
  made->material = collider.material;
  made->pose = collider.pose;
  if (const auto* hull = std::get_if<model::Hull>(&collider.shape)) make_hull(*made, **hull);
  if (const auto* mesh = std::get_if<model::Mesh>(&collider.shape)) make_mesh(*made, **mesh, back);
  if (const auto* field = std::get_if<model::HeightField>(&collider.shape)) make_field(*made, **field);
  const model::Bounds box = model::bounds(collider.shape, {});
  made->size = box.empty() ? 0 : length(box.high - box.low) / 2;
  if (made->one_contact) made->scratch = made->make_geom(nullptr);
  return made;
}

}  // namespace

ColliderShape::~ColliderShape() {
  if (scratch) dGeomDestroy(scratch);
  if (mesh) dGeomTriMeshDataDestroy(mesh);
}

dGeomID ColliderShape::make_geom(dSpaceID space) const {
  if (const auto* s = std::get_if<model::Sphere>(&shape)) return dCreateSphere(space, s->radius);
  if (const auto* b = std::get_if<model::Box>(&shape)) return dCreateBox(space, b->size.x, b->size.y, b->size.z);
  if (const auto* c = std::get_if<model::Capsule>(&shape)) return dCreateCapsule(space, c->radius, c->length);
  if (const auto* c = std::get_if<model::Cylinder>(&shape)) return dCreateCylinder(space, c->radius, c->length);
  if (mesh) return dCreateTriMesh(space, mesh, nullptr, nullptr, nullptr);
  if (points.empty()) return nullptr;
  static_assert(sizeof(Vec3) == 3 * sizeof(dReal));
  return dCreateConvex(space, planes.data(), narrow<unsigned int>(planes.size() / 4), &points[0].x,
                       narrow<unsigned int>(points.size()), polygons.data());
}

const BodyShape* ShapeCache::shape_of(const BodyDesc& desc) {
  if (!desc.geometry || desc.geometry->colliders.empty()) return nullptr;
  std::unique_ptr<BodyShape>& made = shapes_[desc.geometry.get()];
  if (made) return made.get();
  made = std::make_unique<BodyShape>();
  made->geometry = desc.geometry;
  for (const model::Collider& collider : desc.geometry->colliders) {
    made->colliders.push_back(make_collider(collider));
    if (std::holds_alternative<model::Mesh>(collider.shape)) made->colliders.push_back(make_collider(collider, true));
  }
  return made.get();
}

}  // namespace volvox::physics::ode
