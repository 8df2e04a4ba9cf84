// Surface reconstruction by other libraries, for comparison. Each has its own file, because their headers take minutes
// to compile, and exists only if its library is installed.
#pragma once

#include "volvox/scan/cloud.h"

namespace volvox::bench {

scan::TriangleMesh cgal_advancing_front(
    const scan::Cloud& cloud);  // outliers, 3 cm grid, jet smoothing, advancing front
scan::TriangleMesh pcl_greedy_projection(
    const scan::Cloud& cloud);  // outliers, 2 cm grid, moving least squares, greedy projection

}  // namespace volvox::bench
