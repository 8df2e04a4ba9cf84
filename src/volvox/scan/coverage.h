// How much of a cloud became a surface, and in how many pieces. Metres; deterministic.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "volvox/scan/cloud.h"
#include "volvox/scan/mesh.h"

namespace volvox::scan {

struct Coverage {
  double covered = 0;        // part of the points within 5 cm of the mesh
  std::size_t pieces = 0;    // that share no vertex, of at least one per cent of the area
  double largest_piece = 0;  // part of the area

  // Why the mesh may not be the arena; empty if nothing speaks against it. An uneven cloud gives fragments: where it is
  // thin, points are too far apart to belong to one surface.
  std::string doubt() const;
};
// The mesh must not be empty.
Coverage coverage(const TriangleMesh& mesh, const Cloud& cloud);

}  // namespace volvox::scan
