// The loops of the smoother of edges, over n pixels side by side: see smooth_edges.h and raster_kernel.h.
// Whole numbers, rows that any thread may take: the same on every machine.
#pragma once

#include "volvox/view/picture/lanes_kernel.h"

namespace volvox::view::picture {

inline constexpr int least_contrast = 60;   // a smaller contrast is hardly visible
inline constexpr int contrast_ratio = 6;    // nor is a contrast below one sixth of the brightest pixel
inline constexpr int longest_run = 12;      // pixels, to each end of a step
inline constexpr int whole = 256;           // blends are fixed-point numbers: 256 is 1
inline constexpr int most_of_specks = 128;  // the largest blend of a single bright or dark pixel

template <int n>
VOLVOX_KERNEL Whole<n> lowest(const Whole<n>& a, const Whole<n>& b) {
  return a < b ? a : b;
}
template <int n>
VOLVOX_KERNEL Whole<n> highest(const Whole<n>& a, const Whole<n>& b) {
  return a > b ? a : b;
}
template <int n>
VOLVOX_KERNEL Whole<n> distance_to_zero(const Whole<n>& a) {
  return a < 0 ? -a : a;
}
// Of numbers whose quotient a float does not round up to a whole number: below 2^18, by less than 2^11.
template <int n>
VOLVOX_KERNEL Whole<n> quotient(const Whole<n>& a, const Whole<n>& b) {
  return truncated_lanes<n>(numbers<n>(a) / numbers<n>(b));
}
template <int n>
VOLVOX_KERNEL Whole<n> gather_whole(const std::int32_t* base, const Whole<n>& index) {
  return reinterpret_cast<Whole<n>>(gather<n, 1>(reinterpret_cast<const float*>(base), index).v);
}

// The pixels of a row, from its second to the last but one, that differ from their four neighbours; returns how many.
template <int n>
VOLVOX_KERNEL int find_contrasts(const std::int32_t* row, int width, std::int32_t* found) {
  int count = 0;
  const auto at = [&](const std::int32_t* p)
                      VOLVOX_INLINED { return load_whole<n>(reinterpret_cast<const std::uint32_t*>(p)); };
  for (int x = 1; x < width - 1; x += n) {
    const std::int32_t* m = row + x;
    const Whole<n> own = at(m), a = at(m - 1), b = at(m + 1), c = at(m - width), d = at(m + width);
    const Whole<n> low = lowest<n>(lowest<n>(lowest<n>(a, b), lowest<n>(c, d)), own),
                   high = highest<n>(highest<n>(highest<n>(a, b), highest<n>(c, d)), own), contrast = high - low;
    const Whole<n> marked =
        (contrast > least_contrast) & (contrast * contrast_ratio > high) & (count_up<n>() < width - 1 - x);
    if (!any(marked)) continue;
    for (int k = 0; k < n; ++k) {
      found[count] = x + k;
      count -= marked[k];  // -1 where it is one
    }
  }
  return count;
}

// How much of which neighbour each of n pixels takes, as FXAA has it.
template <int n>
VOLVOX_KERNEL void find_blends(const std::int32_t* luma, int width, int height, int y, const Whole<n>& x,
                               Whole<n>& with, Whole<n>& part) {
  using I = Whole<n>;
  const I at = x + y * width;
  const auto pixel = [&](const I& where) VOLVOX_INLINED { return gather_whole<n>(luma, where); };
  const I own = pixel(at), north = pixel(at - width), south = pixel(at + width), west = pixel(at - 1),
          east = pixel(at + 1), nw = pixel(at - width - 1), ne = pixel(at - width + 1), sw = pixel(at + width - 1),
          se = pixel(at + width + 1);
  const auto size = [](const I& a) VOLVOX_INLINED { return distance_to_zero<n>(a); };
  const I bent_down = size(nw + sw - 2 * west) + 2 * size(north + south - 2 * own) + size(ne + se - 2 * east);
  const I bent_right = size(nw + ne - 2 * north) + 2 * size(west + east - 2 * own) + size(sw + se - 2 * south);
  const I level = bent_down >= bent_right;  // the edge runs along the row
  const I above = level ? north : west, below = level ? south : east;
  const I across = level ? same<n>(width) : same<n>(1), along = level ? same<n>(1) : same<n>(width);
  const I before = size(above - own), after = size(below - own), earlier = before >= after;
  const I side = earlier ? -across : across, step = earlier ? before : after, middle = own + (earlier ? above : below);

  // Search both ends of the run, where the brightness of the pair across the edge changes.
  I length[2], change[2];
  for (const int way : {0, 1}) {
    const I room = level ? (way == 0 ? width - 1 - x : x) : (way == 0 ? same<n>(height - 1 - y) : same<n>(y));
    const I most = lowest<n>(same<n>(longest_run), room), by = way == 0 ? along : -along;
    I searching = same<n>(-1);
    length[way] = same<n>(1), change[way] = same<n>(0);
    for (int k = 1; k <= longest_run; ++k) {
      searching &= most >= k;
      if (!any(searching)) break;
      const I there = searching ? at + by * k : at;
      const I now = pixel(there) + pixel(there + side) - middle;
      change[way] = searching ? now : change[way];
      searching &= 2 * size(now) < step;
      length[way] -= searching;
    }
  }
  const I first = length[0] <= length[1], nearer = first ? length[0] : length[1],
          of_nearer = first ? change[0] : change[1];
  const I crosses = (of_nearer < 0) != (2 * own - middle < 0);
  part = crosses ? whole / 2 - quotient<n>(whole * nearer, length[0] + length[1]) : same<n>(0);

  const I high = highest<n>(highest<n>(highest<n>(north, south), highest<n>(east, west)), own),
          low = lowest<n>(lowest<n>(lowest<n>(north, south), lowest<n>(east, west)), own);
  const I around = quotient<n>(2 * (north + south + east + west) + nw + ne + sw + se, same<n>(12));
  const I speck = lowest<n>(same<n>(whole), quotient<n>(whole * size(around - own), high - low));
  const I smooth = (((speck * speck) >> 8) * (3 * whole - 2 * speck)) >> 8;
  part = highest<n>(part, (((most_of_specks * smooth) >> 8) * smooth) >> 8);
  with = side;
}

template <int n>
void smooth_row_lanes(const std::uint32_t* colors, const std::int32_t* luma, int width, int height, int y,
                      std::int32_t* found, std::uint8_t* pixels) {
  const int count = find_contrasts<n>(luma + std::ptrdiff_t{1} * y * width, width, found);
  for (int k = 0; k < n; ++k) found[count + k] = found[count > 0 ? count - 1 : 0];  // lanes beyond the last do it again
  const std::uint32_t* own = colors + std::ptrdiff_t{1} * y * width;
  for (int i = 0; i < count; i += n) {
    Whole<n> with, part;
    find_blends<n>(luma, width, height, y, load_whole<n>(reinterpret_cast<const std::uint32_t*>(found + i)), with,
                   part);
    for (int k = 0; k < n; ++k) {
      if (part[k] == 0) continue;
      const int x = found[i + k];
      const std::uint32_t before = own[x], other = own[x + with[k]];
      for (int c = 0; c < 3; ++c) {
        const int mine = static_cast<int>(before >> (8 * c) & 255), across = static_cast<int>(other >> (8 * c) & 255);
        pixels[3 * x + c] = static_cast<std::uint8_t>(mine + (part[k] * (across - mine) + whole / 2) / whole);
      }
    }
  }
}

}  // namespace volvox::view::picture
