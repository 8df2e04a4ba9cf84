#include "volvox/scan/outline.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"

namespace volvox::scan {
namespace {

class Cells {
 public:
  Cells(const std::vector<Vec2>& points, const OutlineOptions& options) : size_(options.cell) {
    low_ = points[0];
    Vec2 high = points[0];
    for (const Vec2& p : points) {
      low_ = {std::min(low_.x, p.x), std::min(low_.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
    // Very large planes get larger cells, so that the memory is bounded.
    while ((high.x - low_.x) / size_ * ((high.y - low_.y) / size_) > 4e6) size_ *= 2;
    low_ = low_ - Vec2{2 * size_, 2 * size_};
    columns_ = truncated<int>((high.x - low_.x) / size_) + 3;
    rows_ = truncated<int>((high.y - low_.y) / size_) + 3;
    std::vector<std::uint32_t> count(columns_ * rows_);
    for (const Vec2& p : points)
      ++count[truncated<int>((p.y - low_.y) / size_) * columns_ + truncated<int>((p.x - low_.x) / size_)];
    full_.resize(count.size());
    for (std::size_t i = 0; i < count.size(); ++i) full_[i] = count[i] >= options.least;
  }

  bool full(int x, int y) const { return x >= 0 && y >= 0 && x < columns_ && y < rows_ && full_[y * columns_ + x]; }

  // Fills single cells that are empty by chance, and clears single cells that are occupied by chance.
  void smooth() {
    std::vector<bool> next = full_;
    for (int y = 1; y + 1 < rows_; ++y) {
      for (int x = 1; x + 1 < columns_; ++x) {
        const int beside = full(x - 1, y) + full(x + 1, y) + full(x, y - 1) + full(x, y + 1);
        const bool now = full(x, y);
        next[y * columns_ + x] = now ? beside >= 2 : beside >= 3;
      }
    }
    full_ = std::move(next);
  }

  std::vector<std::vector<Vec2>> loops() const {
    // An edge leaves a corner in one of four directions, with a full cell on its left.
    static constexpr int step_x[4] = {1, 0, -1, 0}, step_y[4] = {0, 1, 0, -1};
    const auto has_edge = [&](int x, int y, int direction) {
      switch (direction) {
        case 0: return full(x, y) && !full(x, y - 1);
        case 1: return full(x - 1, y) && !full(x, y);
        case 2: return full(x - 1, y - 1) && !full(x - 1, y);
        default: return full(x, y - 1) && !full(x - 1, y - 1);
      }
    };
    std::vector<std::uint8_t> used((columns_ + 1) * (rows_ + 1));
    std::vector<std::vector<Vec2>> result;
    for (int y0 = 0; y0 <= rows_; ++y0) {
      for (int x0 = 0; x0 <= columns_; ++x0) {
        for (int d0 = 0; d0 < 4; ++d0) {
          const auto mark = [&](int x, int y) -> std::uint8_t& { return used[y * (columns_ + 1) + x]; };
          if (!has_edge(x0, y0, d0) || mark(x0, y0) >> d0 & 1) continue;
          std::vector<Vec2> loop;
          int x = x0, y = y0, d = d0;
          do {
            mark(x, y) |= narrow<std::uint8_t>(1 << d);
            loop.push_back({low_.x + x * size_, low_.y + y * size_});
            x += step_x[d];
            y += step_y[d];
            // Turns left first, so that two full cells that touch at a corner stay separate.
            for (const int turn : {1, 0, 3}) {
              if (has_edge(x, y, (d + turn) % 4)) {
                d = (d + turn) % 4;
                break;
              }
            }
          } while (x != x0 || y != y0 || d != d0);
          result.push_back(std::move(loop));
        }
      }
    }
    return result;
  }
  double size() const { return size_; }

 private:
  double size_;
  Vec2 low_;
  int columns_ = 0, rows_ = 0;
  std::vector<bool> full_;
};

}  // namespace

std::vector<std::vector<Vec2>> outlines(const std::vector<Vec2>& points, const OutlineOptions& options) {
  if (points.empty()) return {};
  Cells cells(points, options);
  cells.smooth();
  cells.smooth();
  std::vector<std::vector<Vec2>> result;
  for (auto& loop : cells.loops())
    if (std::fabs(signed_area(loop)) >= options.least_area * cells.size() * cells.size())
      result.push_back(std::move(loop));
  return result;
}

}  // namespace volvox::scan
