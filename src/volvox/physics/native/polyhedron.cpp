#include "volvox/physics/native/polyhedron.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "volvox/model/hull_faces.h"

namespace volvox::physics::native {
namespace {

constexpr std::size_t most_corners = 12;
constexpr double least_hollow = 0.01;  // rad; less is as good as flat

// Corners of a flat face in order about its normal, without those that lie on an edge.
std::vector<int> loop_about(const std::vector<Vec3>& points, std::vector<int> corners, const Vec3& normal) {
  std::sort(corners.begin(), corners.end());
  corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
  Vec3 middle;
  for (int c : corners) middle += points[static_cast<std::size_t>(c)] / static_cast<double>(corners.size());
  const Vec3 u = perpendicular(normal), v = cross(normal, u);
  std::vector<std::pair<double, int>> order;
  for (int c : corners) {
    const Vec3 d = points[static_cast<std::size_t>(c)] - middle;
    order.push_back({volvox::atan2(dot(d, v), dot(d, u)), c});
  }
  std::sort(order.begin(), order.end());
  std::vector<int> loop;
  for (const auto& [angle, c] : order) loop.push_back(c);
  return loop;
}

// Drops, again and again, the corner that its neighbours miss least.
void thin_out(const std::vector<Vec3>& points, std::vector<int>& loop) {
  while (loop.size() > most_corners) {
    std::size_t least = 0;
    double smallest = 1e300;
    for (std::size_t i = 0; i < loop.size(); ++i) {
      const Vec3& a = points[static_cast<std::size_t>(loop[(i + loop.size() - 1) % loop.size()])];
      const Vec3& b = points[static_cast<std::size_t>(loop[i])];
      const Vec3& c = points[static_cast<std::size_t>(loop[(i + 1) % loop.size()])];
      const double area = length(cross(b - a, c - b));
      if (area < smallest) smallest = area, least = i;
    }
    loop.erase(loop.begin() + static_cast<std::ptrdiff_t>(least));
  }
}

}  // namespace

std::vector<Convex::Face> polyhedron_faces(const std::vector<Vec3>& points) {
  const std::vector<model::HullFace> triangles = model::hull_faces(points);
  double size = 0;
  for (const Vec3& p : points) size = std::max(size, length(p - points[0]));
  std::vector<bool> taken(triangles.size(), false);
  std::vector<Convex::Face> faces;
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    if (taken[i]) continue;
    std::vector<int> corners;
    for (std::size_t k = i; k < triangles.size(); ++k) {
      if (taken[k] || dot(triangles[k].normal, triangles[i].normal) < 1 - 1e-9) continue;
      if (std::fabs(triangles[k].offset - triangles[i].offset) > 1e-6 * size) continue;
      taken[k] = true;
      for (std::uint32_t c : triangles[k].corners) corners.push_back(static_cast<int>(c));
    }
    std::vector<int> loop = loop_about(points, std::move(corners), triangles[i].normal);
    thin_out(points, loop);
    faces.push_back({triangles[i].normal, std::move(loop)});
  }
  return faces;
}

void set_neighbour(Triangle& t, std::size_t edge, const Vec3& normal) {
  const Vec3 along = t.corners[(edge + 1) % 3] - t.corners[edge];
  const double bend = dot(cross(t.normal, normal), along) / length(along);
  // Where the surface bends away from its outside, the edge sticks out.
  t.beyond[edge] = bend > 1e-6 ? normal : t.normal;
  t.hollow[edge] = bend < -least_hollow;
}

void finish_triangle(Triangle& t) {
  for (std::size_t k = 0; k < 3; ++k) {
    t.outward[k] = normalized(cross(t.corners[(k + 1) % 3] - t.corners[k], t.normal));
    const double cosine = dot(t.beyond[k], t.normal);  // 0 where the surface ends
    t.bend[k] = t.beyond[k] == t.normal ? 0 : cosine > 0 ? std::sqrt(std::max(0.0, 1 - cosine * cosine)) : 1;
  }
}

std::vector<Triangle> mesh_triangles(const model::MeshData& mesh, const Pose& pose) {
  std::vector<Triangle> triangles;
  std::vector<std::array<std::uint32_t, 3>> corners;
  for (const auto& t : mesh.triangles) {
    const Vec3 a = pose * mesh.vertices[t[0]], b = pose * mesh.vertices[t[1]], c = pose * mesh.vertices[t[2]];
    const Vec3 n = cross(b - a, c - a);
    if (!(length(n) > 1e-18)) continue;  // no area
    triangles.push_back({{a, b, c}, normalized(n), {}, {}, {}, {}});
    corners.push_back(t);
  }
  // Directed edges, sorted, so that the neighbour of (i, j) is found as (j, i).
  struct Edge {
    std::uint32_t from, to;
    std::size_t triangle;
    bool operator<(const Edge& o) const { return std::tie(from, to, triangle) < std::tie(o.from, o.to, o.triangle); }
  };
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) edges.push_back({corners[i][k], corners[i][(k + 1) % 3], i});
  }
  std::sort(edges.begin(), edges.end());
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Edge wanted{corners[i][(k + 1) % 3], corners[i][k], 0};
      const auto found = std::lower_bound(edges.begin(), edges.end(), wanted);
      if (found == edges.end() || found->from != wanted.from || found->to != wanted.to) continue;
      Triangle& t = triangles[i];
      set_neighbour(t, k, triangles[found->triangle].normal);
    }
    finish_triangle(triangles[i]);
  }
  return triangles;
}

}  // namespace volvox::physics::native
