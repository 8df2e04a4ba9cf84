#include "volvox/scan/sweep_match.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/base/math.h"
#include "volvox/scan/surface_map.h"

namespace volvox::scan {
namespace {

std::int32_t cell_number(double x, double size) {
  return truncated<std::int32_t>(clamp(std::floor(x / size), -1e9, 1e9));
}

std::size_t hash_of(std::int32_t x, std::int32_t y) {
  const std::uint64_t both = std::uint64_t{std::bit_cast<std::uint32_t>(x)} << 32 | std::bit_cast<std::uint32_t>(y);
  return ((both ^ (both >> 29)) * 0x9e3779b97f4a7c15u) >> 20;
}

}  // namespace

View view_of(const Sweep& sweep, const Mounting& mounting) {
  const std::size_t n = sweep.ranges.size();
  View view;
  std::vector<Vec2> points(n);
  const auto hit = [&](std::size_t i) {
    return sweep.ranges[i] > 0.02 && sweep.ranges[i] < mounting.largest_range - 1e-6;
  };
  for (std::size_t i = 0; i < n; ++i) {
    const double a = ray_angle(mounting, i, n);
    points[i] = Vec2{volvox::cos(a), volvox::sin(a)} * sweep.ranges[i] + Vec2{mounting.forward_offset, 0};
    if (hit(i)) view.points.push_back(points[i]);
  }
  for (const Vec2& p : view.points) view.middle = view.middle + p * (1 / real(view.points.size()));

  const double step = ray_angle(mounting, 1, n) - ray_angle(mounting, 0, n);
  std::vector<double> roughness;
  for (std::size_t i = 0; i < n; ++i) {
    if (!hit(i)) continue;
    // The neighbours on ten centimetres of wall: with fewer, the line would be determined by noise at short range.
    const auto reach = truncated<std::size_t>(clamp(0.05 / (sweep.ranges[i] * step), 3, 24));
    const double gap = std::max(0.15, 4 * sweep.ranges[i] * step);
    std::size_t first = i, last = i;
    while (first > 0 && i - first < reach && hit(first - 1) && length(points[first - 1] - points[first]) < gap) --first;
    while (last + 1 < n && last - i < reach && hit(last + 1) && length(points[last + 1] - points[last]) < gap) ++last;
    if (last - first < reach + reach / 2) continue;
    const auto count = real(last - first + 1);
    Vec2 mean;
    for (std::size_t k = first; k <= last; ++k) mean = mean + points[k] * (1 / count);
    double xx = 0, xy = 0, yy = 0;
    for (std::size_t k = first; k <= last; ++k) {
      const Vec2 d = points[k] - mean;
      xx += d.x * d.x, xy += d.x * d.y, yy += d.y * d.y;
    }
    const double angle = 0.5 * volvox::atan2(2 * xy, xx - yy);  // of the wall
    Vec2 normal{-volvox::sin(angle), volvox::cos(angle)};
    if (dot(normal, points[i]) > 0) normal = normal * -1;
    double squares = 0;
    for (std::size_t k = first; k <= last; ++k)
      squares += dot(points[k] - mean, normal) * dot(points[k] - mean, normal);
    const double rough = std::sqrt(squares / count);
    if (rough > 0.05 || rough * rough * count > 0.05 * (xx + yy)) continue;  // a corner or a bush
    view.walls.push_back({mean, normal});
    // Errors of the range lie along the ray, those of its direction across it.
    const double facing = dot(normal, points[i]) / sweep.ranges[i], slant = std::max(0.0, 1 - facing * facing);
    const double turned = 0.15 * sweep.ranges[i];
    view.hits.push_back({points[i], normal, 1 / (0.04 + facing * facing + turned * turned * slant)});
    // Errors of the range lie along the ray: a wall that is seen at a slant looks smoother than one that is faced.
    roughness.push_back(rough / std::max(0.2, std::fabs(dot(normal, points[i])) / sweep.ranges[i]));
  }
  // Most places are flat. Points with a larger residual are at corners and not on the walls.
  std::vector<double> sorted = roughness;
  std::sort(sorted.begin(), sorted.end());
  const double limit = sorted.empty() ? 0 : std::max(0.012, 1.5 * sorted[sorted.size() / 2]);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < view.walls.size(); ++i)
    if (roughness[i] <= limit) view.hits[kept] = view.hits[i], view.walls[kept++] = view.walls[i];
  view.walls.resize(kept);
  view.hits.resize(kept);
  return view;
}

WallMap::Cell* WallMap::find(std::int32_t x, std::int32_t y) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash_of(x, y) & mask; slots_[slot] >= 0; slot = (slot + 1) & mask) {
    const Cell& cell = cells_[slots_[slot]];
    if (cell.x == x && cell.y == y) return const_cast<Cell*>(&cell);
  }
  return nullptr;
}

