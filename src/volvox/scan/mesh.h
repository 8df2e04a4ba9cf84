// Triangle meshes of arenas and properties of their surface. Metres. Pure, deterministic functions.
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

// The front of a triangle is the side from which it is counter-clockwise; it faces the inside of the room.
struct TriangleMesh : model::MeshData {
  std::vector<Rgb> colors;  // one per vertex, or none
};

using Triangle = std::array<std::uint32_t, 3>;

Vec3 corner(const model::MeshData& mesh, const Triangle& triangle, int i);
// Its length is twice the area.
Vec3 area_normal(const model::MeshData& mesh, const Triangle& triangle);
double area(const model::MeshData& mesh);
model::Bounds bounds(const model::MeshData& mesh);

// The connectivity of the triangles by their vertex numbers.
struct Topology {
  std::size_t edges = 0;
  std::size_t boundary_edges = 0;      // of one triangle
  std::size_t non_manifold_edges = 0;  // of three or more
  std::size_t bow_ties = 0;            // vertices whose triangles form more than one fan
  // For users of the library and tests; the command reports the counts.
  bool two_manifold() const { return non_manifold_edges == 0 && bow_ties == 0; }
};
Topology topology(const model::MeshData& mesh);

// Merges vertices within `tolerance` of each other; removes degenerate triangles and unused vertices.
TriangleMesh welded(const TriangleMesh& mesh, double tolerance);

// Orients triangles consistently, and every connected part towards its own centre: a room faces its inside.
TriangleMesh oriented(TriangleMesh mesh);

// Points distributed evenly over the surface, at least `per_square_metre`, by a quasi-random sequence in each
// triangle. The same mesh gives the same points.
std::vector<Vec3> surface_points(const model::MeshData& mesh, double per_square_metre);

}  // namespace volvox::scan
