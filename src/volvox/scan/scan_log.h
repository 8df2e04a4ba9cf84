// What a robot with two lasers recorded while it drove: a CARMEN log. FLASER lines are of the
// horizontal laser, that looks forward; RLASER lines of the upright one, that looks to the right.
// ROBOTLASER1 and ROBOTLASER2 are the same in CARMEN's newer form. PARAM lines say how the lasers are
// mounted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/scan/polygon.h"

namespace volvox::scan {

// A place on the floor, and where the robot looks (rad, counter-clockwise from x).
struct Pose2 {
  Vec2 position;
  double heading = 0;

  Vec2 operator*(const Vec2& p) const;
  Pose2 operator*(const Pose2& other) const;
  Pose2 inverse() const;
};
double wrapped(double angle);  // into (-pi, pi]

// One sweep of a laser: ranges at even angles over its field of view, from its right to its left (the
// upright laser: from below to above).
struct Sweep {
  double time = 0;
  Pose2 odometry;              // of the robot, as its wheels tell
  Pose2 pose;                  // of the robot, as far as known: odometry until it is located
  std::vector<double> ranges;  // m; at or beyond the largest range: nothing was hit
};

struct Mounting {
  double forward_height = 0.5, side_height = 0.5;  // m above the floor
  double field_of_view = 3.14159265358979323846;
  double largest_range = 8;
};

struct ScanLog {
  Mounting mounting;
  std::vector<Sweep> forward, side;  // by time
};

// Refuses a log without sweeps, and names the line of a sweep that lacks its odometry.
Result<ScanLog> parse_carmen(std::string_view text, const std::string& file);
std::string carmen_of(const ScanLog& log);

// The angle of a ray of a sweep of so many.
double ray_angle(const Mounting& mounting, std::size_t ray, std::size_t rays);

}  // namespace volvox::scan
