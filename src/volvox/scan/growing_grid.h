// The growing grid (Fritzke 1995, as used in seed 002): a rectangular grid of nodes that learns a surface. It
// grows by whole rows and columns beside the most frequent winner, and is fine-tuned afterwards. Metres; the same
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
  // Between insertions of a row or column: so many for each node, but not more than `most_signals`, and at least
  // `least_a_node` for each node of a large grid. Seed 002 derives this number "from the actual network size" and gives
  // three sizes: 210, 576 and 13,860 triangles after 50,000, 200,000 and 2,000,000 signals. These numbers fit them.
  double signals_a_node = 48, most_signals = 12'800, least_a_node = 1.8;
  double tuning_signals_a_node = 60;
  double growing_step = 0.1, last_step = 0.005;  // learning rates, while growing and at the end of fine-tuning
  double radius = 0.9;                           // of the neighbourhood kernel, in steps of the grid
  bool sharpen = true;                           // moves nodes to near planes, edges and corners
  // Grows beside the neighbour that won most often, as seed 002 has it; otherwise beside the farthest one, as Fritzke
  // does, which leaves fewer long edges.
  bool by_wins = false;
};

// `cloud`: the result of prepare(); `planes`: of the same cloud.
TriangleMesh build_growing_grid(const Cloud& cloud, const PlaneSet& planes, const GrowingGridOptions& options,
                                const Progress& progress = {});

}  // namespace volvox::scan
