#include "volvox/view/picture/smooth_edges.h"

#include <algorithm>
#include <cstdlib>

namespace volvox::view::picture {
namespace {

using Light = std::int16_t;  // of a pixel: 0 to 1020

constexpr Light least_contrast = 60;  // less is hardly seen
constexpr int most_of_brightest = 6;  // nor is less than this part of the brightest
constexpr int longest_run = 12;       // pixels, to each end of a step
constexpr int whole = 256;            // a blend is a part of this
constexpr int most_of_specks = 128;   // how far a lone pixel goes over to its neighbours

void find_lights(const Image& image, std::vector<Light>& lights) {
  lights.resize(image.pixels.size() / 3);
  const std::uint8_t* p = image.pixels.data();
  for (std::size_t i = 0; i < lights.size(); ++i, p += 3) lights[i] = static_cast<Light>(p[0] + 2 * p[1] + p[2]);
}

// Which pixels of a row stand out from their four neighbours; plain arithmetic, many at a time.
void find_contrasts(const Light* __restrict row, std::ptrdiff_t width, std::uint8_t* __restrict to) {
  for (std::ptrdiff_t x = 1; x < width - 1; ++x) {
    const Light* m = row + x;
    const Light low = std::min(std::min(std::min(m[-1], m[1]), std::min(m[-width], m[width])), m[0]);
    const Light high = std::max(std::max(std::max(m[-1], m[1]), std::max(m[-width], m[width])), m[0]);
    const Light contrast = static_cast<Light>(high - low);
    to[x] = static_cast<std::uint8_t>((contrast > least_contrast) &
                                      (static_cast<Light>(contrast * most_of_brightest) > high));
  }
}

struct Blend {
  std::ptrdiff_t with = 0;  // the pixel across the edge, relative to this one
  int part = 0;             // of it
};

// `room`: pixels to the image's rim, along x and y.
Blend blend_at(const Light* m, std::ptrdiff_t width, std::array<int, 4> room) {
  const int n = m[-width], s = m[width], w = m[-1], e = m[1], nw = m[-width - 1], ne = m[-width + 1], sw = m[width - 1],
            se = m[width + 1];
  const int bent_down = std::abs(nw + sw - 2 * w) + 2 * std::abs(n + s - 2 * m[0]) + std::abs(ne + se - 2 * e);
  const int bent_right = std::abs(nw + ne - 2 * n) + 2 * std::abs(w + e - 2 * m[0]) + std::abs(sw + se - 2 * s);
  const bool level = bent_down >= bent_right;  // the edge runs along the row
  const std::ptrdiff_t across = level ? width : 1, along = level ? 1 : width;
  const int before = std::abs(m[-across] - m[0]), after = std::abs(m[across] - m[0]);
  const std::ptrdiff_t side = before >= after ? -across : across;
  const int step = std::max(before, after), middle = m[0] + m[side];

  // To both ends of the run: where the pair across the edge is no longer as it is here.
  int length[2], change[2];
  for (const int way : {0, 1}) {
    const std::ptrdiff_t by = way == 0 ? along : -along;
    const int most = std::min(longest_run, room[static_cast<std::size_t>((level ? 0 : 2) + way)]);
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

  const int high = std::max(std::max(std::max(n, s), std::max(e, w)), static_cast<int>(m[0])),
            low = std::min(std::min(std::min(n, s), std::min(e, w)), static_cast<int>(m[0]));
  const int around = (2 * (n + s + e + w) + nw + ne + sw + se) / 12;
  const int speck = std::min(whole, whole * std::abs(around - m[0]) / (high - low));
  const int smooth = speck * speck / whole * (3 * whole - 2 * speck) / whole;
  return {side, std::max(part, most_of_specks * smooth / whole * smooth / whole)};
}

}  // namespace

void EdgeSmoother::smooth(Image& image) {
  const std::ptrdiff_t width = image.width, height = image.height;
  find_lights(image, lights_);
  contrasts_.resize(static_cast<std::size_t>(width));
  // As they were: the row before, and this one. The next is still as it was.
  const auto row_bytes = static_cast<std::size_t>(3 * width);
  above_.assign(image.pixels.begin(), image.pixels.begin() + static_cast<std::ptrdiff_t>(row_bytes));
  for (std::ptrdiff_t y = 1; y < height - 1; ++y) {
    std::uint8_t* pixels = &image.pixels[static_cast<std::size_t>(y) * row_bytes];
    here_.assign(pixels, pixels + row_bytes);
    const Light* row = lights_.data() + y * width;
    find_contrasts(row, width, contrasts_.data());
    for (std::ptrdiff_t x = 1; x < width - 1; ++x) {
      if (contrasts_[static_cast<std::size_t>(x)] == 0) continue;
      const Blend blend = blend_at(row + x, width,
                                   {static_cast<int>(width - 1 - x), static_cast<int>(x),
                                    static_cast<int>(height - 1 - y), static_cast<int>(y)});
      if (blend.part == 0) continue;
      const std::uint8_t* own = here_.data() + 3 * x;
      const std::uint8_t* other = blend.with == -width  ? above_.data() + 3 * x
                                  : blend.with == width ? pixels + row_bytes + 3 * x
                                                        : own + 3 * blend.with;
      for (int c = 0; c < 3; ++c)
        pixels[3 * x + c] = static_cast<std::uint8_t>(own[c] + (blend.part * (other[c] - own[c]) + whole / 2) / whole);
    }
    std::swap(above_, here_);
  }
}

}  // namespace volvox::view::picture
