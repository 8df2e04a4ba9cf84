// Other libraries' ways from a cloud to a mesh, for comparison. Each is in a file of its own, because their headers
// take minutes to compile, and is there only where its library is.
#pragma once

#include "volvox/scan/cloud.h"

namespace volvox::bench {

scan::TriangleMesh cgal_advancing_front(
    const scan::Cloud& cloud);  // outliers, 3 cm grid, jet smoothing, advancing front
scan::TriangleMesh pcl_greedy_projection(
    const scan::Cloud& cloud);  // outliers, 2 cm grid, moving least squares, greedy projection

}  // namespace volvox::bench
