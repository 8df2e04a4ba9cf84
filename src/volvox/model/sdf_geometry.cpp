#include "volvox/model/sdf_geometry.h"

#include <fmt/format.h>
#include <sdf/Box.hh>
#include <sdf/Capsule.hh>
#include <sdf/Cylinder.hh>
#include <sdf/Ellipsoid.hh>
#include <sdf/Heightmap.hh>
#include <sdf/Mesh.hh>
#include <sdf/Plane.hh>
#include <sdf/Sphere.hh>

#include "volvox/model/hull.h"
#include "volvox/model/mesh.h"
#include "volvox/model/sdf_bridge.h"

namespace volvox::model {
namespace {

// The shape in the file that sdformat supports and we do not; null if there is none.
const XMLElement* unsupported_shape(const XMLElement& geometry) {
  for (const char* name : {"polyline", "image"}) {
    if (const XMLElement* element = geometry.FirstChildElement(name)) return element;
  }
  return nullptr;
}

bool holds_standard_shape(const XMLElement& geometry) {
  for (const XMLElement* child = geometry.FirstChildElement(); child != nullptr; child = child->NextSiblingElement()) {
    if (!is_ours(child->Name()) && std::string_view(child->Name()) != "empty") return true;
  }
  return false;
}

}  // namespace

std::optional<GeometryReader::PlacedShape> GeometryReader::read(const sdf::Geometry& geometry, const XMLElement& at,
                                                                const XMLElement* element, Use use) {
  if (element != nullptr) {
    if (const XMLElement* shape = unsupported_shape(*element)) {
      report_.error(*shape, fmt::format("the shape <{}> is not supported", shape->Name()),
                    "use a box, sphere, cylinder, capsule, ellipsoid, mesh or <volvox:hull>");
      return std::nullopt;
    }
    if (const XMLElement* hull = element->FirstChildElement("volvox:hull")) {
      if (holds_standard_shape(*element) || hull->NextSiblingElement("volvox:hull") != nullptr) {
        report_.error(*hull, "a <geometry> with a <volvox:hull> contains another shape too",
                      "keep one shape, and <empty/> beside the hull");
        return std::nullopt;
      }
      return read_hull(*hull);
    }
  }
  switch (geometry.Type()) {
    case sdf::GeometryType::BOX: return PlacedShape{Box{to_vec(geometry.BoxShape()->Size())}, {}};
    case sdf::GeometryType::SPHERE: return PlacedShape{Sphere{geometry.SphereShape()->Radius()}, {}};
    case sdf::GeometryType::CYLINDER:
      return PlacedShape{Cylinder{geometry.CylinderShape()->Radius(), geometry.CylinderShape()->Length()}, {}};
    case sdf::GeometryType::CAPSULE:
      return PlacedShape{Capsule{geometry.CapsuleShape()->Radius(), geometry.CapsuleShape()->Length()}, {}};
    case sdf::GeometryType::ELLIPSOID: {
      const Vec3 radii = to_vec(geometry.EllipsoidShape()->Radii());
      if (radii.x == radii.y && radii.y == radii.z) return PlacedShape{Sphere{radii.x}, {}};
      return make_hull(ellipsoid_points(radii), at);
    }
    case sdf::GeometryType::PLANE:
      if (use == Use::collision_of_moving) {
        report_.error(at, "a plane cannot move, because it is infinite",
                      "give the model <static>true</static>, or use a flat box");
        return std::nullopt;
      }
      return PlacedShape{Plane{normalized(to_vec(geometry.PlaneShape()->Normal()))}, {}};
    case sdf::GeometryType::MESH: return read_mesh_shape(*geometry.MeshShape(), at, use);
    case sdf::GeometryType::HEIGHTMAP: return read_height_map(*geometry.HeightmapShape(), at, use);
    case sdf::GeometryType::EMPTY: break;
    default:
      report_.error(at, "this shape is not supported",
                    "use a box, sphere, cylinder, capsule, ellipsoid, mesh or <volvox:hull>");
  }
  return std::nullopt;
}

std::optional<GeometryReader::PlacedShape> GeometryReader::read_hull(const XMLElement& hull) {
  const std::string file = Attributes(hull, report_).text("mesh");
  const std::string text = text_of(&hull);
  if (!file.empty()) {
    if (!text.empty()) {
      report_.error(hull, "this hull has both points and mesh=", "keep one of them");
      return std::nullopt;
    }
    const Mesh mesh = load_mesh(file, {1, 1, 1}, {}, hull);
    return mesh != nullptr ? make_hull(outer_points(mesh->vertices, max_hull_points), hull) : std::nullopt;
  }
  const auto numbers = parse_numbers(text);
  if (!numbers || numbers->size() % 3 != 0) {
    report_.error(hull,
                  numbers ? fmt::format("the hull holds {} numbers, which is not three per point", numbers->size())
                          : std::string("the hull holds something that is not a finite number"),
                  "write x y z for each point, separated by spaces");
    return std::nullopt;
  }
  std::vector<Vec3> points;
  for (std::size_t i = 0; i < numbers->size(); i += 3)
    points.push_back({(*numbers)[i], (*numbers)[i + 1], (*numbers)[i + 2]});
  return make_hull(std::move(points), hull);
}

std::optional<GeometryReader::PlacedShape> GeometryReader::make_hull(std::vector<Vec3> points, const XMLElement& at) {
  if (const std::optional<std::string> fault = hull_fault(points)) {
    report_.error(at, *fault, "give at least 4 points that do not lie in one plane");
    return std::nullopt;
  }
  auto hull = std::make_shared<HullData>();
  hull->points = std::move(points);
  return PlacedShape{Hull(std::move(hull)), {}};
}

std::optional<GeometryReader::PlacedShape> GeometryReader::read_mesh_shape(const sdf::Mesh& mesh, const XMLElement& at,
                                                                           Use use) {
  const Vec3 scale = to_vec(mesh.Scale());
  if (scale.x == 0 || scale.y == 0 || scale.z == 0) {
    report_.error(at, "the scale of the mesh is zero", "give <scale> three numbers that are not zero");
    return std::nullopt;
  }
  const Mesh loaded = load_mesh(mesh.Uri(), scale, mesh.Submesh(), at);
  if (loaded == nullptr) return std::nullopt;
  if (use != Use::collision_of_moving) return PlacedShape{loaded, {}};
  return make_hull(outer_points(loaded->vertices, max_hull_points), at);
}

std::optional<GeometryReader::PlacedShape> GeometryReader::read_height_map(const sdf::Heightmap& map,
                                                                           const XMLElement& at, Use use) {
  if (use == Use::collision_of_moving) {
    report_.error(at, "a terrain cannot move", "give the model <static>true</static>");
    return std::nullopt;
  }
  const Result<std::filesystem::path> file = library_.find_resource(map.Uri(), folder_);
  if (!file.ok()) {
    report_file(file.error(), at);
    return std::nullopt;
  }
  const Result<std::string> bytes = library_.read(*file);
  if (!bytes.ok()) {
    report_file(bytes.error(), at);
    return std::nullopt;
  }
  Result<HeightField> field = parse_height_field(*bytes, file->string(), to_vec(map.Size()));
  if (!field.ok()) {
    report_file(field.error(), at);
    return std::nullopt;
  }
  if ((*field)->columns < 2 || (*field)->rows < 2) {
    report_.error(at,
                  fmt::format("{}: a terrain cannot be made of {} x {} pixels", file->string(), (*field)->columns,
                              (*field)->rows),
                  "give an image of at least 2 x 2 pixels");
    return std::nullopt;
  }
  return PlacedShape{std::move(*field), {to_vec(map.Position()), {}}};
}

Mesh GeometryReader::load_mesh(const std::string& uri, const Vec3& scale, const std::string& submesh,
                               const XMLElement& at) {
  const std::string key = fmt::format("{}\n{}\n{} {} {}", uri, submesh, scale.x, scale.y, scale.z);
  if (const auto found = meshes_.find(key); found != meshes_.end()) return found->second;
  Mesh& mesh = meshes_[key];  // stays null after an error, so that it is reported only once
  const Result<std::filesystem::path> file = library_.find_resource(uri, folder_);
  if (!file.ok()) {
    report_file(file.error(), at);
    return nullptr;
  }
  const Result<std::string> bytes = library_.read(*file);
  if (!bytes.ok()) {
    report_file(bytes.error(), at);
    return nullptr;
  }
  const Result<Mesh> read = mesh_of(*bytes, *file, scale, submesh);
  if (!read.ok()) report_file(read.error(), at);
  else mesh = *read;
  return mesh;
}

// Errors in a mesh or an image are reported at the line of the model that refers to the file.
void GeometryReader::report_file(const Error& error, const XMLElement& at) {
  for (const Diagnostic& d : error.diagnostics()) {
    const std::string where = d.line > 0 ? fmt::format("{}:{}", d.file, d.line) : d.file;
    report_.error(at, d.file.empty() ? d.what : fmt::format("{}: {}", where, d.what), d.fix);
  }
}

}  // namespace volvox::model
