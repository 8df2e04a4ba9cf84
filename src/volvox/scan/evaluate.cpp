#include "volvox/scan/evaluate.h"

#include <algorithm>
#include <map>

#include "volvox/base/index.h"
#include "volvox/base/union_find.h"
#include "volvox/scan/triangle_tree.h"

namespace volvox::scan {
namespace {

struct Distances {
  std::vector<double> sorted;
  double mean = 0;

  explicit Distances(std::vector<double> all) : sorted(std::move(all)) {
    for (const double d : sorted) mean += d;
    mean /= real(sorted.size());
    std::sort(sorted.begin(), sorted.end());
  }
  double part_within(double limit) const {
    return real(std::upper_bound(sorted.begin(), sorted.end(), limit) - sorted.begin()) / real(sorted.size());
  }
  double percentile(double part) const { return sorted[truncated<std::size_t>(part * real(sorted.size() - 1))]; }
};

double f_score(const Distances& a, const Distances& b, double limit) {
  const double precision = a.part_within(limit), recall = b.part_within(limit);
  return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
}

// Includes the corners, because the distance is often largest there.
std::vector<Vec3> measured_points(const TriangleMesh& mesh, double per_square_metre) {
  std::vector<Vec3> points = surface_points(mesh, per_square_metre);
  for (const Triangle& t : mesh.triangles)
    for (const std::uint32_t vertex : t) points.push_back(mesh.vertices[vertex]);
  return points;
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

Evaluation evaluate(const TriangleMesh& mesh, const TriangleMesh& truth, double per_square_metre,
                    const Progress& progress) {
  Evaluation result;
  result.triangles = mesh.triangles.size();
  const TriangleTree mesh_tree(mesh), truth_tree(truth);
  const auto tell = [&](double done) {
    if (progress) progress(done);
  };

  std::vector<double> accuracy, completeness;
  const std::vector<Vec3> on_mesh = measured_points(mesh, per_square_metre);
  for (std::size_t i = 0; i < on_mesh.size(); ++i) {
    accuracy.push_back(truth_tree.nearest(on_mesh[i]).distance);
    if (i % 65536 == 0) tell(0.5 * real(i) / real(on_mesh.size()));
  }

  const std::vector<std::uint32_t> faces = flat_faces(truth);
  std::map<std::uint32_t, std::array<std::size_t, 2>> seen;  // number of points of each face: all, found
  std::vector<Vec3> on_truth;
  TriangleMesh one;  // one triangle of the truth at a time, so that the face of each point is known
  one.vertices = truth.vertices;
  for (std::size_t t = 0; t < truth.triangles.size(); ++t) {
    one.triangles = {truth.triangles[t]};
    const Vec3 normal = normalized(area_normal(truth, truth.triangles[t]));
    auto& [all, found] = seen[faces[t]];
    for (const Vec3& point : measured_points(one, per_square_metre)) {
      const TriangleTree::Nearest nearest = mesh_tree.nearest(point);
      completeness.push_back(nearest.distance);
      const Vec3 other = normalized(area_normal(mesh, mesh.triangles[nearest.triangle]));
      ++all;
      found += nearest.distance < 0.02 && std::fabs(dot(normal, other)) > 0.966;
    }
    tell(0.5 + 0.5 * real(t + 1) / real(truth.triangles.size()));
  }
  for (const auto& [face, counts] : seen) {
    ++result.planes;
    result.planes_found += 2 * counts[1] > counts[0];
  }

  const Distances to_truth(std::move(accuracy)), to_mesh(std::move(completeness));
  result.accuracy_mean = to_truth.mean;
  result.accuracy_p95 = to_truth.percentile(0.95);
  result.completeness_mean = to_mesh.mean;
  result.completeness_p95 = to_mesh.percentile(0.95);
  result.hausdorff = std::max(to_truth.sorted.back(), to_mesh.sorted.back());
  result.f_2cm = f_score(to_truth, to_mesh, 0.02);
  result.f_5mm = f_score(to_truth, to_mesh, 0.005);
  const Topology shape = topology(mesh);
  result.boundary_edges = shape.boundary_edges;
  result.non_manifold_edges = shape.non_manifold_edges;
  return result;
}

}  // namespace volvox::scan
