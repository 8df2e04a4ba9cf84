// On-line refinement: updates a reconstructed arena with new scans, for example of robots that drive in it.
// Metres; deterministic.
#pragma once

#include <vector>

#include "volvox/scan/build.h"
#include "volvox/scan/register.h"

namespace volvox::scan {

struct RefineOptions {
  BuildOptions build;
  // The scans are already in the frame of the arena, such as those of a localized robot; otherwise each scan is
  // registered first (register.h).
  bool placed = false;
};

struct Refined {
  Built built;
  std::vector<Registration> fits;  // the registration of each scan; empty if they were placed
  std::size_t new_points = 0;      // points of the scans that are not on the old surface
};

// Builds a new mesh from the points of the scans and from points sampled on the old surface with the same density.
// Where both exist, only a quarter of the old points is used, so that the new scans correct old errors.
Result<Refined> refine(const TriangleMesh& arena, const std::vector<Cloud>& scans, const RefineOptions& options,
                       const Progress& progress = {});

}  // namespace volvox::scan
