#include "volvox/scan/locate.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "volvox/base/index.h"
#include "volvox/base/math.h"

namespace volvox::scan {
namespace {

// A point of a wall and the normal of the wall.
struct WallPoint {
  Vec2 at, normal;
};

// The points of a sweep, in the frame of the robot, that lie on a line with their neighbours.
std::vector<WallPoint> wall_points(const Sweep& sweep, const Mounting& mounting) {
  const std::size_t n = sweep.ranges.size();
  std::vector<Vec2> points(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double a = ray_angle(mounting, i, n);
    points[i] = Vec2{volvox::cos(a), volvox::sin(a)} * sweep.ranges[i];
  }
  const double step = mounting.field_of_view / real(std::max<std::size_t>(1, n - 1));
  std::vector<WallPoint> result;
  std::vector<double> roughness;
  for (std::size_t i = 0; i < n; ++i) {
    if (sweep.ranges[i] < 0.02 || sweep.ranges[i] >= mounting.largest_range) continue;
    // The neighbours on ten centimetres of wall: with fewer, the line would be determined by noise at short range.
    const auto reach = truncated<std::size_t>(clamp(0.05 / (sweep.ranges[i] * step), 4, 24));
    if (i < reach || i + reach >= n) continue;
    const auto count = real(2 * reach + 1);
    Vec2 mean;
    bool together = true;
    for (std::size_t k = i - reach; k <= i + reach; ++k) {
      together = together && sweep.ranges[k] > 0.02 && sweep.ranges[k] < mounting.largest_range &&
                 std::fabs(sweep.ranges[k] - sweep.ranges[i]) < 0.15;
      mean = mean + points[k] * (1 / count);
    }
    if (!together) continue;
    double xx = 0, xy = 0, yy = 0;
    for (std::size_t k = i - reach; k <= i + reach; ++k) {
      const Vec2 d = points[k] - mean;
      xx += d.x * d.x, xy += d.x * d.y, yy += d.y * d.y;
    }
    const double angle = 0.5 * volvox::atan2(2 * xy, xx - yy);  // of the wall
    const Vec2 normal{-volvox::sin(angle), volvox::cos(angle)};
    double squares = 0;
    for (std::size_t k = i - reach; k <= i + reach; ++k)
      squares += dot(points[k] - mean, normal) * dot(points[k] - mean, normal);
    result.push_back({mean, normal});
    roughness.push_back(std::sqrt(squares / count));
  }
  // Most places are flat. Points with a larger residual are at corners and not on the walls.
  std::vector<double> sorted = roughness;
  std::sort(sorted.begin(), sorted.end());
  const double limit = sorted.empty() ? 0 : 1.3 * sorted[sorted.size() / 2];
  std::size_t kept = 0;
  for (std::size_t i = 0; i < result.size(); ++i)
    if (roughness[i] <= limit) result[kept++] = result[i];
  result.resize(kept);
  return result;
}

class Map {
 public:
  bool empty() const { return cells_.empty(); }
  void add(const Pose2& pose, const std::vector<WallPoint>& points) {
    const Pose2 turn{{}, pose.heading};
    for (const WallPoint& p : points) {
      const WallPoint placed{pose * p.at, turn * p.normal};
      auto& cell = cells_[key(placed.at)];
      if (cell.size() < most) cell.push_back(placed);  // keeps the first points, so that the map does not drift
    }
  }
  const WallPoint* nearest(const Vec2& p, const Vec2& normal, double limit) const {
    const WallPoint* best = nullptr;
    double least = limit * limit;
    const auto [x, y] = key(p);
    for (std::int64_t dy = -1; dy <= 1; ++dy) {
      for (std::int64_t dx = -1; dx <= 1; ++dx) {
        const auto cell = cells_.find({x + dx, y + dy});
        if (cell == cells_.end()) continue;
        for (const WallPoint& candidate : cell->second) {
          const Vec2 d = candidate.at - p;
          if (dot(d, d) >= least || std::fabs(dot(candidate.normal, normal)) < 0.8) continue;
          least = dot(d, d);
          best = &candidate;
        }
      }
    }
    return best;
  }

