// Where a robot thinks that it was: from the turns of its two wheels and the sweeps of a horizontal laser, located as
// the log of a scanning robot is (volvox/scan/locate.h). Nothing else of the world is looked at. Metres, radians,
// seconds; the frame is that in which the first pose is given. Owned by one experiment, called from the thread of its
// run; deterministic.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/base/math.h"
#include "volvox/scan/scan_log.h"

namespace volvox::experiments::arenas {

class Survey {
 public:
  Survey() = default;
  explicit Survey(const scan::Pose2& start) : x_(start.position.x), y_(start.position.y), heading_(start.heading) {}

  // Of every tick: how far the wheels have turned since the start, when `sweep` was taken. `sweep`: of the laser, over
  // half a turn from the right to the left, or empty.
  void tick(double time, double left, double right, const std::vector<double>& sweep);
  std::size_t ticks() const { return times_.size(); }
  // Of every tick so far: located by all sweeps so far, so earlier poses change, too; by the wheels before the first
  // sweep.
  std::vector<scan::Pose2> poses() const;
  // Whether what was loaded fits together.
  bool sound() const {
    return odometry_.size() == 3 * times_.size() && sweeps_.size() == sweep_ticks_.size() &&
           std::ranges::all_of(sweep_ticks_, [&](std::uint32_t tick) { return tick < times_.size(); });
  }

  template <class A>
  void archive(A& ar) {
    ar("x", x_), ar("y", y_), ar("heading", heading_);
    ar("left", left_), ar("right", right_);
    ar("times", times_), ar("odometry", odometry_);
    ar("sweep ticks", sweep_ticks_), ar("sweeps", sweeps_);
  }

 private:
  scan::Pose2 odometry(std::size_t tick) const {
    return {{odometry_[3 * tick], odometry_[3 * tick + 1]}, odometry_[3 * tick + 2]};
  }

  double x_ = 0, y_ = 0, heading_ = 0;    // by the wheels
  double left_ = 0, right_ = 0;           // rad, at the last tick
  std::vector<double> times_, odometry_;  // by tick; x, y and heading of each
  std::vector<std::uint32_t> sweep_ticks_;
  std::vector<std::vector<double>> sweeps_;
};

// A pose on the floor as one in the world.
inline Pose on_floor(const scan::Pose2& pose) {
  return {{pose.position.x, pose.position.y, 0}, Quat::axis_angle({0, 0, 1}, pose.heading)};
}

}  // namespace volvox::experiments::arenas
