#include "volvox/scan/camera_view.h"

#include <cmath>

#include "volvox/base/index.h"
#include "volvox/rays/ray_caster.h"

namespace volvox::scan {

std::size_t paint(TriangleMesh& mesh, std::span<const CameraView> views, Rgb unseen) {
  constexpr double nearest = 0.02;  // m in front of the camera
  constexpr double hidden = 0.98;   // fraction of the distance: a hit before that hides the vertex
  if (mesh.colors.size() != mesh.vertices.size()) mesh.colors.assign(mesh.vertices.size(), unseen);
  if (mesh.triangles.empty()) return 0;
  const rays::RayCaster caster(std::make_shared<const model::MeshData>(mesh));
  std::size_t seen = 0;
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    const Vec3& vertex = mesh.vertices[i];
    double sum[3] = {0, 0, 0}, weight = 0;
    for (const CameraView& view : views) {
      const Vec3 p = view.pose.inverse() * vertex;
      if (p.x < nearest) continue;
      const double tangent = volvox::sin(view.field_of_view / 2) / volvox::cos(view.field_of_view / 2);
      const double scale = view.width / (2 * tangent * p.x);  // pixels per metre at this distance
      const double column = view.width / 2.0 - p.y * scale, row = view.height / 2.0 - p.z * scale;
      if (column < 0 || row < 0 || column >= view.width || row >= view.height) continue;
      const Vec3 way = vertex - view.pose.position;
      const rays::Ray sight{view.pose.position, normalized(way), hidden * length(way), 0};
      rays::Hit hit;
      caster.cast({&sight, 1}, {&hit, 1});
      if (hit.hit()) continue;
      const std::size_t pixel = 3 * (truncated<std::size_t>(row) * view.width + truncated<std::size_t>(column));
      const double w = 1 / (p.x * p.x);
      for (std::size_t k = 0; k < 3; ++k) sum[k] += w * view.rgb[pixel + k];
      weight += w;
    }
    if (weight <= 0) continue;
    ++seen;
    const auto mean = [&](int k) { return truncated<std::uint8_t>(sum[k] / weight + 0.5); };
    mesh.colors[i] = {mean(0), mean(1), mean(2)};
  }
  return seen;
}

}  // namespace volvox::scan
