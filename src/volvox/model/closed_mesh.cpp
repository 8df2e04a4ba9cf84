#include "volvox/model/closed_mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "volvox/base/union_find.h"

namespace volvox::model {
namespace {

using Edge = std::pair<std::uint32_t, std::uint32_t>;  // the lower vertex first

// Edges with an odd number of triangles, in ascending order.
std::vector<Edge> open_edges(const MeshData& mesh) {
  std::vector<Edge> edges;
  edges.reserve(3 * mesh.triangles.size());
  for (const auto& t : mesh.triangles)
    for (int i = 0; i < 3; ++i)
      if (t[i] != t[(i + 1) % 3]) edges.push_back(std::minmax(t[i], t[(i + 1) % 3]));
  std::sort(edges.begin(), edges.end());
  std::vector<Edge> open;
  for (std::size_t i = 0; i < edges.size();) {
    const std::size_t end = std::upper_bound(edges.begin() + i, edges.end(), edges[i]) - edges.begin();
    if ((end - i) % 2 == 1) open.push_back(edges[i]);
    i = end;
  }
  return open;
}

}  // namespace

std::optional<std::string> hole_in(const MeshData& mesh) {
  const std::vector<Edge> open = open_edges(mesh);
  if (open.empty()) return std::nullopt;
  UnionFind joined(mesh.vertices.size());
  for (const auto& [a, b] : open) joined.join(a, b);
  std::map<std::uint32_t, std::vector<Edge>> holes;
  for (const Edge& edge : open) holes[joined.root(edge.first)].push_back(edge);
  const auto widest = std::max_element(holes.begin(), holes.end(),
                                       [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  Bounds bounds;
  for (const auto& [a, b] : widest->second) bounds.add(mesh.vertices[a]), bounds.add(mesh.vertices[b]);
  const Vec3 middle = 0.5 * (bounds.low + bounds.high);
  const std::string more = holes.size() > 1 ? fmt::format(", and {} more", holes.size() - 1) : "";
  return fmt::format(
      "the mesh is not closed: it has a hole of {} edges around ({:.4g}, {:.4g}, {:.4g}) m, {:.3g} m wide{}",
      widest->second.size(), middle.x, middle.y, middle.z, length(bounds.high - bounds.low), more);
}

}  // namespace volvox::model
