#include "volvox/scan/fit_path.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/base/math.h"
#include "volvox/scan/surface_map.h"

namespace volvox::scan {
namespace {

constexpr double tolerance = 10;  // squared deviations from which a measurement counts less

Matrix3 information_of(double position, double heading) {
  const double p = 1 / (position * position), h = 1 / (heading * heading);
  return {{{p, 0, 0}, {0, p, 0}, {0, 0, h}}};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + narrow<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The odometry between two sweeps. Its errors are those of many small steps: their squares add up.
struct Step {
  Pose2 pose;
  double position = 0, heading = 0;  // deviations of usual wheels
  bool turning = false;
};

class PathFit {
 public:
  PathFit(ScanLog& log, double noise) : log_(log), noise_(noise) {
    for (std::size_t i = 0; i < log.forward.size(); ++i) {
      poses_.push_back(log.forward[i].pose);
      hits_.push_back(view_of(log.forward[i], log.mounting).hits);
      if (i == 0) continue;
      const Pose2 step = log.forward[i - 1].odometry.inverse() * log.forward[i].odometry;
      const double way = length(step.position), turn = std::fabs(step.heading);
      steps_.push_back(
          {step, 0.001 + 0.05 * std::sqrt(way + 0.1 * turn), 0.001 + 0.02 * std::sqrt(way + turn), turn > way});
    }
  }

  // The map and the poses are solved in turn.
  void run() {
    constexpr int rounds = 3;
    for (int round = 0; round < rounds; ++round) {
      match_all();
      weigh_odometry();
      solve();
    }
    for (std::size_t i = 0; i < poses_.size(); ++i) log_.forward[i].pose = poses_[i];
  }

 private:
  void match_all() {
    SurfaceMap map(2 * noise_);
    for (std::size_t i = 0; i < poses_.size(); ++i) map.add(poses_[i], hits_[i]);
    matches_.clear();
    for (std::size_t i = 0; i < poses_.size(); ++i)
      matches_.push_back(match(map, hits_[i], poses_[i], {.noise = noise_, .from = 0.1}));
  }

  // How far the odometry of this log is from the matches, as multiples of what is usual. Wheels that drive well may
  // turn badly.
  void weigh_odometry() {
    for (const bool turning : {false, true}) {
      std::vector<double> position, heading;
      for (std::size_t i = 1; i < poses_.size(); ++i) {
        const Match &a = matches_[i - 1], &b = matches_[i];
        const Step& step = steps_[i - 1];
        if (step.turning != turning || a.directions < 3 || b.directions < 3 || a.inliers < 0.5 || b.inliers < 0.5)
          continue;
        const Pose2 off = step.pose.inverse() * (a.pose.inverse() * b.pose);
        position.push_back(length(off.position) / step.position);
        heading.push_back(std::fabs(off.heading) / step.heading);
      }
      if (position.size() < 10) continue;
      // The median of a half-normal distribution of deviation 1.
      const double p = clamp(median(position) / 0.6745, 0.05, 5), h = clamp(median(heading) / 0.6745, 0.05, 5);
      factors_[turning] = {p, h};
    }
  }

  // Given the map, a sweep is one measurement of its pose, and the odometry relates the sweeps: a pose graph whose
  // first node is the map. What nothing else determines stays where it is.
  void solve() {
    std::vector<Pose2> nodes = {{}};
    std::vector<PoseEdge> edges;
    for (std::size_t i = 0; i < poses_.size(); ++i) {
      nodes.push_back(poses_[i]);
      edges.push_back({0, i + 1, poses_[i], information_of(0.05, 0.01)});
      const Match& m = matches_[i];
      if (m.inliers > 0.3) edges.push_back({0, i + 1, m.pose, m.information, tolerance});
      if (i == 0) continue;
      const Step& step = steps_[i - 1];
      const auto& [position, heading] = factors_[step.turning];
      edges.push_back(
          {i, i + 1, step.pose, information_of(step.position * position, step.heading * heading), tolerance});
    }
    optimise(nodes, edges, 5);
    poses_.assign(nodes.begin() + 1, nodes.end());
  }

  ScanLog& log_;
  double noise_;
  std::vector<Pose2> poses_;
  std::vector<std::vector<WallPoint>> hits_;
  std::vector<Step> steps_;  // from each sweep to the next
  std::vector<Match> matches_;
  std::array<std::pair<double, double>, 2> factors_ = {{{1, 1}, {1, 1}}};  // position, heading: driving, turning
};

}  // namespace

void fit_path(ScanLog& log, double noise) { PathFit(log, noise).run(); }

}  // namespace volvox::scan
