// Triangle meshes as arenas are made of, and what can be said of their surface. Metres.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "volvox/base/math.h"
#include "volvox/model/shape.h"

namespace volvox::scan {

struct Rgb {
  std::uint8_t r = 0, g = 0, b = 0;
  friend constexpr bool operator==(const Rgb&, const Rgb&) = default;
};

// Counter-clockwise triangles show their front to the viewer: into the room, where robots are.
struct TriangleMesh : model::MeshData {
  std::vector<Rgb> colors;  // one a vertex, or none
};

using Triangle = std::array<std::uint32_t, 3>;

Vec3 corner(const model::MeshData& mesh, const Triangle& triangle, int i);
// Twice the area long.
Vec3 area_normal(const model::MeshData& mesh, const Triangle& triangle);
double area(const model::MeshData& mesh);
model::Bounds bounds(const model::MeshData& mesh);

// How the triangles hang together, by their vertex numbers.
struct Topology {
  std::size_t edges = 0;
  std::size_t boundary_edges = 0;      // of one triangle
  std::size_t non_manifold_edges = 0;  // of three or more
  std::size_t bow_ties = 0;            // vertices whose triangles form more than one fan
  bool two_manifold() const { return non_manifold_edges == 0 && bow_ties == 0; }
};
Topology topology(const model::MeshData& mesh);

// Makes one of vertices nearer than `tolerance`, and drops triangles that have lost their area
// and vertices that no triangle uses.
TriangleMesh welded(const TriangleMesh& mesh, double tolerance);

// Turns triangles so that neighbours agree on which side is the front, and every connected part so
// that it faces its own middle: a room faces inward, where the robots are.
TriangleMesh oriented(TriangleMesh mesh);

// Points evenly spread over the surface, at least `per_square_metre`, on a lattice of each
// triangle: the same for the same mesh.
std::vector<Vec3> surface_points(const model::MeshData& mesh, double per_square_metre);

}  // namespace volvox::scan
