#include <pcl/common/io.h>
#include <pcl/filters/statistical_outlier_removal.h>
#include <pcl/filters/voxel_grid.h>
#include <pcl/search/kdtree.h>
#include <pcl/surface/gp3.h>
#include <pcl/surface/mls.h>

#include "scan_peers.h"
#include "volvox/base/index.h"

namespace volvox::bench {
scan::TriangleMesh pcl_greedy_projection(const scan::Cloud& cloud) {
  using Points = pcl::PointCloud<pcl::PointXYZ>;
  Points::Ptr points(new Points);
  for (const Vec3& p : cloud.points) points->emplace_back(to_float(p.x), to_float(p.y), to_float(p.z));
  Points::Ptr kept(new Points), thinned(new Points);
  pcl::StatisticalOutlierRemoval<pcl::PointXYZ> outliers;
  outliers.setInputCloud(points);
  outliers.setMeanK(16);
  outliers.setStddevMulThresh(2);
  outliers.filter(*kept);
  pcl::VoxelGrid<pcl::PointXYZ> grid;
  grid.setInputCloud(kept);
  grid.setLeafSize(0.02f, 0.02f, 0.02f);
  grid.filter(*thinned);
  pcl::MovingLeastSquares<pcl::PointXYZ, pcl::PointNormal> smooth;
  smooth.setInputCloud(thinned);
  smooth.setSearchMethod(pcl::search::KdTree<pcl::PointXYZ>::Ptr(new pcl::search::KdTree<pcl::PointXYZ>));
  smooth.setSearchRadius(0.06);
  smooth.setPolynomialOrder(1);
  smooth.setComputeNormals(true);
  pcl::PointCloud<pcl::PointNormal>::Ptr normals(new pcl::PointCloud<pcl::PointNormal>);
  smooth.process(*normals);
  pcl::search::KdTree<pcl::PointNormal>::Ptr tree(new pcl::search::KdTree<pcl::PointNormal>);
  tree->setInputCloud(normals);
  pcl::GreedyProjectionTriangulation<pcl::PointNormal> triangulation;
  triangulation.setSearchRadius(0.1);
  triangulation.setMu(2.5);
  triangulation.setMaximumNearestNeighbors(100);
  triangulation.setMaximumSurfaceAngle(M_PI / 2);
  triangulation.setMinimumAngle(M_PI / 18);
  triangulation.setMaximumAngle(2 * M_PI / 3);
  triangulation.setNormalConsistency(false);
  triangulation.setInputCloud(normals);
  triangulation.setSearchMethod(tree);
  std::vector<pcl::Vertices> faces;
  triangulation.reconstruct(faces);
  scan::TriangleMesh mesh;
  for (const auto& p : normals->points) mesh.vertices.push_back({p.x, p.y, p.z});
  for (const auto& f : faces)
    mesh.triangles.push_back({narrow<std::uint32_t>(f.vertices[0]), narrow<std::uint32_t>(f.vertices[1]),
                              narrow<std::uint32_t>(f.vertices[2])});
  return mesh;
}

}  // namespace volvox::bench
