// A robot with two lasers drives along the walls of an arena and back, and records what they see, with
// the errors that seed 002 describes: noise of the ranges, shaking, wrong odometry, mixed pixels.
#pragma once

#include <cstdint>

#include "volvox/scan/arena.h"
#include "volvox/scan/evaluate.h"
#include "volvox/scan/scan_log.h"

namespace volvox::scan {

struct DriveOptions {
  std::uint64_t seed = 1;
  double speed = 0.25;  // m/s
  double sweeps_a_second = 10;
  std::size_t rays = 361;        // of each sweep, over 180 degrees
  double noise = 0.007;          // deviation of a range, m (SICK: 7 mm at 4 m)
  double shake = 0.01;           // deviation of the roll of the robot, rad
  double odometry_drift = 0.02;  // of the way, and of the turns
  double beam = 0.004;           // width of a beam, rad: where its two sides see different ranges, pixels are mixed
};

struct Drive {
  ScanLog log;
  std::vector<Pose2> forward_truth, side_truth;  // where the robot really was at each sweep
};
Drive drive(const Arena& arena, const DriveOptions& options, const Progress& progress = {});

}  // namespace volvox::scan
