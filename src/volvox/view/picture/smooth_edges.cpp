#include "volvox/view/picture/smooth_edges.h"

#include <algorithm>
#include <cstdlib>

namespace volvox::view::picture {
namespace {

using Light = std::int16_t;  // of a pixel: 0 to 1020

constexpr int least_contrast = 42;    // less is not seen
constexpr int least_part = 8;         // and less than this part of the brightest
constexpr int longest_run = 8;        // pixels, to each end of a step
constexpr float most_of_specks = 0.5f;  // how far a lone pixel goes over to its neighbours

std::vector<Light> lights_of(const Image& image) {
  std::vector<Light> lights(image.pixels.size() / 3);
  const std::uint8_t* p = image.pixels.data();
  for (std::size_t i = 0; i < lights.size(); ++i, p += 3) lights[i] = static_cast<Light>(p[0] + 2 * p[1] + p[2]);
  return lights;
}

// Which pixels of a row stand out from their four neighbours; plain arithmetic, many at a time.
void find_contrasts(const Light* row, std::ptrdiff_t width, std::vector<std::uint8_t>& contrasts) {
  for (std::ptrdiff_t x = 1; x < width - 1; ++x) {
    const Light* m = row + x;
    const Light low = std::min({m[0], m[-1], m[1], m[-width], m[width]}), high = std::max({m[0], m[-1], m[1], m[-width], m[width]});
    const int needed = std::max(least_contrast, high / least_part);
    contrasts[static_cast<std::size_t>(x)] = high - low > needed;
  }
}

struct Blend {
  std::ptrdiff_t with = 0;  // the pixel across the edge, relative to this one
  float part = 0;           // of it
};

// `room`: pixels to the image's rim, along x and y.
Blend blend_at(const Light* m, std::ptrdiff_t width, std::array<int, 4> room) {
  const int n = m[-width], s = m[width], w = m[-1], e = m[1], nw = m[-width - 1], ne = m[-width + 1], sw = m[width - 1], se = m[width + 1];
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
  float part = 0;
  if ((change[nearer] < 0) != (2 * m[0] - middle < 0)) part = 0.5f - static_cast<float>(length[nearer]) / static_cast<float>(length[0] + length[1]);

  const int high = std::max({n, s, e, w, static_cast<int>(m[0])}), low = std::min({n, s, e, w, static_cast<int>(m[0])});
  const float around = static_cast<float>(2 * (n + s + e + w) + nw + ne + sw + se) / 12;
  const float speck = std::min(1.0f, std::abs(around - static_cast<float>(m[0])) / static_cast<float>(high - low));
  const float smooth = speck * speck * (3 - 2 * speck);
  return {side, std::max(part, most_of_specks * smooth * smooth)};
}

}  // namespace

void smooth_edges(Image& image) {
  const std::ptrdiff_t width = image.width, height = image.height;
  const std::vector<Light> lights = lights_of(image);
  const std::vector<std::uint8_t> before = image.pixels;
  std::vector<std::uint8_t> contrasts(static_cast<std::size_t>(width));
  for (std::ptrdiff_t y = 1; y < height - 1; ++y) {
    const Light* row = lights.data() + y * width;
    find_contrasts(row, width, contrasts);
    for (std::ptrdiff_t x = 1; x < width - 1; ++x) {
      if (contrasts[static_cast<std::size_t>(x)] == 0) continue;
      const Blend blend = blend_at(row + x, width, {static_cast<int>(width - 1 - x), static_cast<int>(x), static_cast<int>(height - 1 - y), static_cast<int>(y)});
      if (blend.part <= 0) continue;
      const std::uint8_t* own = &before[static_cast<std::size_t>(3 * (y * width + x))];
      const std::uint8_t* other = own + 3 * blend.with;
      std::uint8_t* to = &image.pixels[static_cast<std::size_t>(3 * (y * width + x))];
      for (int c = 0; c < 3; ++c) to[c] = static_cast<std::uint8_t>(static_cast<float>(own[c]) + blend.part * static_cast<float>(other[c] - own[c]) + 0.5f);
    }
  }
}

}  // namespace volvox::view::picture