void WallMap::grow() {
  const bool larger = 2 * cells_.size() >= slots_.size();
  const std::size_t size = larger ? 2 * slots_.size() : slots_.size(), mask = size - 1;
  std::size_t first = cells_.size() - 1;
  if (larger) slots_.assign(size, -1), first = 0;
  for (std::size_t i = first; i < cells_.size(); ++i) {
    std::size_t slot = hash_of(cells_[i].x, cells_[i].y) & mask;
    while (slots_[slot] >= 0) slot = (slot + 1) & mask;
    slots_[slot] = narrow<std::int32_t>(i);
  }
}

void WallMap::add(const Pose2& pose, const std::vector<WallPoint>& walls) {
  const Pose2 turn{{}, pose.heading};
  for (const WallPoint& p : walls) {
    const WallPoint placed{pose * p.at, turn * p.normal};
    const std::int32_t x = cell_number(placed.at.x, reach), y = cell_number(placed.at.y, reach);
    Cell* cell = find(x, y);
    if (cell == nullptr) {
      cells_.push_back({x, y, 0, {}});
      grow();
      cell = &cells_.back();
    }
    if (cell->count < cell->points.size()) cell->points[cell->count++] = placed, ++count_;
  }
}

const WallPoint* WallMap::nearest(const Vec2& p, const Vec2& normal, double limit) const {
  const WallPoint* best = nullptr;
  double least = limit * limit;
  const std::int32_t x = cell_number(p.x, reach), y = cell_number(p.y, reach);
  for (std::int32_t dy = -1; dy <= 1; ++dy) {
    for (std::int32_t dx = -1; dx <= 1; ++dx) {
      const Cell* cell = find(x + dx, y + dy);
      if (cell == nullptr) continue;
      for (std::uint32_t i = 0; i < cell->count; ++i) {
        const WallPoint& candidate = cell->points[i];
        const Vec2 d = candidate.at - p;
        if (dot(d, d) >= least || std::fabs(dot(candidate.normal, normal)) < 0.8) continue;
        least = dot(d, d);
        best = &candidate;
      }
    }
  }
  return best;
}

namespace {

// The sums of one round of ICP.
struct Sums {
  Matrix3 a{};
  std::array<double, 3> b{};
  double weight = 0, squares = 0, arms = 0;
  int count = 0;
};

template <class Map>
Sums sums_at(const Map& map, const std::vector<WallPoint>& walls, const Pose2& pose, double limit, double scale) {
  Sums sums;
  const double c = volvox::cos(pose.heading), s = volvox::sin(pose.heading);
  for (const WallPoint& p : walls) {
    const Vec2 arm{c * p.at.x - s * p.at.y, s * p.at.x + c * p.at.y}, at = pose.position + arm;
    const Vec2 normal{c * p.normal.x - s * p.normal.y, s * p.normal.x + c * p.normal.y};
    const WallPoint* wall = map.nearest(at, normal, limit);
    if (wall == nullptr) continue;
    const double off = dot(wall->normal, at - wall->at);
    const double row[3] = {wall->normal.x, wall->normal.y, cross(arm, wall->normal)};
    const double weight = p.weight / (1 + p.weight * off * off / (scale * scale));
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) sums.a[i][k] += weight * row[i] * row[k];
      sums.b[i] -= weight * row[i] * off;
    }
    sums.weight += weight;
    sums.squares += weight * off * off;
    sums.arms += weight * dot(arm, arm);
    ++sums.count;
  }
  return sums;
}

// Removes the directions that the walls do not determine: a corridor says nothing about the way along it. The heading
// counts at the mean distance of the points, so that all directions are in metres.
int keep_determined(Sums& sums, const MatchOptions& options, Matrix3& information) {
  // Points of one sweep have errors in common (a wall that is not flat, a tilted robot): many of them are no better
  // than this part of the noise.
  constexpr double common = 0.25;

  // The number of points that must look along a direction: more than errors of the normals feign. These grow with the
  // noise (2.4 degrees at 6 mm feign 0.002 of the points).
  const double least = std::max(options.least, clamp(0.67 * options.noise, 0.005, 0.02) * sums.weight);
  const double arm = std::sqrt(sums.arms / sums.weight) + 1e-9;
  const double scale[3] = {1, 1, arm};
  Matrix3 scaled{};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) scaled[i][k] = sums.a[i][k] / (scale[i] * scale[k]);
  const Eigen3 parts = eigen(scaled);
  Matrix3 a{};
  std::array<double, 3> b{};
  int directions = 0;
  for (int p = 0; p < 3; ++p) {
    if (parts.values[p] < least) continue;
    ++directions;
    const auto& v = parts.vectors[p];
    const double along = v[0] * sums.b[0] / scale[0] + v[1] * sums.b[1] / scale[1] + v[2] * sums.b[2] / scale[2];
    for (int i = 0; i < 3; ++i) {
      b[i] += along * v[i] * scale[i];
      for (int k = 0; k < 3; ++k) {
        const double entry = v[i] * v[k] * scale[i] * scale[k];
        a[i][k] += parts.values[p] * entry;
        information[i][k] += entry / (options.noise * options.noise * (1 / parts.values[p] + common * common));
      }
    }
  }
  sums.a = a;
  sums.b = b;
  return directions;
}

