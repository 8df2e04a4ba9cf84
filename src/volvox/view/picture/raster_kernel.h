// The loops of the rasteriser, over n samples side by side. Included by one file for each instruction set, after
// raster_surroundings.h. raster.h says what is drawn, units and threads.
#pragma once

#include "volvox/view/picture/light_kernel.h"

namespace volvox::view::picture {

inline constexpr int tile_row = tile_side + 16;  // what is covered beyond the end of a row is never looked at
inline constexpr std::uint32_t no_triangle = 0xffffffffu;

// The triangle's edges and depth over the samples from (x0, y0) on. An edge is the signed area that a sample spans with
// it, in steps of 1/256 sample times a sample: negative outside. Whole numbers, exact within a tile.
struct Edges {
  std::int32_t start[3], along[3], down[3];
  float depth, depth_along, depth_down, least, most;
};

VOLVOX_KERNEL Edges edges_of(const Corner& a, const Corner& b, const Corner& c, int x0, int y0) {
  Edges e;
  const Corner* corners[4] = {&a, &b, &c, &a};
  const std::int32_t px = x0 * subsamples + subsamples / 2, py = y0 * subsamples + subsamples / 2;
  constexpr std::int64_t far = 900'000'000;  // it keeps its sign within the tile
  for (int i = 0; i < 3; ++i) {
    const Corner &from = *corners[i], &to = *corners[i + 1];
    const std::int32_t dx = to.x - from.x, dy = to.y - from.y;
    const bool owns_edge = dy < 0 || (dy == 0 && dx > 0);  // a left or upper edge
    const std::int64_t area = std::int64_t{dx} * (py - from.y) - std::int64_t{dy} * (px - from.x) - (owns_edge ? 0 : 1);
    const std::int64_t steps = area >> 8;
    e.start[i] = static_cast<std::int32_t>(steps < -far ? -far : steps > far ? far : steps);
    e.along[i] = -dy;
    e.down[i] = dx;
  }
  // Exact: that of a sliver is small beside its products.
  const std::int64_t whole_area = std::int64_t{b.x - a.x} * (c.y - a.y) - std::int64_t{b.y - a.y} * (c.x - a.x);
  const float bx = as_float(b.x - a.x), by = as_float(b.y - a.y), cx = as_float(c.x - a.x), cy = as_float(c.y - a.y);
  const float scale = as_float(subsamples) / as_float(whole_area), db = b.depth - a.depth, dc = c.depth - a.depth;
  e.depth_along = (db * cy - dc * by) * scale;
  e.depth_down = (dc * bx - db * cx) * scale;
  e.depth = a.depth + (e.depth_along * as_float(px - a.x) + e.depth_down * as_float(py - a.y)) * (1.0f / subsamples);
  // At the middle of a sample that a sliver covers just so, rounding would lead anywhere.
  e.least = a.depth < b.depth ? a.depth : b.depth;
  e.least = c.depth < e.least ? c.depth : e.least;
  e.most = a.depth > b.depth ? a.depth : b.depth;
  e.most = c.depth > e.most ? c.depth : e.most;
  return e;
}

struct SampleRange {
  int x0, x1, y0, y1;  // first and last
};
// The samples of a tile that the triangle's box covers.
VOLVOX_KERNEL SampleRange samples_in(const Corner& a, const Corner& b, const Corner& c, int left, int top, int width,
                                     int height) {
  const auto lowest = [](int p, int q, int r) { return p < q ? (p < r ? p : r) : (q < r ? q : r); };
  const auto highest = [](int p, int q, int r) { return p > q ? (p > r ? p : r) : (q > r ? q : r); };
  const auto first = [](int p) { return (p + subsamples / 2 - 1) >> 8; };
  const auto last = [](int p) { return (p - subsamples / 2) >> 8; };
  return {highest(first(lowest(a.x, b.x, c.x)), left, left),
          lowest(last(highest(a.x, b.x, c.x)), left + width - 1, left + width - 1),
          highest(first(lowest(a.y, b.y, c.y)), top, top),
          lowest(last(highest(a.y, b.y, c.y)), top + height - 1, top + height - 1)};
}

// Nearer by so much: `shift`, and `slopes` times the change of depth over a sample.
struct Raised {
  float slopes = 0, shift = 0;
};
// Calls at(offset in a tile of rows of tile_row, first sample's x and y, lanes covered, depths) for the samples of a
// triangle's box, n at a time; lanes may lie beyond the end of a row.
template <int n, class At>
VOLVOX_KERNEL void cover(const Corner& a, const Corner& b, const Corner& c, int left, int top, int width, int height,
                         Raised raised, const At& at) {
  const SampleRange range = samples_in(a, b, c, left, top, width, height);
  if (range.x0 > range.x1 || range.y0 > range.y1) return;
  const Edges e = edges_of(a, b, c, range.x0, range.y0);
  const float along = e.depth_along < 0 ? -e.depth_along : e.depth_along,
              down = e.depth_down < 0 ? -e.depth_down : e.depth_down,
              nearer = raised.slopes * (along > down ? along : down) + raised.shift;
  const Whole<n> step = count_up<n>();
  Whole<n> edge0 = step * e.along[0] + e.start[0], edge1 = step * e.along[1] + e.start[1],
           edge2 = step * e.along[2] + e.start[2];
  const Number<n> least = e.least + nearer, most = e.most + nearer;
  float depth = e.depth + nearer;  // of the row's first sample
  for (int y = range.y0; y <= range.y1; ++y) {
    Whole<n> inside0 = edge0, inside1 = edge1, inside2 = edge2;
    Number<n> column = numbers<n>(step);
    for (int x = range.x0; x <= range.x1; x += n) {
      const Whole<n> covered = (inside0 | inside1 | inside2) >= 0;
      at((y - top) * tile_row + x - left, x, y, covered, bounded(column * e.depth_along + depth, least, most));
      inside0 += e.along[0] * n, inside1 += e.along[1] * n, inside2 += e.along[2] * n;
      column = column + as_float(n);
    }
    edge0 += e.down[0], edge1 += e.down[1], edge2 += e.down[2];
    depth += e.depth_down;
  }
}

// A tile in memory: rows of tile_row samples.
struct TileSamples {
  int left, top, width, height;  // of the tile, in samples
  alignas(64) float depths[tile_side * tile_row];
  alignas(64) std::uint32_t seen[tile_side * tile_row];  // chunk in the highest byte, triangle below
  alignas(64) std::uint32_t colors[tile_side * tile_row];

