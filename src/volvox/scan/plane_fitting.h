// The method PF of seed 002: an arena as few flat polygons. The planes of the cloud (planes.h), each
// bordered by its intersections with the planes beside it, or, where nothing is beside it, by where
// its points end; then triangles.
#pragma once

#include <cstdint>

#include "volvox/scan/cloud.h"
#include "volvox/scan/planes.h"

namespace volvox::scan {

struct PlaneFittingOptions {
  std::uint64_t seed = 1;
  double noise = 0;  // of the points, m; 0: estimated
};

struct PlaneModel {
  PlaneSet set;
  TriangleMesh mesh;
};

// `cloud` as prepare() gives it.
PlaneModel fit_planes(const Cloud& cloud, const PlaneFittingOptions& options);

}  // namespace volvox::scan
