// The growing grid (Fritzke 1995, as used in seed 002): a rectangular grid of nodes that learns a surface. It
// grows by whole rows and columns next to the most frequent winner, and is fine-tuned afterwards. Metres; the same
// seed gives the same bits.
#pragma once

#include <cstdint>

#include "volvox/scan/cloud.h"
#include "volvox/scan/evaluate.h"
#include "volvox/scan/planes.h"

namespace volvox::scan {

struct GrowingGridOptions {
  std::uint64_t seed = 1;
  std::size_t triangles = 13'860;  // where it stops growing
  std::size_t steps = 0;           // or after this number of growth signals; 0: no limit
  double signals_a_node = 5;       // between insertions of a row or column
  double tuning_signals_a_node = 60;
  double growing_step = 0.1, last_step = 0.005;  // learning rates, while growing and at the end of fine-tuning
  double radius = 0.9;                           // of the neighbourhood kernel, in steps of the grid
  bool sharpen = true;                           // moves nodes to near planes, edges and corners
};

// `cloud`: the result of prepare(); `planes`: of the same cloud.
TriangleMesh build_growing_grid(const Cloud& cloud, const PlaneSet& planes, const GrowingGridOptions& options,
                                const Progress& progress = {});

}  // namespace volvox::scan
