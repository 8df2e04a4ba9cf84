// The growing grid (Fritzke 1995, as seed 002 uses it): a rectangular net of nodes that learns a
// surface, growing by whole rows and columns where it is hit most, and is then fine-tuned.
#pragma once

#include <cstdint>

#include "volvox/scan/cloud.h"
#include "volvox/scan/evaluate.h"
#include "volvox/scan/planes.h"

namespace volvox::scan {

struct GrowingGridOptions {
  std::uint64_t seed = 1;
  std::size_t triangles = 13'860;  // where it stops growing
  std::size_t steps = 0;           // or after so many signals of growth; 0: no limit
  double signals_a_node = 5;       // before the grid grows by a row or a column
  double tuning_signals_a_node = 60;
  double growing_step = 0.1, last_step = 0.005;  // parts of the way to a signal
  double radius = 0.9;                           // of the neighbourhood that moves along, in steps of the grid
  bool sharpen = true;                           // nodes to planes, edges and corners that they are near
};

// `cloud` as prepare() gives it, `planes` of the same cloud.
TriangleMesh build_growing_grid(const Cloud& cloud, const PlaneSet& planes, const GrowingGridOptions& options,
                                const Progress& progress = {});

}  // namespace volvox::scan
