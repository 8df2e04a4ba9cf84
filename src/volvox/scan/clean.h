// What is done to a cloud before a surface is built from it.
#pragma once

#include <string>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/scan/cloud.h"
#include "volvox/scan/scan_log.h"

namespace volvox::scan {

struct FilterOptions {
  double cell = 0;  // of the histogram, m; 0: by the cloud's density
  int least = 0;    // points that a cell and its neighbours must hold; 0: by the cloud's density
};
// The seed's filter of mixed pixels: a 3-D histogram over the whole cloud; points in cells that are
// nearly empty, and whose neighbours are, stand alone in space and are left out.
Cloud histogram_filter(const Cloud& cloud, const FilterOptions& options);

// The points of the upright laser, where the robot was: each sweep turned back by the slant of its
// floor (shaking), points replaced by the mean of five neighbours where these hang together.
// Refuses a log without upright sweeps.
Result<Cloud> cloud_of(const ScanLog& log);

// Points that lie exactly on another one say nothing new, and a million of them in one place would
// make every neighbourhood search a long one.
Cloud without_duplicates(const Cloud& cloud);

// A scanner sees a hundred times more points near by than far away. Leaves out points where they are
// densest: of cells of which half hold two points, none keeps more than ten.
Cloud evened(const Cloud& cloud);

// Ready to build from: no duplicates, even, no outliers. Refuses what no surface can be made of.
struct Prepared {
  Cloud cloud;
  std::vector<std::string> notes;  // what was left out
};
Result<Prepared> prepare(const Cloud& cloud, bool filter);

}  // namespace volvox::scan
