#include "volvox/scan/register.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "volvox/base/cell_grid.h"
#include "volvox/base/index.h"
#include "volvox/scan/clean.h"
#include "volvox/scan/planes.h"
#include "volvox/scan/polygon.h"
#include "volvox/scan/scan_log.h"

namespace volvox::scan {
namespace {

// One point per cell, so that distant parts of a scan have the same weight as near ones.
std::vector<Vec3> thinned(const std::vector<Vec3>& points, double cell) {
  const CellGrid grid(points, cell);
  std::vector<Vec3> result;
  for (const CellGrid::Cell& c : grid.cells()) {
    Vec3 sum;
    for (const std::uint32_t i : grid.members(c)) sum += points[i];
    result.push_back(sum / c.count);
  }
  return result;
}

// The size of the box that contains the central 90 % of the points along each axis.
double middle_size(const std::vector<Vec3>& points) {
  Vec3 size;
  for (int i = 0; i < 3; ++i) {
    std::vector<double> x;
    for (const Vec3& p : points) x.push_back(p[i]);
    std::sort(x.begin(), x.end());
    size[i] = x[x.size() * 19 / 20] - x[x.size() / 20];
  }
  return std::max(length(size), 1e-6);
}

struct Surface {
  std::vector<Vec3> points, normals;  // a zero normal: not flat there
};

Surface surface_of(const std::vector<Vec3>& all, double cell) {
  Surface surface{thinned(all, cell), {}};
  const CellGrid grid(surface.points, 2 * cell);
  for (const Vec3& p : surface.points) {
    Moments moments;
    grid.near(p, 2.2 * cell, [&](std::uint32_t i, double) { moments.add(surface.points[i] - p); });
    const FittedPlane plane = moments.count >= 6 ? fit_plane(moments) : FittedPlane{};
    surface.normals.push_back(plane.rms < 0.3 * plane.spread ? plane.normal : Vec3{});
  }
  return surface;
}

// A 2-D grid map of the walls, with a weight for each cell.
class Plan {
 public:
  Plan(const std::vector<Vec2>& walls, double cell) : cell_(cell) {
    Vec2 high{-1e300, -1e300};
    low_ = {1e300, 1e300};
    for (const Vec2& p : walls) {
      low_ = {std::min(low_.x, p.x), std::min(low_.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
    while ((high.x - low_.x) * (high.y - low_.y) / (cell_ * cell_) > 1e6) cell_ *= 2;
    columns_ = truncated<int>((high.x - low_.x) / cell_) + 1;
    rows_ = truncated<int>((high.y - low_.y) / cell_) + 1;
    count_.assign(columns_ * rows_, 0);
    for (const Vec2& p : walls) {
      auto& c = count_[truncated<int>((p.y - low_.y) / cell_) * columns_ + truncated<int>((p.x - low_.x) / cell_)];
      c = std::min(c + 1, 8);  // limits the weight of high walls
    }
  }
  double cell() const { return cell_; }
  int at(const Vec2& p) const {
    const double x = (p.x - low_.x) / cell_, y = (p.y - low_.y) / cell_;
    if (x < 0 || y < 0 || x >= columns_ || y >= rows_) return 0;
    return count_[truncated<int>(y) * columns_ + truncated<int>(x)];
  }
  // The centres of cells with several points, and their weights.
  std::vector<std::pair<Vec2, int>> strong() const {
    std::vector<std::pair<Vec2, int>> result;
    for (int y = 0; y < rows_; ++y)
      for (int x = 0; x < columns_; ++x)
        if (const int c = count_[y * columns_ + x]; c >= 3)
          result.push_back({{low_.x + (x + 0.5) * cell_, low_.y + (y + 0.5) * cell_}, c});
    return result;
  }
  Vec2 low() const { return low_; }
  Vec2 high() const { return low_ + Vec2{columns_ * cell_, rows_ * cell_}; }

 private:
  double cell_;
  Vec2 low_;
  int columns_ = 0, rows_ = 0;
  std::vector<int> count_;
};

// Scans of one room had 0.54 or more, scans of different rooms 0.35 or less (docs/scan.md, register).
constexpr double least_walls_met = 0.45;

// The second best fit may be the right one if it reaches these fractions of the best fit. In a symmetric room with
// objects, a wrong yaw loses 1 to 3 % of the walls, but 4 to 6 % of the overlap; noise changes less than 1 %.
constexpr double as_many_walls = 0.9, as_much_overlap = 0.98;

bool is_wall(const Vec3& normal) { return normal != Vec3{} && std::fabs(normal.z) < 0.3; }

std::vector<Vec2> walls_of(const Surface& surface) {
  std::vector<Vec2> walls;
  for (std::size_t i = 0; i < surface.points.size(); ++i)
    if (is_wall(surface.normals[i])) walls.push_back({surface.points[i].x, surface.points[i].y});
  return walls;
}

// Point-to-plane ICP with six degrees of freedom.
Registration refine(const Surface& fixed, const CellGrid& grid, const Surface& moving, Pose pose, double reach) {
  Registration result;
  for (int round = 0; round < 40; ++round) {
    double a[6][7] = {};
    double count = 0, squares = 0;
    const double limit = std::max(reach, 4 * reach - round * 0.3 * reach);
    for (std::size_t i = 0; i < moving.points.size(); ++i) {
      const Vec3 p = pose * moving.points[i];
      double least = limit * limit;
      std::int64_t best = -1;
      grid.near(p, limit, [&](std::uint32_t k, double d) {
        if (d < least && fixed.normals[k] != Vec3{}) least = d, best = k;
      });
      if (best < 0) continue;
      const Vec3 n = fixed.normals[best];
      const double off = dot(n, p - fixed.points[best]);
      const Vec3 turn = cross(p - pose.position, n);
      const double row[6] = {n.x, n.y, n.z, turn.x, turn.y, turn.z};
      const double weight = 1 / (1 + off * off / (0.25 * reach * reach));
      for (int r = 0; r < 6; ++r) {
        for (int c = 0; c < 6; ++c) a[r][c] += weight * row[r] * row[c];
        a[r][6] -= weight * row[r] * off;
      }
      count += 1;
      squares += off * off;
    }
    result = {pose, count / real(moving.points.size()), std::sqrt(squares / std::max(count, 1.0)), limit, 0, 0, 0, 0,
              0};
    if (count < 20) return result;
    for (int r = 0; r < 6; ++r) a[r][r] += 1e-6 * count;
    for (int r = 0; r < 6; ++r) {  // Gaussian elimination with partial pivoting
      int pivot = r;
      for (int k = r + 1; k < 6; ++k)
        if (std::fabs(a[k][r]) > std::fabs(a[pivot][r])) pivot = k;
      std::swap(a[r], a[pivot]);
      for (int k = 0; k < 6; ++k) {
        if (k == r || a[k][r] == 0) continue;
        const double f = a[k][r] / a[r][r];
        for (int c = r; c < 7; ++c) a[k][c] -= f * a[r][c];
      }
    }
    double x[6];
    for (int r = 0; r < 6; ++r) x[r] = a[r][6] / a[r][r];
    pose.position += Vec3{x[0], x[1], x[2]};
    pose.rotation = normalized(from_rotation_vector({x[3], x[4], x[5]}) * pose.rotation);
    if (limit <= reach &&
        std::fabs(x[0]) + std::fabs(x[1]) + std::fabs(x[2]) + std::fabs(x[3]) + std::fabs(x[4]) + std::fabs(x[5]) <
            1e-6)
      break;
  }
  return result;
}

// The fraction of the walls that lie on parallel walls. Floors and ceilings match at any yaw, so they cannot
// distinguish the orientations of a room.
double walls_on_walls(const Surface& fixed, const CellGrid& grid, const Surface& moving, const Pose& pose,
                      double reach) {
  double walls = 0, met = 0;
  for (std::size_t i = 0; i < moving.points.size(); ++i) {
    if (!is_wall(moving.normals[i])) continue;
    const Vec3 normal = pose.rotation * moving.normals[i];
    bool found = false;
    grid.near(pose * moving.points[i], reach, [&](std::uint32_t k, double) {
      found = found || (is_wall(fixed.normals[k]) && std::fabs(dot(fixed.normals[k], normal)) > 0.9);
    });
    walls += 1;
    met += found;
  }
  return walls > 0 ? met / walls : 0;
}

double turn_about_vertical(const Quat& rotation) {
  const Vec3 ahead = rotation * Vec3{1, 0, 0};
  return volvox::atan2(ahead.y, ahead.x);
}

// A shift in the plane at one angle, by how well the walls of two plans meet.
struct Guess {
  double score = 0, yaw = 0;
  Vec2 shift;
};

Guess best_shift(const std::vector<std::pair<Vec2, int>>& strong, double yaw, const Plan& plan) {
  const Pose2 turn{{}, yaw};
  std::vector<std::pair<Vec2, int>> turned;
  for (const auto& [p, weight] : strong) turned.push_back({turn * p, weight});
  Vec2 low{1e300, 1e300}, high{-1e300, -1e300};
  for (const auto& [p, weight] : turned) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  // At least half of the smaller map must overlap the other.
  const Vec2 size{std::min(high.x - low.x, plan.high().x - plan.low().x) / 2,
                  std::min(high.y - low.y, plan.high().y - plan.low().y) / 2};
  Guess best{0, yaw, {}};
  const double step = plan.cell();
  for (double y = plan.low().y - high.y + size.y; y <= plan.high().y - low.y - size.y; y += step) {
    for (double x = plan.low().x - high.x + size.x; x <= plan.high().x - low.x - size.x; x += step) {
      double score = 0;
      for (const auto& [p, weight] : turned) score += std::min(weight, plan.at(p + Vec2{x, y}));
      if (score > best.score) best = {score, yaw, {x, y}};
    }
  }
  return best;
}

// The height of the floor: the lowest 5 % of the points.
double floor_of(const Surface& surface) {
  std::vector<double> z;
  for (const Vec3& p : surface.points) z.push_back(p.z);
  std::nth_element(z.begin(), z.begin() + z.size() / 20, z.end());
  return z[z.size() / 20];
}

// The best of the fits, with the best of those that are turned against it.
Result<Registration> judged(const std::vector<Registration>& fits) {
  Registration best;
  for (const Registration& fit : fits)
    if (fit.walls > best.walls) best = fit;
  if (best.overlap < 0.2)
    return Error(fmt::format("only {:.0f} % of one cloud lies on the other", 100 * best.overlap),
                 "give scans that see the same room");
  // The mean of both directions: all walls of a scan of a small part may lie on walls of the room, but not vice versa.
  if (best.walls_met() < least_walls_met)
    return Error(fmt::format("the clouds do not seem to show the same room: where they fit best, {:.0f} % of the walls "
                             "of the second lie on walls of the first, and {:.0f} % the other way",
                             100 * best.walls, 100 * best.walls_back),
                 "give scans that see more of the same room");
  for (const Registration& fit : fits) {
    const double turn = turn_about_vertical(best.pose.rotation.conjugate() * fit.pose.rotation);
    if (std::fabs(turn) < radians(20) || fit.walls_met() <= best.rival_walls_met) continue;
    best.rival_turn = turn, best.rival_walls_met = fit.walls_met(), best.rival_overlap = fit.overlap;
  }
  return best;
}

}  // namespace

std::string Registration::doubt() const {
  if (rival_walls_met < as_many_walls * walls_met() || rival_overlap < as_much_overlap * overlap) return {};
  return fmt::format(
      "turned by {:.0f} degrees the scan fits as well ({:.0f} % of the walls meet; as it was laid, {:.0f} %): the room "
      "looks alike from both sides",
      degrees(std::fabs(rival_turn)), 100 * rival_walls_met, 100 * walls_met());
}

Result<Registration> register_clouds(const Cloud& fixed, const Cloud& moving, const Progress& progress) {
  // Only to reject clouds without a surface; thinning below makes the density uniform.
  for (const Cloud* cloud : {&fixed, &moving})
    if (const auto sound = prepare(*cloud, false); !sound.ok()) return sound.error();
  const std::vector<Vec3> first = histogram_filter(without_duplicates(fixed), {}).points,
                          second = histogram_filter(without_duplicates(moving), {}).points;
  const double cell = middle_size(first) / 100;
  const Surface to = surface_of(first, cell), from = surface_of(second, cell);
  const std::vector<Vec2> walls = walls_of(to), other = walls_of(from);
  if (walls.size() < 50 || other.size() < 50)
    return Error("the clouds show too few walls to register them", "give scans of a room");
  const Plan plan(walls, 2 * cell), strong_plan(other, 2 * cell);
  const auto strong = strong_plan.strong();

  std::vector<Guess> guesses;
  constexpr int turns = 120;
  for (int t = 0; t < turns; ++t) {
    guesses.push_back(best_shift(strong, 2 * pi * t / turns, plan));
    if (progress) progress(0.7 * (t + 1) / turns);
  }
  std::stable_sort(guesses.begin(), guesses.end(), [](const Guess& a, const Guess& b) { return a.score > b.score; });
  const double lift = floor_of(to) - floor_of(from);
  const double reach = 1.5 * cell;
  const CellGrid grid(to.points, 2 * cell);
  const CellGrid grid_back(from.points, 2 * cell);
  std::vector<Registration> fits;
  std::vector<double> tried;
  for (const Guess& guess : guesses) {
    // Similar yaw angles converge to the same pose.
    if (tried.size() >= 6) break;
    if (std::any_of(tried.begin(), tried.end(),
                    [&](double yaw) { return std::fabs(wrapped(yaw - guess.yaw)) < radians(20); }))
      continue;
    tried.push_back(guess.yaw);
    const Pose pose{{guess.shift.x, guess.shift.y, lift}, Quat::rpy(0, 0, guess.yaw)};
    Registration candidate = refine(to, grid, from, pose, reach);
    candidate.walls = walls_on_walls(to, grid, from, candidate.pose, reach);
    candidate.walls_back = walls_on_walls(from, grid_back, to, candidate.pose.inverse(), reach);
    fits.push_back(candidate);
    if (progress) progress(0.7 + 0.05 * real(tried.size()));
  }
  return judged(fits);
}

}  // namespace volvox::scan
