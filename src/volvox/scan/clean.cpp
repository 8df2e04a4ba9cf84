#include "volvox/scan/clean.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "volvox/base/cell_grid.h"
#include "volvox/base/index.h"
#include "volvox/scan/planes.h"

namespace volvox::scan {
namespace {

template <class Keep>
Cloud chosen(const Cloud& cloud, Keep keep) {
  Cloud result;
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    if (!keep(i)) continue;
    result.points.push_back(cloud.points[i]);
    if (!cloud.colors.empty()) result.colors.push_back(cloud.colors[i]);
  }
  return result;
}

// The roll of the robot from the slope of the floor in a sweep; 0 if too little floor is visible.
// `points` are in the plane of the sweep: x to the side, y above the floor.
double floor_slant(const std::vector<Vec2>& points, const Sweep& sweep, const Mounting& mounting) {
  double slant = 0, height = 0;
  for (int round = 0; round < 5; ++round) {
    // First all points that may be on the floor with a roll of up to three degrees, then the points near the line.
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Vec2& p = points[i];
      if (sweep.ranges[i] >= mounting.largest_range || p.x < 0.02 || p.x > 2) continue;
      const double off = p.y - (height + slant * p.x), limit = round == 0 ? 0.02 + 0.05 * p.x : 0.025;
      if (std::fabs(off) > limit) continue;
      n += 1, x += p.x, y += p.y, xx += p.x * p.x, xy += p.x * p.y;
    }
    const double spread = xx - x * x / std::max(n, 1.0);
    if (n < 12 || spread < 0.02 * n) return 0;  // too short for a slope
    slant = (xy - x * y / n) / spread;
    height = (y - slant * x) / n;
    if (std::fabs(slant) > 0.15) return 0;
  }
  return volvox::atan2(slant, 1);
}

}  // namespace

Result<Cloud> cloud_of(const ScanLog& log) {
  if (log.side.empty())
    return Error("the log has no sweeps of the upright laser (RLASER)", "record them: they show the arena");
  const Mounting& mounting = log.mounting;
  Cloud cloud;
  for (const Sweep& sweep : log.side) {
    const std::size_t n = sweep.ranges.size();
    std::vector<Vec2> points(n);
    const auto place = [&](double roll) {
      for (std::size_t i = 0; i < n; ++i) {
        const double a = ray_angle(mounting, i, n) + roll;
        points[i] = {sweep.ranges[i] * volvox::cos(a), sweep.ranges[i] * volvox::sin(a) + mounting.side_height};
      }
    };
    place(0);
    place(-floor_slant(points, sweep, mounting));
    for (std::size_t i = 2; i + 2 < n; ++i) {
      if (sweep.ranges[i] >= mounting.largest_range || sweep.ranges[i] < 0.02) continue;
      Vec2 mean;
      bool together = true;
      for (std::size_t k = i - 2; k <= i + 2; ++k) {
        mean = mean + points[k] * 0.2;
        together = together && std::fabs(sweep.ranges[k] - sweep.ranges[i]) < 0.1;
      }
      const Vec2 p = together ? mean : points[i];
      const Vec2 across = sweep.pose * Vec2{0, -p.x};  // to the right
      cloud.points.push_back({across.x, across.y, p.y});
    }
  }
  if (cloud.points.empty())
    return Error("the upright laser saw nothing within its range", "check the parameter volvox_laser_range of the log");
  return cloud;
}

Cloud raw_points(const ScanLog& log) {
  Cloud cloud;
  for (const Sweep& sweep : log.side)
    for (std::size_t i = 0; i < sweep.ranges.size(); ++i) {
      if (sweep.ranges[i] >= log.mounting.largest_range || sweep.ranges[i] < 0.02) continue;
      const double angle = ray_angle(log.mounting, i, sweep.ranges.size());
      const Vec2 across = sweep.pose * Vec2{0, -sweep.ranges[i] * volvox::cos(angle)};  // to the right
      cloud.points.push_back({across.x, across.y, sweep.ranges[i] * volvox::sin(angle) + log.mounting.side_height});
    }
  return cloud;
}

