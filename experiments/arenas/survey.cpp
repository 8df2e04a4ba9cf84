#include "survey.h"

#include "volvox/base/index.h"
#include "volvox/scan/locate.h"

namespace volvox::experiments::arenas {
namespace {

constexpr double wheel_radius = 0.048, track = 0.1;  // m, of a Scout
constexpr double laser_range = 8;                    // m

}  // namespace

void Survey::tick(double time, double left, double right, const std::vector<double>& sweep) {
  const double by_left = wheel_radius * (left - left_), by_right = wheel_radius * (right - right_);
  const double turn = (by_right - by_left) / track, way = (by_left + by_right) / 2;
  left_ = left, right_ = right;
  x_ += way * volvox::cos(heading_ + turn / 2), y_ += way * volvox::sin(heading_ + turn / 2);
  heading_ = scan::wrapped(heading_ + turn);
  if (!sweep.empty()) {
    sweep_ticks_.push_back(narrow<std::uint32_t>(times_.size()));
    sweeps_.push_back(sweep);
  }
  times_.push_back(time);
  odometry_.insert(odometry_.end(), {x_, y_, heading_});
}

std::vector<scan::Pose2> Survey::poses() const {
  scan::ScanLog log;
  log.mounting.largest_range = laser_range;
  for (std::size_t i = 0; i < sweeps_.size(); ++i) {
    const std::size_t tick = sweep_ticks_[i];
    log.forward.push_back({times_[tick], odometry(tick), odometry(tick), sweeps_[i]});
  }
  for (std::size_t tick = 0; tick < ticks(); ++tick)
    log.side.push_back({times_[tick], odometry(tick), odometry(tick), {}});
  auto located = scan::locate(log);
  if (located.ok()) log = std::move(located->log);
  std::vector<scan::Pose2> poses;
  for (const scan::Sweep& sweep : log.side) poses.push_back(sweep.pose);
  return poses;
}

}  // namespace volvox::experiments::arenas
