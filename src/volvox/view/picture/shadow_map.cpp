#include "volvox/view/picture/shadow_map.h"

#include <algorithm>
#include <cmath>

namespace volvox::view::picture {

ShadowMaker::ShadowMaker(int size, bool fine) {
  map_.size = size;
  map_.reach = fine ? 4 : 1;
  map_.softness = fine ? 3.6f : 0.7f;
  map_.heights.resize(std::size_t(size) * std::size_t(size));
  map_.blocks.resize(std::size_t(map_.block_columns()) * std::size_t(map_.block_columns()));
}

void ShadowMaker::make(std::span<const Drawn> drawn, std::span<const Instances::Caster> casters, const Viewpoint& view,
                       ThreadPool* threads) {
  const Vec3 z = view.sun, x = perpendicular(z), y = cross(z, x);
  const double reach = 3 * view.distance;
  Vec3 low{1e300, 1e300, 0}, high{-1e300, -1e300, 0};
  for (const Instances::Caster& caster : casters) {
    const Vec3 p{dot(caster.centre, x), dot(caster.centre, y), 0};
    for (int k = 0; k < 2; ++k) {
      low[k] = std::min(low[k], clamp(p[k] - caster.radius, -reach, reach));
      high[k] = std::max(high[k], clamp(p[k] + caster.radius, -reach, reach));
    }
  }
  if (casters.empty()) low = high = {};
  // The side grows in steps and the middle moves in whole texels of the world, so that shadows do not flicker in a
  // video.
  const double wanted = std::max({high.x - low.x, high.y - low.y, 1e-3}) * 1.04;
  const double side = std::pow(1.25, std::ceil(std::log(wanted) / std::log(1.25)));
  const double texel = side / map_.size;
  const auto snapped = [&](double middle, const Vec3& axis) {
    const double base = dot(view.target, axis);
    return std::round((middle + base) / texel) * texel - base;
  };
  const double cx = snapped((low.x + high.x) / 2, x), cy = snapped((low.y + high.y) / 2, y);
  // Rows go down, and y goes up.
  map_.x = to_floats(x / texel), map_.y = to_floats(-y / texel);
  map_.height = to_floats(z.z > 0.2 ? Vec3{0, 0, 1 / z.z} : z);
  map_.x0 = to_float(map_.size / 2.0 - cx / texel), map_.y0 = to_float(map_.size / 2.0 + cy / texel);
  map_.texel_size = to_float(texel);

  Projection projection;
  projection.perspective = false;
  for (int k = 0; k < 3; ++k)
    projection.columns[k] = {subsamples * map_.x[k], subsamples * map_.y[k], map_.height[k], 0};
  projection.columns[3] = {to_float(-subsamples * cx / texel), to_float(subsamples * cy / texel), 0, 1};
  projection.centre_x = projection.centre_y = subsamples * map_.size / 2.0;
  make_triangles(drawn, projection, {map_.size, map_.size}, threads, triangles_);
  parallel_for(threads, std::size_t(triangles_.grid.tiles()), 4,
               [&](std::size_t tile) { draw_shadow_tile(triangles_, narrow<int>(tile), map_); });
  spread_blocks(threads);
}

// Each block learns of those around it that its texels' squares reach.
void ShadowMaker::spread_blocks(ThreadPool* threads) {
  own_blocks_.swap(map_.blocks);
  map_.blocks.resize(own_blocks_.size());
  const int columns = map_.block_columns(), reach = (map_.reach + block_side) / block_side;
  parallel_for(threads, columns, 32, [&](std::size_t row) {
    const int y = narrow<int>(row);
    // Of the rows above and below, then of the columns to the left and right.
    std::vector<ShadowMap::Block> upright(own_blocks_.begin() + y * columns, own_blocks_.begin() + (y + 1) * columns);
    const auto join = [](ShadowMap::Block& to, const ShadowMap::Block& block) {
      to.high = std::max(to.high, block.high), to.low = std::min(to.low, block.low);
    };
    for (int j = std::max(y - reach, 0); j <= std::min(y + reach, columns - 1); ++j)
      for (int x = 0; x < columns; ++x) join(upright[x], own_blocks_[j * columns + x]);
    for (int x = 0; x < columns; ++x) {
      ShadowMap::Block& all = map_.blocks[y * columns + x] = upright[x];
      for (int i = std::max(x - reach, 0); i <= std::min(x + reach, columns - 1); ++i) join(all, upright[i]);
    }
  });
}

}  // namespace volvox::view::picture
