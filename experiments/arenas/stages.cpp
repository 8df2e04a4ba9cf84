#include "stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "volvox/base/index.h"
#include "volvox/scan/evaluate.h"
#include "volvox/scan/planes.h"

namespace volvox::experiments::arenas {
namespace {

constexpr double rod = 0.008, point_size = 0.008;  // m, as drawn

// Hues that neighbours in the order do not share.
model::Color hue(std::size_t k) {
  const double part = std::fmod(0.618034 * real(k), 1.0) * 6;
  const auto channel = [&](double at) { return clamp(std::fabs(std::fmod(part + at, 6.0) - 3) - 1, 0, 1); };
  return {0.15 + 0.75 * channel(0), 0.15 + 0.75 * channel(4), 0.15 + 0.75 * channel(2), 1};
}

// Seen from both sides.
model::Mesh sheet(const std::array<Vec3, 4>& corners) {
  model::MeshData mesh;
  mesh.vertices = {corners.begin(), corners.end()};
  mesh.vertices.insert(mesh.vertices.end(), corners.begin(), corners.end());
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}, {4, 6, 5}, {4, 7, 6}};
  return std::make_shared<const model::MeshData>(std::move(mesh));
}

}  // namespace

void add_rectangles(model::WorldBuilder& builder, std::span<const Vec3> points, std::span<const std::int32_t> label) {
  std::map<std::int32_t, std::vector<Vec3>> of;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (label[i] >= 0) of[label[i]].push_back(points[i]);
  for (const auto& [name, members] : of) {
    if (members.size() < 3) continue;
    scan::Moments moments;
    for (const Vec3& p : members) moments.add(p);
    const scan::FittedPlane plane = scan::fit_plane(moments);
    const Vec3 u = normalized(cross(std::fabs(plane.normal.z) < 0.9 ? Vec3{0, 0, 1} : Vec3{0, 1, 0}, plane.normal)),
               v = cross(plane.normal, u);
    double low_u = 1e300, high_u = -1e300, low_v = 1e300, high_v = -1e300;
    for (const Vec3& p : members) {
      low_u = std::min(low_u, dot(u, p)), high_u = std::max(high_u, dot(u, p));
      low_v = std::min(low_v, dot(v, p)), high_v = std::max(high_v, dot(v, p));
    }
    const auto at = [&](double a, double b) { return plane.normal * plane.offset + u * a + v * b; };
    builder.add_obstacle(sheet({at(low_u, low_v), at(high_u, low_v), at(high_u, high_v), at(low_u, high_v)}), {}, 0, {},
                         hue(narrow<std::size_t>(name)), fmt::format("cluster_{}", name));
  }
}

void add_borders(model::WorldBuilder& builder, const scan::TriangleMesh& mesh) {
  const std::vector<std::uint32_t> face = scan::flat_faces(mesh);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> edges;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t a = mesh.triangles[t][i], b = mesh.triangles[t][(i + 1) % 3];
      edges[std::minmax(a, b)].push_back(face[t]);
    }
  for (const auto& [edge, faces] : edges) {
    if (faces.size() == 2 && faces[0] == faces[1]) continue;  // within a face
    const Vec3 from = mesh.vertices[edge.first], way = mesh.vertices[edge.second] - from;
    if (length(way) < 1e-6) continue;
    const Vec3 x = normalized(way);
    builder.add_obstacle(model::Box{{length(way) + rod, rod, rod}},
                         {from + way * 0.5, Quat::from_axes(x, perpendicular(x))}, 0, {}, hue(faces[0]),
                         fmt::format("border_{}_{}", edge.first, edge.second));
  }
}

PointCloud::PointCloud(const std::vector<Vec3>& points) {
  double low = 1e300, high = -1e300;
  for (const Vec3& p : points) low = std::min(low, p.z), high = std::max(high, p.z);
  for (const Vec3& p : points) {
    sim::CloudItem item;
    for (std::size_t i = 0; i < 3; ++i) item.position[i] = to_float(p[narrow<int>(i)]);
    item.color = sim::ramp_color((p.z - low) / std::max(high - low, 1e-9));
    item.shown = sim::CloudItem::open;
    items_.push_back(item);
  }
}

sim::CloudLook PointCloud::cloud_look() const {
  sim::CloudLook look;
  look.noun = "point";
  look.size = {point_size, point_size, point_size};
  return look;
}

std::vector<std::string> PointCloud::cloud_state(std::uint32_t item) const {
  const auto& at = items_[item].position;
  return {fmt::format("at {:.3f} {:.3f} {:.3f} m", at[0], at[1], at[2])};
}

void PointCloud::cloud_values(std::size_t, std::vector<float>& out) const { out.clear(); }

}  // namespace volvox::experiments::arenas
