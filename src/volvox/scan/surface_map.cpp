#include "volvox/scan/surface_map.h"

#include <bit>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/base/math.h"

namespace volvox::scan {
namespace {

constexpr double cell_size = 0.1;
constexpr int directions = 16;

std::int32_t floored(double x) { return truncated<std::int32_t>(clamp(std::floor(x), -1e9, 1e9)); }

}  // namespace

std::size_t SurfaceMap::Hash::operator()(const Key& key) const {
  std::uint64_t hash = std::uint64_t{std::bit_cast<std::uint32_t>(key.x)} << 32 | std::bit_cast<std::uint32_t>(key.y);
  hash = (hash + std::bit_cast<std::uint32_t>(key.direction)) * 0x9e3779b97f4a7c15u;
  return (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9u >> 20;
}

SurfaceMap::Key SurfaceMap::key_of(const Vec2& p, const Vec2& normal) {
  const double turn = volvox::atan2(normal.y, normal.x) / (2 * pi) * directions;
  return {floored(p.x / cell_size), floored(p.y / cell_size), (floored(turn) + directions) % directions};
}

void SurfaceMap::add(const Pose2& pose, const std::vector<WallPoint>& hits) {
  const Pose2 turn{{}, pose.heading};
  for (const WallPoint& hit : hits) {
    const Vec2 at = pose * hit.at;
    const Key key = key_of(at, turn * hit.normal);
    const double x = at.x - key.x * cell_size, y = at.y - key.y * cell_size;
    Sums& sums = cells_[key];
    sums.n += 1, sums.x += x, sums.y += y;
    sums.xx += x * x, sums.xy += x * y, sums.yy += y * y;
  }
  pieces_.clear();
}

// From the cells beside and the directions beside as well, so that nothing depends on where the borders of cells are.
SurfaceMap::Piece SurfaceMap::fit(const Key& key) const {
  constexpr double least_points = 10;
  Sums all;
  for (int turn = -1; turn <= 1; ++turn) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const auto found = cells_.find({key.x + dx, key.y + dy, (key.direction + turn + directions) % directions});
        if (found == cells_.end()) continue;
        const Sums& s = found->second;
        const double x = dx * cell_size, y = dy * cell_size;
        all.n += s.n, all.x += s.x + s.n * x, all.y += s.y + s.n * y;
        all.xx += s.xx + 2 * x * s.x + s.n * x * x;
        all.yy += s.yy + 2 * y * s.y + s.n * y * y;
        all.xy += s.xy + x * s.y + y * s.x + s.n * x * y;
      }
    }
  }
  if (all.n < least_points) return {};
  const Vec2 mean{all.x / all.n, all.y / all.n};
  const double xx = all.xx / all.n - mean.x * mean.x, xy = all.xy / all.n - mean.x * mean.y,
               yy = all.yy / all.n - mean.y * mean.y;
  const double angle = 0.5 * volvox::atan2(2 * xy, xx - yy);  // of the wall
  Vec2 normal{-volvox::sin(angle), volvox::cos(angle)};
  const double across = normal.x * normal.x * xx + 2 * normal.x * normal.y * xy + normal.y * normal.y * yy;
  if (across > thickest_ * thickest_ || across > 0.1 * (xx + yy)) return {};
  const double towards = 2 * pi * (key.direction + 0.5) / directions;
  if (normal.x * volvox::cos(towards) + normal.y * volvox::sin(towards) < 0) normal = normal * -1;
  return {{mean + Vec2{key.x * cell_size, key.y * cell_size}, normal}, true};
}

const WallPoint* SurfaceMap::nearest(const Vec2& p, const Vec2& normal, double limit) const {
  const Key key = key_of(p, normal);
  const auto [piece, is_new] = pieces_.try_emplace(key);
  if (is_new) piece->second = fit(key);
  const Piece& found = piece->second;
  if (!found.found || std::fabs(dot(found.wall.normal, p - found.wall.at)) > limit) return nullptr;
  return &found.wall;
}

}  // namespace volvox::scan
