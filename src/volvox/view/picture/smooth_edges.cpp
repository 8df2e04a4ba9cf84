#include "volvox/view/picture/smooth_edges.h"

#include <algorithm>
#include <cstdlib>

#include "volvox/base/index.h"

namespace volvox::view::picture {
namespace {

using Luma = std::int16_t;  // brightness of a pixel: 0 to 1020

constexpr Luma least_contrast = 60;  // a smaller contrast is hardly visible
constexpr int contrast_ratio = 6;    // nor is a contrast below one sixth of the brightest pixel
constexpr int longest_run = 12;      // pixels, to each end of a step
constexpr int whole = 256;           // blends are fixed-point numbers: 256 is 1
constexpr int most_of_specks = 128;  // the largest blend of a single bright or dark pixel

void compute_luma(const std::uint32_t* __restrict colors, std::size_t count, Luma* __restrict luma) {
  for (std::size_t i = 0; i < count; ++i)
    luma[i] = static_cast<Luma>((colors[i] & 255) + 2 * (colors[i] >> 8 & 255) + (colors[i] >> 16 & 255));
}

void copy_row(const std::uint32_t* __restrict colors, int width, std::uint8_t* __restrict to) {
  for (int x = 0; x < width; ++x) {
    to[3 * x] = static_cast<std::uint8_t>(colors[x]);
    to[3 * x + 1] = static_cast<std::uint8_t>(colors[x] >> 8);
    to[3 * x + 2] = static_cast<std::uint8_t>(colors[x] >> 16);
  }
}

// Marks the pixels of a row that differ from their four neighbours. Written without branches, so that compilers
// vectorise it.
void mark_contrasts(const Luma* __restrict row, std::ptrdiff_t width, std::uint8_t* __restrict to) {
  for (std::ptrdiff_t x = 1; x < width - 1; ++x) {
    const Luma* m = row + x;
    const Luma low = std::min(std::min(std::min(m[-1], m[1]), std::min(m[-width], m[width])), m[0]);
    const Luma high = std::max(std::max(std::max(m[-1], m[1]), std::max(m[-width], m[width])), m[0]);
    const Luma contrast = narrow<Luma>(high - low);
    to[x] = (contrast > least_contrast) & (narrow<Luma>(contrast * contrast_ratio) > high);
  }
}

struct Blend {
  std::ptrdiff_t with = 0;  // the pixel across the edge, relative to this one
  int part = 0;             // its weight, of `whole`
};

// `room`: pixels to the edges of the image along +x, -x, +y and -y.
Blend blend_at(const Luma* m, std::ptrdiff_t width, std::array<int, 4> room) {
  const int c = m[0], n = m[-width], s = m[width], w = m[-1], e = m[1], nw = m[-width - 1], ne = m[-width + 1],
            sw = m[width - 1], se = m[width + 1];
  const int bent_down = std::abs(nw + sw - 2 * w) + 2 * std::abs(n + s - 2 * m[0]) + std::abs(ne + se - 2 * e);
  const int bent_right = std::abs(nw + ne - 2 * n) + 2 * std::abs(w + e - 2 * m[0]) + std::abs(sw + se - 2 * s);
  const bool level = bent_down >= bent_right;  // the edge runs along the row
  const std::ptrdiff_t across = level ? width : 1, along = level ? 1 : width;
  const int before = std::abs(m[-across] - m[0]), after = std::abs(m[across] - m[0]);
  const std::ptrdiff_t side = before >= after ? -across : across;
  const int step = std::max(before, after), middle = m[0] + m[side];

  // Search both ends of the run, where the brightness of the pair across the edge changes.
  int length[2], change[2];
  for (const int way : {0, 1}) {
    const std::ptrdiff_t by = way == 0 ? along : -along;
    const int most = std::min(longest_run, room[(level ? 0 : 2) + way]);
    int& k = length[way];
    for (k = 1, change[way] = 0; k <= most; ++k) {
      change[way] = m[k * by] + m[side + k * by] - middle;
      if (2 * std::abs(change[way]) >= step) break;
    }
  }
  const int nearer = length[0] <= length[1] ? 0 : 1;
  int part = 0;
  if ((change[nearer] < 0) != (2 * m[0] - middle < 0))
    part = whole / 2 - whole * length[nearer] / (length[0] + length[1]);

  const int high = std::max({n, s, e, w, c}), low = std::min({n, s, e, w, c});
  const int around = (2 * (n + s + e + w) + nw + ne + sw + se) / 12;
  const int speck = std::min(whole, whole * std::abs(around - m[0]) / (high - low));
  const int smooth = speck * speck / whole * (3 * whole - 2 * speck) / whole;
  return {side, std::max(part, most_of_specks * smooth / whole * smooth / whole)};
}

}  // namespace

Image image_of(std::span<const std::uint32_t> colors, int width, int height) {
  Image image{width, height, std::vector<std::uint8_t>(3 * colors.size())};
  copy_row(colors.data(), narrow<int>(colors.size()), image.pixels.data());
  return image;
}

Image EdgeSmoother::smoothed(std::span<const std::uint32_t> colors, int width, int height, ThreadPool* threads) {
  constexpr int band = 16;  // rows
  const std::size_t bands = std::size_t((height + band - 1) / band);
  const auto row_of = [&](int y) { return std::size_t(y) * std::size_t(width); };
  luma_.resize(colors.size());
  parallel_for(threads, bands, 2, [&](std::size_t b) {
    const int y0 = narrow<int>(b) * band, y1 = std::min(y0 + band, height);
    compute_luma(colors.data() + row_of(y0), row_of(y1) - row_of(y0), luma_.data() + row_of(y0));
  });
  Image image{width, height, std::vector<std::uint8_t>(3 * colors.size())};
  parallel_for(threads, bands, 1, [&](std::size_t b) {
    std::vector<std::uint8_t> contrasts(std::size_t(width), 0);
    for (int y = narrow<int>(b) * band; y < std::min(narrow<int>(b + 1) * band, height); ++y) {
      const std::uint32_t* own = colors.data() + row_of(y);
      std::uint8_t* pixels = image.pixels.data() + 3 * row_of(y);
      copy_row(own, width, pixels);
      if (y == 0 || y == height - 1) continue;
      const Luma* row = luma_.data() + row_of(y);
      mark_contrasts(row, width, contrasts.data());
      for (int x = 1; x < width - 1; ++x) {
        if (contrasts[std::size_t(x)] == 0) continue;
        const Blend blend = blend_at(row + x, width, {width - 1 - x, x, height - 1 - y, y});
        if (blend.part == 0) continue;
        const std::uint32_t other = own[x + blend.with];
        for (int c = 0; c < 3; ++c) {
          const int before = narrow<int>(own[x] >> (8 * c) & 255), across = narrow<int>(other >> (8 * c) & 255);
          pixels[3 * x + c] = narrow<std::uint8_t>(before + (blend.part * (across - before) + whole / 2) / whole);
        }
      }
    }
  });
  return image;
}

}  // namespace volvox::view::picture
