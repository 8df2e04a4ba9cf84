// Simulates a robot with two lasers that drives along the walls of an arena and back, with the errors described in
// seed 002: range noise, shaking, odometry drift, mixed pixels. Metres; the same seed gives the same bits.
#pragma once

#include <cstdint>
#include <vector>

#include "volvox/scan/arena.h"
#include "volvox/scan/evaluate.h"
#include "volvox/scan/scan_log.h"

namespace volvox::scan {

struct DriveOptions {
  std::uint64_t seed = 1;
  double speed = 0.25;            // m/s
  double sweeps_a_second = 10;    // of the upright laser
  std::size_t forward_every = 1;  // one sweep of the horizontal laser for so many of the upright one
  std::size_t rays = 361;         // of each sweep, over 180 degrees
  double range = 8;               // of the lasers, m
  double noise = 0.007;           // standard deviation of a range, m (SICK: 7 mm at 4 m)
  double shake = 0.01;            // standard deviation of the roll of the robot, rad
  double odometry_drift = 0.02;   // relative to the distance and to the rotation
  double beam = 0.004;            // width of a beam, rad: if its two sides have different ranges, the pixel is mixed
  double forward_height = 0.5, side_height = 0.5;  // of the lasers above the floor, m
};

struct Drive {
  ScanLog log;
  std::vector<Pose2> forward_truth, side_truth;  // the true pose at each sweep
};
Drive drive(const Arena& arena, const DriveOptions& options, const Progress& progress = {});
// Through any surface whose floor is z = 0: straight from stop to stop, as somebody steers it, turning in place. At
// least two stops.
Drive drive(const TriangleMesh& arena, const std::vector<Vec2>& stops, const DriveOptions& options,
            const Progress& progress = {});

}  // namespace volvox::scan
