// Anti-aliasing of a finished picture, after FXAA (Lottes 2009): a pixel at an edge is blended with its neighbour
// across the edge, by an amount that follows from the position in the edge's run of steps. Whole numbers: the same on
// every machine and at any number of threads. One call a smoother at a time.
#pragma once

#include <span>

#include "volvox/base/thread_pool.h"
#include "volvox/view/render_engine.h"

namespace volvox::view::picture {

// Pixels as in Scene::colors.
Image image_of(std::span<const std::uint32_t> colors, int width, int height);

// Into the pixels of a row (three bytes each), which are already there as they are without it. `luma`: the brightness
// of all pixels, 0 to 1020; `found`: room for as many numbers as the row has pixels, and 32. Not for the first and last
// row.
void smooth_row(const std::uint32_t* colors, const std::int32_t* luma, int width, int height, int y,
                std::int32_t* found, std::uint8_t* pixels);

class EdgeSmoother {
 public:
  Image smoothed(std::span<const std::uint32_t> colors, int width, int height, ThreadPool* threads);

 private:
  std::vector<std::int32_t> luma_;  // reused from image to image, because allocating it would cost as much as the work
};

}  // namespace volvox::view::picture
