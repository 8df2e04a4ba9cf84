// The walls that many sweeps saw, as their mean: for every 10 cm and direction a short straight piece of wall, fitted
// to all that was measured around it. Its errors are a small part of those of a point. Metres; deterministic. Not for
// several threads: pieces are fitted when they are first asked for.
#pragma once

#include <compare>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "volvox/scan/sweep_match.h"

namespace volvox::scan {

class SurfaceMap {
 public:
  // `thickest`: the deviation from a line up to which points are a wall.
  explicit SurfaceMap(double thickest) : thickest_(thickest) {}
  void add(const Pose2& pose, const std::vector<WallPoint>& hits);
  // The wall at a point with about this normal; null: none within the limit.
  const WallPoint* nearest(const Vec2& p, const Vec2& normal, double limit) const;

 private:
  struct Key {
    std::int32_t x, y, direction;
    auto operator<=>(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Sums {  // over the points of a cell, relative to its corner
    double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  };
  struct Piece {
    WallPoint wall;
    bool found = false;
  };
  static Key key_of(const Vec2& p, const Vec2& normal);
  Piece fit(const Key& key) const;

  double thickest_;
  std::unordered_map<Key, Sums, Hash> cells_;
  mutable std::unordered_map<Key, Piece, Hash> pieces_;
};

}  // namespace volvox::scan
