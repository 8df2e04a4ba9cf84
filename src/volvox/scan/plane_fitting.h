// The method PF (plane fitting) of seed 002: an arena of few flat polygons. Each plane of the cloud (planes.h) is
// bounded by its intersections with adjacent planes, or, where there is none, by the end of its points, and is
// then triangulated. Metres; the same seed gives the same bits.
#pragma once

#include <cstdint>

#include "volvox/scan/cloud.h"
#include "volvox/scan/planes.h"

namespace volvox::scan {

struct PlaneFittingOptions {
  std::uint64_t seed = 1;
  double noise = 0;  // standard deviation of the points, m; 0: estimated
};

struct PlaneModel {
  PlaneSet set;
  TriangleMesh mesh;
};

// `cloud`: the result of prepare().
PlaneModel fit_planes(const Cloud& cloud, const PlaneFittingOptions& options);

}  // namespace volvox::scan
