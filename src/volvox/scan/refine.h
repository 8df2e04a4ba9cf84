// On-line refinement: a built arena takes in new scans, such as robots make that move in it.
#pragma once

#include <vector>

#include "volvox/scan/build.h"
#include "volvox/scan/register.h"

namespace volvox::scan {

struct RefineOptions {
  BuildOptions build;
  // Scans say themselves where they were made, as those of a located robot do; otherwise each is laid
  // on the arena first (register.h).
  bool placed = false;
};

struct Refined {
  Built built;
  std::vector<Registration> fits;  // how each scan was laid on the arena; none if they were placed
  std::size_t new_points = 0;      // of the scans, that the arena did not explain
};

// The surface of the arena speaks as points of the scans' density, beside the scans' own; where these
// speak, the old surface keeps a quarter of its voice, so that what was built wrong is mended.
Result<Refined> refine(const TriangleMesh& arena, const std::vector<Cloud>& scans, const RefineOptions& options,
                       const Progress& progress = {});

}  // namespace volvox::scan
