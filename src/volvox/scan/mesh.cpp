#include "volvox/scan/mesh.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "volvox/base/index.h"

namespace volvox::scan {

Vec3 corner(const model::MeshData& mesh, const Triangle& triangle, int i) { return mesh.vertices[triangle[i]]; }

Vec3 area_normal(const model::MeshData& mesh, const Triangle& t) {
  VOLVOX_ASSERT(t[0] < mesh.vertices.size() && t[1] < mesh.vertices.size() && t[2] < mesh.vertices.size());
  return cross(mesh.vertices[t[1]] - mesh.vertices[t[0]], mesh.vertices[t[2]] - mesh.vertices[t[0]]);
}

double area(const model::MeshData& mesh) {
  double sum = 0;
  for (const Triangle& triangle : mesh.triangles) sum += length(area_normal(mesh, triangle)) / 2;
  return sum;
}

model::Bounds bounds(const model::MeshData& mesh) {
  model::Bounds all;
  for (const Vec3& vertex : mesh.vertices) all.add(vertex);
  return all;
}

namespace {

// The triangles at a vertex form one fan if the edges opposite to it form one path or cycle.
// `opposite`: the two other corners of each triangle.
bool is_one_fan(const std::vector<std::array<std::uint32_t, 2>>& opposite) {
  if (opposite.size() < 2) return true;
  std::vector<bool> reached(opposite.size());
  std::vector<std::size_t> open = {0};
  reached[0] = true;
  std::size_t count = 1;
  while (!open.empty()) {
    const auto [a, b] = opposite[open.back()];
    open.pop_back();
    for (std::size_t i = 0; i < opposite.size(); ++i) {
      const auto [c, d] = opposite[i];
      if (reached[i] || (a != c && a != d && b != c && b != d)) continue;
      reached[i] = true;
      ++count;
      open.push_back(i);
    }
  }
  return count == opposite.size();
}

}  // namespace

Topology topology(const model::MeshData& mesh) {
  std::vector<std::uint64_t> edges;
  edges.reserve(mesh.triangles.size() * 3);
  std::vector<std::vector<std::array<std::uint32_t, 2>>> opposite(mesh.vertices.size());
  for (const Triangle& t : mesh.triangles) {
    for (int i = 0; i < 3; ++i) {
      const std::uint32_t a = t[i], b = t[(i + 1) % 3];
      edges.push_back(std::uint64_t{std::min(a, b)} << 32 | std::max(a, b));
      opposite[t[(i + 2) % 3]].push_back({a, b});
    }
  }
  std::sort(edges.begin(), edges.end());
  Topology found;
  for (std::size_t i = 0, next; i < edges.size(); i = next) {
    for (next = i + 1; next < edges.size() && edges[next] == edges[i];) ++next;
    ++found.edges;
    found.boundary_edges += next - i == 1;
    found.non_manifold_edges += next - i > 2;
  }
  for (const auto& fan : opposite) found.bow_ties += !is_one_fan(fan);
  return found;
}

TriangleMesh welded(const TriangleMesh& mesh, double tolerance) {
  VOLVOX_ASSERT(tolerance >= 0);
  using Cell = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  const auto cell_of = [&](const Vec3& p) {
    return Cell{std::llround(p.x / tolerance), std::llround(p.y / tolerance), std::llround(p.z / tolerance)};
  };
  // Not a CellGrid: that one holds all points from its start, and a file with a million equal vertices would take a
  // million squared steps. Here only what is kept enters. The keys have 64 bits, for tolerances of a nanometre.
  std::map<Cell, std::vector<std::uint32_t>> cells;  // indices into `kept`
  std::vector<std::uint32_t> one(mesh.vertices.size());
  std::vector<std::uint32_t> kept;  // old vertex numbers
  for (std::uint32_t i = 0; i < mesh.vertices.size(); ++i) {
    const auto [x, y, z] = cell_of(mesh.vertices[i]);
    std::int64_t found = -1;
    for (std::int64_t n = 0; n < 27 && found < 0; ++n) {
      const auto near = cells.find({x + n % 3 - 1, y + n / 3 % 3 - 1, z + n / 9 - 1});
      if (near == cells.end()) continue;
      for (const std::uint32_t k : near->second) {
        if (length(mesh.vertices[kept[k]] - mesh.vertices[i]) <= tolerance) found = k;
      }
    }
    if (found < 0) {
      found = kept.size();
      cells[{x, y, z}].push_back(narrow<std::uint32_t>(found));
      kept.push_back(i);
    }
    one[i] = narrow<std::uint32_t>(found);
  }
  TriangleMesh result;
  std::vector<std::int64_t> number(kept.size(), -1);
  for (const Triangle& t : mesh.triangles) {
    Triangle triangle{one[t[0]], one[t[1]], one[t[2]]};
    if (triangle[0] == triangle[1] || triangle[1] == triangle[2] || triangle[2] == triangle[0]) continue;
    for (std::uint32_t& vertex : triangle) {
      if (number[vertex] < 0) {
        number[vertex] = result.vertices.size();
        result.vertices.push_back(mesh.vertices[kept[vertex]]);
        if (!mesh.colors.empty()) result.colors.push_back(mesh.colors[kept[vertex]]);
      }
      vertex = narrow<std::uint32_t>(number[vertex]);
    }
    result.triangles.push_back(triangle);
  }
  return result;
}

TriangleMesh oriented(TriangleMesh mesh) {
  std::map<std::array<std::uint32_t, 2>, std::vector<std::uint32_t>> edges;
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    for (int i = 0; i < 3; ++i) {
      const std::uint32_t a = mesh.triangles[t][i], b = mesh.triangles[t][(i + 1) % 3];
      edges[{std::min(a, b), std::max(a, b)}].push_back(t);
    }
  }
  const auto runs = [&](std::uint32_t t, std::uint32_t a, std::uint32_t b) {
    const Triangle& c = mesh.triangles[t];
    return (c[0] == a && c[1] == b) || (c[1] == a && c[2] == b) || (c[2] == a && c[0] == b);
  };
  std::vector<bool> reached(mesh.triangles.size());
  for (std::uint32_t seed = 0; seed < mesh.triangles.size(); ++seed) {
    if (reached[seed]) continue;
    reached[seed] = true;
    std::vector<std::uint32_t> part = {seed};
    for (std::size_t n = 0; n < part.size(); ++n) {
      const Triangle here = mesh.triangles[part[n]];
      for (int i = 0; i < 3; ++i) {
        const std::uint32_t a = here[i], b = here[(i + 1) % 3];
        const auto& sharing = edges[{std::min(a, b), std::max(a, b)}];
        if (sharing.size() != 2) continue;  // an edge with three triangles has no consistent orientation
        const std::uint32_t other = sharing[0] == part[n] ? sharing[1] : sharing[0];
        if (reached[other]) continue;
        if (runs(other, a, b)) std::swap(mesh.triangles[other][1], mesh.triangles[other][2]);
        reached[other] = true;
        part.push_back(other);
      }
    }
    model::Bounds box;
    for (const std::uint32_t t : part)
      for (int i = 0; i < 3; ++i) box.add(corner(mesh, mesh.triangles[t], i));
    const Vec3 middle = (box.low + box.high) / 2;
    double inward = 0, upward = 0;
    for (const std::uint32_t t : part) {
      const Vec3 n = area_normal(mesh, mesh.triangles[t]);
      inward += dot(n, middle - corner(mesh, mesh.triangles[t], 0));
      upward += n.z;
    }
    // A flat part has no inside: floors and tables face up.
    const double flat = 1e-3 * area(mesh);
    if (std::fabs(inward) > flat ? inward >= 0 : upward >= 0) continue;
    for (const std::uint32_t t : part) std::swap(mesh.triangles[t][1], mesh.triangles[t][2]);
  }
  return mesh;
}

std::vector<Vec3> surface_points(const model::MeshData& mesh, double per_square_metre) {
  std::vector<Vec3> points;
  for (const Triangle& triangle : mesh.triangles) {
    const Vec3 a = corner(mesh, triangle, 0), ab = corner(mesh, triangle, 1) - a, ac = corner(mesh, triangle, 2) - a;
    const double wanted = length(cross(ab, ac)) / 2 * per_square_metre;
    // The R2 sequence (plastic number) is evenly distributed for any number of points.
    const auto count = truncated<std::size_t>(std::ceil(wanted));
    for (std::size_t i = 0; i < count; ++i) {
      double u = std::fmod(0.5 + 0.7548776662466927 * real(i), 1.0);
      double v = std::fmod(0.5 + 0.5698402909980532 * real(i), 1.0);
      if (u + v > 1) u = 1 - u, v = 1 - v;
      points.push_back(a + ab * u + ac * v);
    }
  }
  return points;
}

}  // namespace volvox::scan
