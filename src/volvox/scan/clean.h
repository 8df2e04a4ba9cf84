// Preprocessing of clouds before a surface is reconstructed. Metres. Deterministic, on the calling thread.
#pragma once

#include <string>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/scan/cloud.h"
#include "volvox/scan/scan_log.h"

namespace volvox::scan {

struct FilterOptions {
  double cell = 0;  // of the histogram, m; 0: from the density of the cloud
  int least = 0;    // smallest number of points in a cell and its neighbours; 0: from the density of the cloud
};
// The filter of seed 002 for mixed pixels: a 3-D histogram of the cloud; removes points in cells that are
// nearly empty and whose neighbours are nearly empty, too.
Cloud histogram_filter(const Cloud& cloud, const FilterOptions& options);

// The points of the vertical laser in the world frame. The roll of the robot (shaking) is estimated from the floor in
// each sweep and compensated; each point is replaced by the mean of five neighbours if their ranges are similar.
// Fails for a log without vertical sweeps.
Result<Cloud> cloud_of(const ScanLog& log);

// Every reading of the vertical laser within its range, as it was measured: with shaking and mixed pixels.
Cloud raw_points(const ScanLog& log);

// Removes points at exactly the same position as another one: a million of them in one place would make every
// neighbourhood search slow.
Cloud without_duplicates(const Cloud& cloud);

// Makes the density more uniform: a scanner sees a hundred times more points nearby than far away. With cells whose
// median is two points, keeps at most ten points in each cell.
Cloud evened(const Cloud& cloud);

// Removes duplicates, makes the density uniform and removes outliers. Fails if no surface can be built.
struct Prepared {
  Cloud cloud;
  std::vector<std::string> notes;  // what was removed
};
Result<Prepared> prepare(const Cloud& cloud, bool filter);

}  // namespace volvox::scan
