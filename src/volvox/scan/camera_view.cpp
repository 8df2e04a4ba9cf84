#include "volvox/scan/camera_view.h"

#include <cmath>

#include "volvox/rays/ray_caster.h"

namespace volvox::scan {

std::size_t paint(TriangleMesh& mesh, std::span<const CameraView> views, Rgb unseen) {
  constexpr double nearest = 0.02;  // m before the camera
  constexpr double hidden = 0.98;   // of the way: what a ray meets before that hides the vertex
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
      const double scale = static_cast<double>(view.width) / (2 * tangent * p.x);  // pixels a metre there
      const double column = static_cast<double>(view.width) / 2 - p.y * scale,
                   row = static_cast<double>(view.height) / 2 - p.z * scale;
      if (column < 0 || row < 0 || column >= static_cast<double>(view.width) || row >= static_cast<double>(view.height))
        continue;
      const Vec3 way = vertex - view.pose.position;
      const rays::Ray sight{view.pose.position, normalized(way), hidden * length(way), 0};
      rays::Hit hit;
      caster.cast({&sight, 1}, {&hit, 1});
      if (hit.hit()) continue;
      const std::size_t pixel =
          3 * (static_cast<std::size_t>(row) * static_cast<std::size_t>(view.width) + static_cast<std::size_t>(column));
      const double w = 1 / (p.x * p.x);
      for (std::size_t k = 0; k < 3; ++k) sum[k] += w * view.rgb[pixel + k];
      weight += w;
    }
    if (weight <= 0) continue;
    ++seen;
    const auto mean = [&](int k) { return static_cast<std::uint8_t>(sum[k] / weight + 0.5); };
    mesh.colors[i] = {mean(0), mean(1), mean(2)};
  }
  return seen;
}

}  // namespace volvox::scan
