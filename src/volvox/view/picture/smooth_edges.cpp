#include "volvox/view/picture/smooth_edges.h"

#include <algorithm>
#include <cstdlib>

#include "volvox/base/index.h"

namespace volvox::view::picture {
namespace {

void compute_luma(const std::uint32_t* __restrict colors, std::size_t count, std::int32_t* __restrict luma) {
  for (std::size_t i = 0; i < count; ++i)
    luma[i] = static_cast<std::int32_t>((colors[i] & 255) + 2 * (colors[i] >> 8 & 255) + (colors[i] >> 16 & 255));
}

void copy_row(const std::uint32_t* __restrict colors, int width, std::uint8_t* __restrict to) {
  for (int x = 0; x < width; ++x) {
    to[3 * x] = static_cast<std::uint8_t>(colors[x]);
    to[3 * x + 1] = static_cast<std::uint8_t>(colors[x] >> 8);
    to[3 * x + 2] = static_cast<std::uint8_t>(colors[x] >> 16);
  }
}

}  // namespace

Image image_of(std::span<const std::uint32_t> colors, int width, int height) {
  Image image{width, height, std::vector<std::uint8_t>(3 * colors.size())};
  copy_row(colors.data(), narrow<int>(colors.size()), image.pixels.data());
  return image;
}

Image EdgeSmoother::smoothed(std::span<const std::uint32_t> colors, int width, int height, ThreadPool* threads) {
  constexpr int band = 16;  // rows
  const std::size_t bands = (height + band - 1) / band;
  const auto row_of = [&](int y) { return std::size_t{1} * y * width; };
  luma_.resize(colors.size() + 32);  // the last lanes of a row reach beyond it
  parallel_for(threads, bands, 2, [&](std::size_t b) {
    const int y0 = narrow<int>(b) * band, y1 = std::min(y0 + band, height);
    compute_luma(colors.data() + row_of(y0), row_of(y1) - row_of(y0), luma_.data() + row_of(y0));
  });
  Image image{width, height, std::vector<std::uint8_t>(3 * colors.size())};
  parallel_for(threads, bands, 1, [&](std::size_t b) {
    std::vector<std::int32_t> found(std::size_t{1} * width + 32);
    for (int y = narrow<int>(b) * band; y < std::min(narrow<int>(b + 1) * band, height); ++y) {
      std::uint8_t* pixels = image.pixels.data() + 3 * row_of(y);
      copy_row(colors.data() + row_of(y), width, pixels);
      if (y > 0 && y < height - 1) smooth_row(colors.data(), luma_.data(), width, height, y, found.data(), pixels);
    }
  });
  return image;
}

}  // namespace volvox::view::picture
