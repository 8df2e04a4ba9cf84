// A tree of boxes about the triangles of a mesh: the nearest point of the surface, in double precision and the same
// bits on every machine.
// Lengths in m. Does not change once it is made: several threads may ask at once.
#pragma once

#include <cstdint>
#include <vector>

#include "volvox/scan/mesh.h"

namespace volvox::scan {

class TriangleTree {
 public:
  explicit TriangleTree(const model::MeshData& mesh);  // the mesh must outlive it, and have a triangle

  struct Nearest {
    double distance = 0;
    std::uint32_t triangle = 0;
    Vec3 point;
  };
  Nearest nearest(const Vec3& point) const;

 private:
  struct Node {
    Vec3 low, high;
    std::uint32_t first = 0, count = 0;  // count > 0: a leaf with triangles; else children first, first + 1
  };
  void split(std::uint32_t node, std::uint32_t begin, std::uint32_t end, std::vector<Vec3>& centers);

  const model::MeshData& mesh_;
  std::vector<std::uint32_t> order_;
  std::vector<Node> nodes_;
};

// The point of a triangle that is nearest to p.
Vec3 nearest_on_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c);

}  // namespace volvox::scan