template <class Map>
Match match_with(const Map& map, const std::vector<WallPoint>& walls, const Pose2& start, const MatchOptions& options) {
  Match result{start};
  if (walls.empty()) return result;
  const double noise = options.noise;
  double limit = std::min(options.from, WallMap::reach);
  for (int round = 0; round < 25; ++round) {
    if (round >= 5) limit = std::min(limit, std::max(0.06, 8 * noise));
    Sums sums = sums_at(map, walls, result.pose, limit, 2 * noise);
    if (sums.count < 10) return {start};
    result.information = {};
    result.directions = keep_determined(sums, options, result.information);
    result.inliers = real(sums.count) / real(walls.size());
    result.rms = std::sqrt(sums.squares / sums.weight);
    Matrix3 a{};
    std::array<double, 3> b{};
    for (int i = 0; i < 3; ++i) {
      b[i] = sums.b[i] / (noise * noise);
      for (int k = 0; k < 3; ++k) a[i][k] = sums.a[i][k] / (noise * noise);
    }
    const Vec2 back = options.expected.position - result.pose.position;
    const double off[3] = {back.x, back.y, wrapped(options.expected.heading - result.pose.heading)};
    for (int i = 0; i < 3; ++i) {
      a[i][i] += 1e-3;  // what nothing determines stays where it is
      for (int k = 0; k < 3; ++k) {
        a[i][k] += options.prior[i][k];
        b[i] += options.prior[i][k] * off[k];
      }
    }
    const Matrix3 covariance = inverse(a);
    double x[3];
    for (int i = 0; i < 3; ++i) x[i] = covariance[i][0] * b[0] + covariance[i][1] * b[1] + covariance[i][2] * b[2];
    result.pose.position = result.pose.position + Vec2{x[0], x[1]};
    result.pose.heading = wrapped(result.pose.heading + x[2]);
    if (std::fabs(x[0]) + std::fabs(x[1]) + std::fabs(x[2]) < 1e-5 && round >= 6) break;
  }
  return result;
}

}  // namespace

Match match(const WallMap& map, const std::vector<WallPoint>& walls, const Pose2& start, const MatchOptions& options) {
  return match_with(map, walls, start, options);
}

Match match(const SurfaceMap& map, const std::vector<WallPoint>& hits, const Pose2& start,
            const MatchOptions& options) {
  return match_with(map, hits, start, options);
}