 private:
  static constexpr double size = 0.15;
  static constexpr std::size_t most = 12;
  using Key = std::pair<std::int64_t, std::int64_t>;
  static Key key(const Vec2& p) {
    return {truncated<std::int64_t>(std::floor(p.x / size)), truncated<std::int64_t>(std::floor(p.y / size))};
  }
  std::map<Key, std::vector<WallPoint>> cells_;
};

// Matches the points with the walls of the map: point-to-line ICP with weights that decrease with the distance.
Pose2 matched(const Map& map, const std::vector<WallPoint>& points, Pose2 pose) {
  for (int round = 0; round < 20; ++round) {
    double a[3][3] = {}, b[3] = {};
    int count = 0;
    const double limit = round < 6 ? 0.15 : 0.06;
    for (const WallPoint& p : points) {
      const Vec2 at = pose * p.at;
      const Vec2 normal = Pose2{{}, pose.heading} * p.normal;
      const WallPoint* wall = map.nearest(at, normal, limit);
      if (wall == nullptr) continue;
      const double off = dot(wall->normal, at - wall->at);
      const Vec2 arm = at - pose.position;
      const double row[3] = {wall->normal.x, wall->normal.y, cross(arm, wall->normal)};
      const double weight = 1 / (1 + off * off / (0.02 * 0.02));
      for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) a[i][k] += weight * row[i] * row[k];
        b[i] -= weight * row[i] * off;
      }
      ++count;
    }
    if (count < 10) return pose;
    // Damping: a corridor does not determine the position along it, so the odometry is kept there.
    for (int i = 0; i < 3; ++i) a[i][i] += 1e-4 * count;
    double x[3];
    const double det = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
                       a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                       a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
    if (!(std::fabs(det) > 1e-12)) return pose;
    for (int i = 0; i < 3; ++i) {
      double m[3][3];
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) m[r][c] = c == i ? b[r] : a[r][c];
      x[i] = (m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
              m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])) /
             det;
    }
    pose.position = pose.position + Vec2{x[0], x[1]};
    pose.heading = wrapped(pose.heading + x[2]);
    if (std::fabs(x[0]) + std::fabs(x[1]) + std::fabs(x[2]) < 1e-5 && round >= 6) break;
  }
  return pose;
}

}  // namespace

Result<ScanLog> locate(const ScanLog& log, const Progress& progress) {
  if (log.forward.empty())
    return Error("the log has no sweeps of the horizontal laser (FLASER)",
                 "record one: without it the robot cannot be located");
  ScanLog result = log;
  Map map;
  Pose2 mapped;  // the pose at the last extension of the map
  for (std::size_t i = 0; i < log.forward.size(); ++i) {
    Sweep& sweep = result.forward[i];
    sweep.pose = i == 0
                     ? sweep.odometry
                     : result.forward[i - 1].pose * (log.forward[i - 1].odometry.inverse() * log.forward[i].odometry);
    const std::vector<WallPoint> points = wall_points(sweep, log.mounting);
    if (!map.empty()) sweep.pose = matched(map, points, sweep.pose);
    if (map.empty() || length(sweep.pose.position - mapped.position) > 0.1 ||
        std::fabs(wrapped(sweep.pose.heading - mapped.heading)) > 0.1) {
      map.add(sweep.pose, points);
      mapped = sweep.pose;
    }
    if (progress && i % 64 == 0) progress(real(i) / real(log.forward.size()));
  }
  std::size_t before = 0;
  for (Sweep& sweep : result.side) {
    while (before + 1 < result.forward.size() && result.forward[before + 1].time <= sweep.time) ++before;
    const Sweep& known = result.forward[before];
    sweep.pose = known.pose * (known.odometry.inverse() * sweep.odometry);
  }
  return result;
}

}  // namespace volvox::scan
