#include <CGAL/Advancing_front_surface_reconstruction.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/grid_simplify_point_set.h>
#include <CGAL/jet_smooth_point_set.h>
#include <CGAL/remove_outliers.h>

#include "scan_peers.h"
#include "volvox/base/index.h"

namespace volvox::bench {

scan::TriangleMesh cgal_advancing_front(const scan::Cloud& cloud) {
  using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
  std::vector<Kernel::Point_3> points;
  for (const Vec3& p : cloud.points) points.emplace_back(p.x, p.y, p.z);
  // Removes points whose twelve neighbours are farther than 4 cm on average; on a surface of this cloud it is below 2
  // cm.
  points.erase(CGAL::remove_outliers<CGAL::Sequential_tag>(
                   points, 12, CGAL::parameters::threshold_percent(100).threshold_distance(0.04)),
               points.end());
  points.erase(CGAL::grid_simplify_point_set(points, 0.03), points.end());
  CGAL::jet_smooth_point_set<CGAL::Sequential_tag>(points, 24);
  std::vector<std::array<std::size_t, 3>> faces;
  CGAL::advancing_front_surface_reconstruction(points.begin(), points.end(), std::back_inserter(faces));
  scan::TriangleMesh mesh;
  for (const auto& p : points) mesh.vertices.push_back({p.x(), p.y(), p.z()});
  for (const auto& [a, b, c] : faces)
    mesh.triangles.push_back({narrow<std::uint32_t>(a), narrow<std::uint32_t>(b), narrow<std::uint32_t>(c)});
  return mesh;
}

}  // namespace volvox::bench