PointField::PointField(const std::vector<Vec2>& points) {
  constexpr double margin = 0.5, most = 2000;
  Vec2 high = points.empty() ? Vec2{} : points[0];
  low_ = high;
  for (const Vec2& p : points) {
    low_ = {std::min(low_.x, p.x), std::min(low_.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  low_ = low_ - Vec2{margin, margin};
  columns_ = truncated<int>(clamp((high.x - low_.x + margin) / cell, 1, most)) + coarse;
  rows_ = truncated<int>(clamp((high.y - low_.y + margin) / cell, 1, most)) + coarse;
  fine_.assign(narrow<std::size_t>(columns_) * rows_, 0);
  constexpr int spread = 2;
  float kernel[2 * spread + 1][2 * spread + 1];
  for (int y = -spread; y <= spread; ++y)
    for (int x = -spread; x <= spread; ++x)
      kernel[y + spread][x + spread] = to_float(volvox::exp(-0.5 * (x * x + y * y) / 1.0));
  for (const Vec2& p : points) {
    const double px = (p.x - low_.x) / cell, py = (p.y - low_.y) / cell;
    if (px >= columns_ || py >= rows_) continue;
    const int cx = truncated(px), cy = truncated(py);
    for (int y = std::max(0, cy - spread); y <= std::min(rows_ - 1, cy + spread); ++y) {
      for (int x = std::max(0, cx - spread); x <= std::min(columns_ - 1, cx + spread); ++x) {
        float& value = fine_[narrow<std::size_t>(y) * columns_ + x];
        value = std::max(value, kernel[y - cy + spread][x - cx + spread]);
      }
    }
  }
  // The coarse value of (x, y) bounds the fine values from (x, y) to (x + 3, y + 3): the maximum of two neighbours, of
  // two pairs, and the same across.
  static_assert(coarse == 4);
  coarse_ = fine_;
  const std::size_t across = columns_;
  for (const std::size_t step : {std::size_t{1}, std::size_t{2}, across, 2 * across})
    for (std::size_t i = 0; i + step < coarse_.size(); ++i) coarse_[i] = std::max(coarse_[i], coarse_[i + step]);
}

double PointField::fine_value(int x, int y) const {
  if (x < 0 || y < 0 || x >= columns_ || y >= rows_) return 0;
  return double{fine_[narrow<std::size_t>(y) * columns_ + x]};
}

double PointField::coarse_value(int x, int y) const {
  // Left of the field, a block of cells may still reach into it.
  if (x <= -coarse || y <= -coarse || x >= columns_ || y >= rows_) return 0;
  return double{coarse_[narrow<std::size_t>(std::max(y, 0)) * columns_ + std::max(x, 0)]};
}

PointField::Found PointField::search(const std::vector<Vec2>& points, const Pose2& guess, const Window& window) const {
  Found found{guess};
  if (points.empty()) return found;
  constexpr std::size_t most_points = 80;
  std::vector<Vec2> some;
  for (std::size_t i = 0; i < std::min(points.size(), most_points); ++i)
    some.push_back(points[i * points.size() / std::min(points.size(), most_points)]);
  const double heading_step = radians(1.5);
  const int headings = truncated(std::ceil(window.heading / heading_step));
  const int half = truncated(std::ceil(window.position / cell));
  const int blocks = (2 * half + coarse) / coarse;
  struct Candidate {
    double bound;
    int heading, x, y;
  };
  std::vector<Candidate> candidates;
  std::vector<std::vector<std::pair<int, int>>> cells(2 * headings + 1);
  for (int h = -headings; h <= headings; ++h) {
    auto& of_heading = cells[h + headings];
    const Pose2 turned{guess.position, wrapped(guess.heading + h * heading_step)};
    for (const Vec2& p : some) {
      const Vec2 at = turned * p;
      of_heading.push_back({truncated(clamp(std::floor((at.x - low_.x) / cell), -1e6, 1e6)),
                            truncated(clamp(std::floor((at.y - low_.y) / cell), -1e6, 1e6))});
    }
    for (int by = 0; by < blocks; ++by) {
      for (int bx = 0; bx < blocks; ++bx) {
        const int x = -half + bx * coarse, y = -half + by * coarse;
        double sum = 0;
        for (const auto& [px, py] : of_heading) sum += coarse_value(px + x, py + y);
        candidates.push_back({sum / real(some.size()), h, x, y});
      }
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.bound > b.bound; });
  const auto likely = [&](int h, int x, int y) {
    double exponent = 0;
    if (window.position_deviation > 0)
      exponent += real(x * x + y * y) * cell * cell / (window.position_deviation * window.position_deviation);
    if (window.heading_deviation > 0) {
      const double turn = h * heading_step / window.heading_deviation;
      exponent += turn * turn;
    }
    return volvox::exp(-0.05 * exponent);  // the points are many: the guess decides only between equal fits
  };
  double best = 0, rival = 0;
  int best_x = 0, best_y = 0, best_h = 0;
  for (const Candidate& c : candidates) {
    if (c.bound <= std::max(rival, 0.85 * best)) break;  // a rival below that is none
    for (int y = c.y; y < c.y + coarse; ++y) {
      for (int x = c.x; x < c.x + coarse; ++x) {
        if (std::abs(x) > half || std::abs(y) > half) continue;
        double sum = 0;
        for (const auto& [px, py] : cells[c.heading + headings]) sum += fine_value(px + x, py + y);
        const double score = sum / real(some.size()) * likely(c.heading, x, y);
        const bool beside = std::abs(x - best_x) <= 8 && std::abs(y - best_y) <= 8 && std::abs(c.heading - best_h) <= 6;
        if (score > best) {
          if (!beside) rival = std::max(rival, best);
          best = score, best_x = x, best_y = y, best_h = c.heading;
        } else if (!beside) {
          rival = std::max(rival, score);
        }
      }
    }
  }
  found.pose = {guess.position + Vec2{best_x * cell, best_y * cell}, wrapped(guess.heading + best_h * heading_step)};
  found.score = best;
  found.rival = rival;
  return found;
}

}  // namespace volvox::scan