Cloud histogram_filter(const Cloud& cloud, const FilterOptions& options) {
  if (cloud.points.empty()) return cloud;
  const double cell = options.cell > 0 ? options.cell : cell_for(cloud.points, 4);
  const CellGrid grid(cloud.points, cell);
  std::vector<std::uint32_t> around(grid.cells().size());
  for (std::size_t c = 0; c < around.size(); ++c) {
    const CellKey k = grid.cells()[c].key;
    for (int n = 0; n < 27; ++n)
      if (const std::int64_t near = grid.find({k.x + n % 3 - 1, k.y + n / 3 % 3 - 1, k.z + n / 9 - 1}); near >= 0)
        around[c] += grid.cells()[near].count;
  }
  auto least = narrow<std::uint32_t>(std::max(0, options.least));
  if (least == 0) {
    // A fifth of the median: a cell at an edge has half of it, a cell at a corner a quarter or more.
    std::vector<std::uint32_t> of_points;
    for (std::size_t c = 0; c < around.size(); ++c) of_points.insert(of_points.end(), grid.cells()[c].count, around[c]);
    const auto middle = of_points.begin() + (of_points.size() / 2);
    std::nth_element(of_points.begin(), middle, of_points.end());
    least = *middle / 5;
  }
  return chosen(cloud, [&](std::size_t i) { return around[grid.cell_of_point(narrow<std::uint32_t>(i))] >= least; });
}

Cloud without_duplicates(const Cloud& cloud) {
  std::vector<std::uint32_t> order(cloud.points.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const Vec3 &p = cloud.points[a], &q = cloud.points[b];
    return p.x != q.x ? p.x < q.x : p.y != q.y ? p.y < q.y : p.z != q.z ? p.z < q.z : a < b;
  };
  std::sort(order.begin(), order.end(), before);
  std::vector<bool> repeated(cloud.points.size());
  for (std::size_t i = 1; i < order.size(); ++i)
    repeated[order[i]] = cloud.points[order[i]] == cloud.points[order[i - 1]];
  return chosen(cloud, [&](std::size_t i) { return !repeated[i]; });
}

Cloud evened(const Cloud& cloud) {
  constexpr std::uint32_t usual = 2, most = 10;
  double cell = cell_for(cloud.points, 4);
  for (int round = 0; round < 5; ++round) {
    const CellGrid grid(cloud.points, cell);
    std::vector<std::uint32_t> counts;
    for (const CellGrid::Cell& c : grid.cells()) counts.push_back(c.count);
    const auto middle = counts.begin() + (counts.size() / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    if (*middle >= usual) break;
    cell *= std::sqrt(real(usual) / *middle);
  }
  const CellGrid grid(cloud.points, cell);
  std::vector<bool> keep(cloud.points.size());
  for (const CellGrid::Cell& c : grid.cells()) {
    const auto members = grid.members(c);
    const auto count = std::min(c.count, most);
    for (std::uint32_t k = 0; k < count; ++k) keep[members[std::size_t{k} * c.count / count]] = true;
  }
  return chosen(cloud, [&](std::size_t i) { return keep[i]; });
}

Result<Prepared> prepare(const Cloud& cloud, bool filter) {
  Prepared result;
  result.cloud = without_duplicates(cloud);
  if (const std::size_t lost = cloud.points.size() - result.cloud.points.size(); lost > 0)
    result.notes.push_back(
        fmt::format("{} of {} points lay exactly on others and were left out", lost, cloud.points.size()));
  if (result.cloud.points.size() >= 100) {
    const std::size_t before = result.cloud.points.size();
    result.cloud = evened(result.cloud);
    if (const std::size_t lost = before - result.cloud.points.size(); lost > 0)
      result.notes.push_back(fmt::format("{} of {} points were left out where the cloud is densest", lost, before));
  }
  if (filter) {
    const std::size_t before = result.cloud.points.size();
    result.cloud = histogram_filter(result.cloud, {});
    if (const std::size_t lost = before - result.cloud.points.size(); lost > 0)
      result.notes.push_back(fmt::format("{} of {} points stood alone and were left out", lost, before));
  }
  if (result.cloud.points.size() < 100)
    return Error(fmt::format("{} different points are too few for a surface", result.cloud.points.size()),
                 "give a cloud of at least 100 points");
  Moments moments;
  for (const Vec3& p : result.cloud.points) moments.add(p - result.cloud.points[0]);
  if (!(fit_plane(moments).spread > 1e-6))
    return Error("all points of the cloud lie on one line", "give a cloud that shows a surface");
  return result;
}

}  // namespace volvox::scan
