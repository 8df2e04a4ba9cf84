// Anti-aliasing of a finished image, after FXAA (Lottes 2009): a pixel at an edge is blended with its
// neighbour across the edge, by an amount that follows from the position in the edge's run of steps. With
// a software renderer it takes a fifth of the time of four samples per pixel.
// One thread a smoother. Whole numbers: the same on every machine.
#pragma once

#include "volvox/view/render_engine.h"

namespace volvox::view::picture {

class EdgeSmoother {
 public:
  void smooth(Image& image);

 private:
  // Reused from image to image, because allocating them would cost as much as the work.
  std::vector<std::int16_t> luma_;
  std::vector<std::uint8_t> contrasts_, above_, here_;
};

}  // namespace volvox::view::picture
