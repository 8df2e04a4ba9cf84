// A CARMEN log: the recording of a robot with two lasers. FLASER lines are from the horizontal laser, which looks
// forward; RLASER lines are from the vertical laser, which looks to the right. ROBOTLASER1 and ROBOTLASER2 are the
// same in CARMEN's newer format. PARAM lines describe the mounting of the lasers. In a log that GMapping corrected (it
// has NEFF lines), the pose of a sweep is the corrected one, and its odometry is summed from the ODOM lines before it.
// Metres, radians, seconds.
// A log is a value that owns its sweeps, in the order of the file. Readers are pure: any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/scan/polygon.h"

namespace volvox::scan {

// A pose in the plane of the floor; heading in rad, counter-clockwise from x.
struct Pose2 {
  Vec2 position;
  double heading = 0;

  Vec2 operator*(const Vec2& p) const;
  Pose2 operator*(const Pose2& other) const;
  Pose2 inverse() const;
};
double wrapped(double angle);  // into (-pi, pi]

// One sweep of a laser: ranges at equal angular steps over its field of view, from right to left (vertical laser:
// upwards).
struct Sweep {
  double time = 0;
  Pose2 odometry;              // pose of the robot from its wheels
  Pose2 pose;                  // best known pose of the robot: the odometry until locate() corrects it
  std::vector<double> ranges;  // m; the largest range or more: no hit
};

struct Mounting {
  double forward_height = 0.5, side_height = 0.5;  // m above the floor
  double forward_offset = 0;                       // of the forward laser, m before the centre of the robot
  double field_of_view = 3.14159265358979323846;
  double ray_step = 0;  // rad between rays; 0: the last ray is at the end of the field of view
  double largest_range = 8;
};

struct ScanLog {
  Mounting mounting;
  std::vector<Sweep> forward, side;  // sorted by time
  std::vector<std::string> notes;    // what the log does not say and was assumed
};

// Fails for a log without sweeps, or with a sweep without odometry; the error has the line.
Result<ScanLog> parse_carmen(std::string_view text, const std::string& file);
std::string carmen_of(const ScanLog& log);

// The angle of one of `rays` rays of a sweep, from the direction in which the laser looks.
double ray_angle(const Mounting& mounting, std::size_t ray, std::size_t rays);

}  // namespace volvox::scan