  VOLVOX_KERNEL void place(const TileGrid& grid, int tile) {
    left = tile % grid.columns() * tile_side, top = tile / grid.columns() * tile_side;
    width = grid.width - left < tile_side ? grid.width - left : tile_side;
    height = grid.height - top < tile_side ? grid.height - top : tile_side;
  }
};

template <class Work>
VOLVOX_KERNEL void for_each_triangle(const TriangleList& list, int tile, const Work& work) {
  for (std::uint32_t chunk = 0; chunk < list.chunks.size(); ++chunk) {
    const TriangleChunk& in = list.chunks[chunk];
    if (in.triangles.empty()) continue;
    for (std::uint32_t i = in.first[tile]; i < in.first[tile + 1]; ++i)
      work(in, chunk << 24 | in.sorted[i], in.triangles[in.sorted[i]]);
  }
}

// What is seen at each sample of a tile.
template <int n>
__attribute__((noinline)) void find_seen(const TriangleList& list, int tile, float nothing, Raised raised,
                                         TileSamples& to) {
  for (int y = 0; y < to.height; ++y)
    for (int x = 0; x < tile_row; x += n) {
      store<n>(to.depths + y * tile_row + x, Number<n>(nothing));
      store_whole<n>(to.seen + y * tile_row + x, same<n>(-1));
    }
  for_each_triangle(list, tile,
                    [&](const TriangleChunk& chunk, std::uint32_t number, const Triangle& triangle) VOLVOX_INLINED {
                      const Corner *a = &chunk.corners[triangle.corners[0]], *b = &chunk.corners[triangle.corners[1]],
                                   *c = &chunk.corners[triangle.corners[2]];
                      cover<n>(*a, *b, *c, to.left, to.top, to.width, to.height,
                               (triangle.flags & Triangle::marker) != 0 ? Raised{2, 0} : raised,
                               [&](int at, int, int, const Whole<n>& covered, const Number<n>& depth) VOLVOX_INLINED {
                                 const Number<n> before = load<n>(to.depths + at);
                                 // Of two at one place the later: of a strobe, the newest instant.
                                 const Whole<n> nearer = covered & (depth >= before);
                                 store<n>(to.depths + at, choose(nearer, depth, before));
                                 const Whole<n> seen = load_whole<n>(to.seen + at);
                                 store_whole<n>(to.seen + at, nearer ? same<n>(number) : seen);
                               });
                    });
}

template <int n>
__attribute__((noinline)) void light_bodies(const Scene& scene, const std::uint32_t* seen, const Whole<n>& asked,
                                            const Number<n>& x, const Number<n>& y, const Number<n>& depth,
                                            Vector3<n>& color) {
  const TriangleList& list = *scene.bodies;
  std::uint32_t number = no_triangle;
  for (int k = 0; k < n && number == no_triangle; ++k) number = seen[k];
  const Whole<n> numbers_seen = load_whole<n>(seen);
  const bool one = all<n>((numbers_seen == number) | (numbers_seen == -1));
  const auto triangle_of = [&](std::uint32_t which) -> const Triangle& {
    return list.chunks[which >> 24].triangles[which & 0xffffff];
  };
  const auto corner_of = [&](std::uint32_t which, int k) {
    return &list.chunks[which >> 24].corners[triangle_of(which).corners[k]];
  };
  CornerLanes<n> corners[3];
  Whole<n> flags;
  if (one) {
    for (int k = 0; k < 3; ++k) corners[k] = same_corner<n>(*corner_of(number, k));
    flags = same<n>(triangle_of(number).flags);
  } else {
    const Corner* at[3][n];
    alignas(64) std::uint32_t all_flags[n];
    for (int lane = 0; lane < n; ++lane) {
      const std::uint32_t which = seen[lane] == no_triangle ? number : seen[lane];
      const TriangleChunk& chunk = list.chunks[which >> 24];
      const Triangle& triangle = chunk.triangles[which & 0xffffff];
      for (int k = 0; k < 3; ++k) at[k][lane] = chunk.corners.data() + triangle.corners[k];
      all_flags[lane] = triangle.flags;
    }
    for (int k = 0; k < 3; ++k) corners[k] = corner_lanes<n>(at[k]);
    flags = load_whole<n>(all_flags);
  }
  color = choose3(asked, lit<n>(scene, corners[0], corners[1], corners[2], flags, x, y, depth, asked).color, color);
}

template <int n>
__attribute__((noinline)) void light_tile(const Scene& scene, TileSamples& tile) {
  const Number<n> step = numbers<n>(count_up<n>()) + 0.5;
  for (int row = 0; row < tile.height; ++row) {
    const Number<n> y = as_float(tile.top + row) + 0.5f;
    for (int column = 0; column < tile.width; column += n) {
      const int at = row * tile_row + column;
      const Number<n> x = step + as_float(tile.left + column);
      Number<n> depth = load<n>(tile.depths + at);
      Vector3<n> color = {0, 0, 0};
      const Whole<n> inside = count_up<n>() < tile.width - column;
      const Whole<n> body = inside & (load_whole<n>(tile.seen + at) != -1);
      if (any(body)) {
        store_whole<n>(tile.seen + at,
                       body ? load_whole<n>(tile.seen + at) : same<n>(-1));  // none beyond the end of the row
        light_bodies<n>(scene, tile.seen + at, body, x, y, depth, color);
      }
      light_background<n>(scene, x, y, inside, depth, color);
      store<n>(tile.depths + at, depth);
      store_whole<n>(tile.colors + at, packed<n>(color));
    }
  }
}

// What is blended over the rest: it hides nothing.
template <int n>
__attribute__((noinline)) void blend_over(const Scene& scene, int tile, TileSamples& to) {
  const Number<n> step = numbers<n>(count_up<n>()) + 0.5;
  for_each_triangle(
      *scene.over, tile, [&](const TriangleChunk& chunk, std::uint32_t, const Triangle& triangle) VOLVOX_INLINED {
        const Corner *a = &chunk.corners[triangle.corners[0]], *b = &chunk.corners[triangle.corners[1]],
                     *c = &chunk.corners[triangle.corners[2]];
        const CornerLanes<n> la = same_corner<n>(*a), lb = same_corner<n>(*b), lc = same_corner<n>(*c);
        const bool in_front = (triangle.flags & Triangle::front) != 0;
        cover<n>(*a, *b, *c, to.left, to.top, to.width, to.height, {},
                 [&](int at, int x, int y, const Whole<n>& covered, const Number<n>& depth) VOLVOX_INLINED {
                   const Whole<n> shown = in_front ? covered : covered & (depth > load<n>(to.depths + at));
                   if (!any(shown)) return;
                   const Lit<n> over = lit<n>(scene, la, lb, lc, same<n>(triangle.flags), step + as_float(x),
                                              Number<n>(as_float(y) + 0.5f), depth, shown);
                   const Whole<n> before = load_whole<n>(to.colors + at);
                   const Whole<n> after = packed<n>(mix<n>(unpacked<n>(before), over.color, over.opacity));
                   store_whole<n>(to.colors + at, shown ? after : before);
                 });
      });
}

VOLVOX_KERNEL bool has_triangles(const TriangleList& list, int tile) {
  for (const TriangleChunk& chunk : list.chunks)
    if (!chunk.triangles.empty() && chunk.first[tile] != chunk.first[tile + 1]) return true;
  return false;
}

// Samples become pixels: the mean of their colours, the depth of the nearest.
VOLVOX_KERNEL void put_pixels(const Scene& scene, const TileSamples& tile) {
  const int s = scene.samples, width = scene.grid.width / s;
  for (int y = 0; y < tile.height / s; ++y) {
    const std::size_t begin = std::size_t(tile.top / s + y) * width + (tile.left / s);
    if (s == 1) {
      std::memcpy(scene.colors + begin, tile.colors + y * tile_row, 4 * tile.width);
      if (scene.depths != nullptr) std::memcpy(scene.depths + begin, tile.depths + y * tile_row, 4 * tile.width);
      continue;
    }
    for (int x = 0; x < tile.width / s; ++x) {
      std::uint32_t sums[3] = {};
      float nearest = 0;
      for (int j = 0; j < s; ++j)
        for (int i = 0; i < s; ++i) {
          const int at = (y * s + j) * tile_row + x * s + i;
          for (int k = 0; k < 3; ++k) sums[k] += tile.colors[at] >> (8 * k) & 255;
          nearest = tile.depths[at] > nearest ? tile.depths[at] : nearest;
        }
      const std::uint32_t all_samples = s * s;
      std::uint32_t color = 0;
      for (int k = 0; k < 3; ++k) color |= (sums[k] + all_samples / 2) / all_samples << (8 * k);
      scene.colors[begin + x] = color;
      if (scene.depths != nullptr) scene.depths[begin + x] = nearest;
    }
  }
}
VOLVOX_KERNEL void take_pixels(const Scene& scene, TileSamples& tile) {
  const int s = scene.samples, width = scene.grid.width / s;
  for (int y = 0; y < tile.height; ++y)
    for (int x = 0; x < tile.width; ++x) {
      const std::size_t from = std::size_t((tile.top + y) / s) * width + ((tile.left + x) / s);
      tile.colors[y * tile_row + x] = scene.colors[from];
      tile.depths[y * tile_row + x] = scene.depths[from];
    }
}

template <int n>
void draw_tile_lanes(const Scene& scene, int tile, TilePart part) {
  TileSamples samples;
  samples.place(scene.grid, tile);
  const bool any_over = part != TilePart::behind && has_triangles(*scene.over, tile);
  if (part == TilePart::over) {
    if (!any_over) return;
    take_pixels(scene, samples);
  } else {
    find_seen<n>(*scene.bodies, tile, 0, {}, samples);
    light_tile<n>(scene, samples);
  }
  if (any_over) blend_over<n>(scene, tile, samples);
  put_pixels(scene, samples);
}

template <int n>
void draw_shadow_tile_lanes(const TriangleList& casters, int tile, ShadowMap& map) {
  constexpr float nothing = -1e30f;
  TileSamples samples;
  samples.place(casters.grid, tile);
  find_seen<n>(casters, tile, nothing, {-1.5f, -0.02f * map.texel_size}, samples);
  for (int y = 0; y < samples.height; ++y)
    std::memcpy(map.heights.data() + std::size_t(samples.top + y) * map.size + samples.left,
                samples.depths + y * tile_row, 4 * samples.width);
  for (int by = 0; by < samples.height; by += block_side)
    for (int bx = 0; bx < samples.width; bx += block_side) {
      ShadowMap::Block block{samples.depths[by * tile_row + bx], samples.depths[by * tile_row + bx]};
      for (int y = by; y < by + block_side; ++y)
        for (int x = bx; x < bx + block_side; ++x) {
          const float height = samples.depths[y * tile_row + x];
          block.high = height > block.high ? height : block.high;
          block.low = height < block.low ? height : block.low;
        }
      map.blocks[std::size_t((samples.top + by) / block_side) * map.block_columns() +
                 ((samples.left + bx) / block_side)] = block;
    }
}

}  // namespace volvox::view::picture
