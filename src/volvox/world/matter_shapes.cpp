#include "volvox/world/matter_shapes.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/index.h"
#include "volvox/model/closed_mesh.h"
#include "volvox/model/hull_faces.h"

namespace volvox::world {
namespace {

using particles::ShapeDesc;
using particles::ShapeKind;
using particles::SolidPart;

// What has a closed form of its own; others have none.
std::optional<ShapeDesc> closed_form(const model::Shape& shape) {
  ShapeDesc desc;
  if (const auto* sphere = std::get_if<model::Sphere>(&shape)) {
    desc.kind = ShapeKind::sphere;
    desc.radius = sphere->radius;
  } else if (const auto* box = std::get_if<model::Box>(&shape)) {
    desc.kind = ShapeKind::box;
    desc.half_size = 0.5 * box->size;
  } else if (const auto* capsule = std::get_if<model::Capsule>(&shape)) {
    desc.kind = ShapeKind::capsule;
    desc.radius = capsule->radius;
    desc.half_length = 0.5 * capsule->length;
  } else if (const auto* cylinder = std::get_if<model::Cylinder>(&shape)) {
    desc.kind = ShapeKind::cylinder;
    desc.radius = cylinder->radius;
    desc.half_length = 0.5 * cylinder->length;
  } else {
    return std::nullopt;
  }
  return desc;
}

std::shared_ptr<const particles::HeightGrid> height_grid(const model::HeightFieldData& field) {
  auto grid = std::make_shared<particles::HeightGrid>();
  grid->columns = narrow<std::int32_t>(field.columns), grid->rows = narrow<std::int32_t>(field.rows);
  grid->size_x = to_float(field.size_x), grid->size_y = to_float(field.size_y);
  grid->heights = field.heights;
  grid->highest = to_float(field.highest());
  return grid;
}

bool stands_alone(const model::Shape& shape) {
  return std::holds_alternative<model::Plane>(shape) || std::holds_alternative<model::HeightField>(shape);
}

double thinnest_of(const model::Shape& shape) {
  const model::Bounds box = model::bounds(shape, {});
  const Vec3 size = box.high - box.low;
  return std::min({size.x, size.y, size.z});
}

}  // namespace

Result<SolidPart> solid_of(const model::MeshData& mesh, const Pose& pose) {
  if (const auto hole = model::hole_in(mesh)) return Error(*hole, "close the mesh: what has holes has no inside");
  SolidPart part;
  for (const Vec3& v : mesh.vertices) part.vertices.push_back(pose * v);
  double volume = 0;
  for (const auto& t : mesh.triangles) {
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) continue;
    part.triangles.push_back(t);
    volume += dot(part.vertices[t[0]], cross(part.vertices[t[1]], part.vertices[t[2]]));
  }
  if (volume < 0)  // inside out, as a mirrored mesh is
    for (auto& t : part.triangles) std::swap(t[1], t[2]);
  return part;
}

Result<std::shared_ptr<const particles::DistanceField>> MatterShapes::field_of(const model::Geometry& geometry,
                                                                               const Vec3& low, const Vec3& high) {
  const bool whole = low == everywhere_low && high == everywhere_high;
  if (const auto found = fields_.find(&geometry); whole && found != fields_.end()) return found->second;
  std::vector<SolidPart> parts;
  double cell = cell_;
  for (const model::Collider& collider : geometry.colliders) {
    if (stands_alone(collider.shape)) continue;
    // Thin plates must have samples inside.
    cell = std::min(cell, std::max(thinnest_of(collider.shape) / 2.5, 0.25 * cell_));
    if (auto form = closed_form(collider.shape)) {
      form->pose = collider.pose;
      parts.push_back({std::make_shared<const ShapeDesc>(*form)});
    } else if (const auto* hull = std::get_if<model::Hull>(&collider.shape)) {
      model::MeshData faces{(*hull)->points, {}};
      for (const model::HullFace& face : model::hull_faces((*hull)->points)) faces.triangles.push_back(face.corners);
      auto part = solid_of(faces, collider.pose);
      if (!part.ok()) return part.error();
      parts.push_back(std::move(*part));
    } else {
      auto part = solid_of(*std::get<model::Mesh>(collider.shape), collider.pose);
      if (!part.ok()) return part.error();
      parts.push_back(std::move(*part));
    }
  }
  auto field = particles::make_field(parts, cell, margin_, low, high);
  if (field.ok() && whole) fields_[&geometry] = *field;
  return field;
}

Result<std::vector<ShapeDesc>> MatterShapes::of(const model::Link& link, const Vec3& low, const Vec3& high) {
  std::vector<ShapeDesc> shapes;
  std::vector<const model::Collider*> solid;
  for (const model::Collider& collider : link.geometry->colliders) {
    if (!stands_alone(collider.shape)) {
      solid.push_back(&collider);
      continue;
    }
    ShapeDesc desc{.friction = collider.material.friction};
    desc.offset = collider.pose;
    if (const auto* plane = std::get_if<model::Plane>(&collider.shape)) {
      desc.offset.rotation = desc.offset.rotation * Quat::between({0, 0, 1}, normalized(plane->normal));
    } else {
      desc.kind = ShapeKind::terrain;
      desc.terrain = height_grid(*std::get<model::HeightField>(collider.shape));
    }
    shapes.push_back(std::move(desc));
  }
  if (solid.empty()) return shapes;
  ShapeDesc body;
  const auto form = solid.size() == 1 ? closed_form(solid[0]->shape) : std::nullopt;
  if (form) {
    body = *form;
    body.offset = solid[0]->pose;
  } else {
    auto field = field_of(*link.geometry, low, high);
    if (!field.ok()) return field.error();
    if (*field == nullptr) return shapes;  // it lies where no particles may be
    body.kind = ShapeKind::field;
    body.field = std::move(*field);
  }
  body.friction = 0;
  for (const model::Collider* collider : solid) body.friction = std::max(body.friction, collider->material.friction);
  shapes.push_back(std::move(body));
  return shapes;
}

}  // namespace volvox::world
