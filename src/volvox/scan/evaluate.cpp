#include "volvox/scan/evaluate.h"

#include <algorithm>
#include <map>

#include "volvox/base/index.h"
#include "volvox/base/union_find.h"
#include "volvox/scan/triangle_tree.h"

namespace volvox::scan {
namespace {

// Distances at points of a surface, each with the area that its point stands for.
class Distances {
 public:
  void add(double distance, double area) { sorted_.push_back({distance, area}); }
  void sort() {
    std::sort(sorted_.begin(), sorted_.end());
    for (const auto& [distance, area] : sorted_) area_ += area, mean_ += area * distance;
    mean_ /= area_;
  }
  double mean() const { return mean_; }
  double largest() const { return sorted_.back().first; }
  double part_within(double limit) const {
    double within = 0;
    for (const auto& [distance, area] : sorted_) within += distance <= limit ? area : 0;
    return within / area_;
  }
  double percentile(double part) const {
    double within = 0;
    for (const auto& [distance, area] : sorted_)
      if ((within += area) >= part * area_) return distance;
    return largest();
  }

 private:
  std::vector<std::pair<double, double>> sorted_;  // distance, area
  double area_ = 0, mean_ = 0;
};

double f_score(const Distances& a, const Distances& b, double limit) {
  const double precision = a.part_within(limit), recall = b.part_within(limit);
  return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
}

struct MeasuredPoint {
  Vec3 at;
  double area = 0;  // that it stands for, m2
};

// The points of one triangle. The distance is often largest at a corner, but a corner has no area: it counts for the
// largest distance only, so that small triangles weigh no more than their area.
std::vector<MeasuredPoint> measured_points(const TriangleMesh& mesh, const Triangle& triangle,
                                           double per_square_metre) {
  TriangleMesh one;
  for (const std::uint32_t vertex : triangle) one.vertices.push_back(mesh.vertices[vertex]);
  one.triangles = {{0, 1, 2}};
  const std::vector<Vec3> points = surface_points(one, per_square_metre);
  std::vector<MeasuredPoint> result;
  for (const Vec3& p : points) result.push_back({p, area(one) / real(points.size())});
  for (const Vec3& corner : one.vertices) result.push_back({corner, 0});
  return result;
}

// Files such as STL give every triangle its own corners: only joined triangles have edges in common.
TriangleMesh joined(const TriangleMesh& mesh) {
  constexpr double same = 1e-5;  // m: more than single precision loses in a room
  return mesh.vertices.size() >= 3 * mesh.triangles.size() ? welded(mesh, same) : mesh;
}

}  // namespace

std::vector<std::uint32_t> flat_faces(const model::MeshData& mesh) {
  std::map<std::array<std::uint32_t, 2>, std::vector<std::uint32_t>> edges;
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    for (int i = 0; i < 3; ++i) {
      const std::uint32_t a = mesh.triangles[t][i], b = mesh.triangles[t][(i + 1) % 3];
      edges[{std::min(a, b), std::max(a, b)}].push_back(t);
    }
  }
  UnionFind faces(mesh.triangles.size());
  for (const auto& [edge, sharing] : edges) {
    for (std::size_t i = 1; i < sharing.size(); ++i) {
      const Vec3 a = normalized(area_normal(mesh, mesh.triangles[sharing[0]])),
                 b = normalized(area_normal(mesh, mesh.triangles[sharing[i]]));
      if (dot(a, b) >= 0.99999) faces.join(sharing[0], sharing[i]);
    }
  }
  return faces.roots();
}

Evaluation evaluate(const TriangleMesh& mesh, const TriangleMesh& true_mesh, double per_square_metre,
                    const Progress& progress) {
  Evaluation result;
  result.triangles = mesh.triangles.size();
  const TriangleMesh truth = welded(true_mesh, 1e-5);  // so that its flat faces are found
  const TriangleTree mesh_tree(mesh), truth_tree(truth);
  const auto tell = [&](double done) {
    if (progress) progress(done);
  };

  Distances to_truth, to_mesh;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (const MeasuredPoint& point : measured_points(mesh, mesh.triangles[t], per_square_metre))
      to_truth.add(truth_tree.nearest(point.at).distance, point.area);
    if (t % 256 == 0) tell(0.5 * real(t) / real(mesh.triangles.size()));
  }

  const std::vector<std::uint32_t> faces = flat_faces(truth);
  std::map<std::uint32_t, std::array<double, 2>> seen;  // area of each face: all, found
  for (std::size_t t = 0; t < truth.triangles.size(); ++t) {
    const Vec3 normal = normalized(area_normal(truth, truth.triangles[t]));
    auto& [all, found] = seen[faces[t]];
    for (const MeasuredPoint& point : measured_points(truth, truth.triangles[t], per_square_metre)) {
      const TriangleTree::Nearest nearest = mesh_tree.nearest(point.at);
      to_mesh.add(nearest.distance, point.area);
      const Vec3 other = normalized(area_normal(mesh, mesh.triangles[nearest.triangle]));
      all += point.area;
      found += nearest.distance < 0.02 && std::fabs(dot(normal, other)) > 0.966 ? point.area : 0;
    }
    tell(0.5 + 0.5 * real(t + 1) / real(truth.triangles.size()));
  }
  for (const auto& [face, areas] : seen) {
    ++result.planes;
    result.planes_found += 2 * areas[1] > areas[0];
  }

  to_truth.sort();
  to_mesh.sort();
  result.accuracy_mean = to_truth.mean();
  result.accuracy_p95 = to_truth.percentile(0.95);
  result.completeness_mean = to_mesh.mean();
  result.completeness_p95 = to_mesh.percentile(0.95);
  result.hausdorff = std::max(to_truth.largest(), to_mesh.largest());
  result.f_2cm = f_score(to_truth, to_mesh, 0.02);
  result.f_5mm = f_score(to_truth, to_mesh, 0.005);
  const Topology shape = topology(joined(mesh));
  result.boundary_edges = shape.boundary_edges;
  result.non_manifold_edges = shape.non_manifold_edges;
  return result;
}

}  // namespace volvox::scan
