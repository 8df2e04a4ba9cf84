#include "volvox/scan/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "volvox/base/index.h"
#include "volvox/base/union_find.h"
#include "volvox/scan/triangle_tree.h"

namespace volvox::scan {

Coverage coverage(const TriangleMesh& mesh, const Cloud& cloud) {
  constexpr double near = 0.05;
  constexpr std::size_t most = 20'000;
  Coverage result;
  const TriangleTree tree(mesh);
  const std::size_t count = std::min(most, cloud.points.size());
  std::size_t covered = 0;
  for (std::size_t i = 0; i < count; ++i)
    covered += tree.nearest(cloud.points[i * cloud.points.size() / count]).distance < near;
  result.covered = count > 0 ? real(covered) / real(count) : 0;

  const TriangleMesh joined = welded(mesh, 1e-5);
  UnionFind parts(joined.vertices.size());
  for (const Triangle& t : joined.triangles) parts.join(t[0], t[1]), parts.join(t[0], t[2]);
  const std::vector<std::uint32_t> roots = parts.roots();
  std::map<std::uint32_t, double> areas;
  double all = 0;
  for (const Triangle& t : joined.triangles) {
    const double size = length(area_normal(joined, t)) / 2;
    areas[roots[t[0]]] += size;
    all += size;
  }
  for (const auto& [root, size] : areas) {
    result.pieces += size >= 0.01 * all;
    result.largest_piece = std::max(result.largest_piece, all > 0 ? size / all : 0);
  }
  return result;
}

std::string Coverage::doubt() const {
  if (covered < 0.75)
    return fmt::format("only {:.0f} % of the points lie on the mesh: the rest is missing from it", 100 * covered);
  if (largest_piece < 0.5)
    return fmt::format("the mesh is {} pieces that do not touch; the largest has {:.0f} % of the area", pieces,
                       100 * largest_piece);
  return "";
}

}  // namespace volvox::scan
