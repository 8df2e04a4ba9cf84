#include "volvox/scan/scan_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "volvox/base/index.h"
#include "volvox/base/lines.h"
#include "volvox/base/math.h"

namespace volvox::scan {

Vec2 Pose2::operator*(const Vec2& p) const {
  const double c = volvox::cos(heading), s = volvox::sin(heading);
  return {position.x + c * p.x - s * p.y, position.y + s * p.x + c * p.y};
}

Pose2 Pose2::operator*(const Pose2& other) const { return {*this * other.position, wrapped(heading + other.heading)}; }

Pose2 Pose2::inverse() const {
  const double c = volvox::cos(heading), s = volvox::sin(heading);
  return {{-c * position.x - s * position.y, s * position.x - c * position.y}, -heading};
}

double wrapped(double angle) { return angle - 2 * pi * std::floor((angle + pi) / (2 * pi)); }

double ray_angle(const Mounting& mounting, std::size_t ray, std::size_t rays) {
  if (rays < 2) return 0;
  const double ends = mounting.field_of_view / real(rays - 1);  // between rays, if they begin and end with the field
  // The other laser may have another number of rays: the step is that of a laser whose rays fill the field with it.
  const bool given = std::fabs(mounting.ray_step * real(rays) - mounting.field_of_view) < 1.5 * mounting.ray_step;
  return real(ray) * (given ? mounting.ray_step : ends) - mounting.field_of_view / 2;
}

namespace {

constexpr const char* carmen_fix =
    "give FLASER and RLASER lines as CARMEN writes them: N, N ranges, x y theta, odom_x odom_y odom_theta, time";

bool next_pose(Words& words, Pose2& pose) {
  const auto x = words.number<double>(), y = words.number<double>(), heading = words.number<double>();
  if (!x || !y || !heading || !std::isfinite(*x) || !std::isfinite(*y) || !std::isfinite(*heading)) return false;
  if (std::fabs(*x) > 1e6 || std::fabs(*y) > 1e6 || std::fabs(*heading) > 1e6) return false;
  pose = {{*x, *y}, wrapped(*heading)};
  return true;
}

// An invalid reading means no hit.
double range_of(double reading) { return std::isfinite(reading) && reading >= 0 ? reading : 1e9; }

constexpr const char* robot_laser_fix =
    "give ROBOTLASER1 and ROBOTLASER2 lines as CARMEN writes them: type, start angle, field of view, resolution, "
    "largest range, accuracy, remission mode, N, N ranges, M, M remissions, "
    "laser's x y theta, robot's x y theta, tv, rv, forward and side safety distances, turn axis, time";

// CARMEN's newer message, which contains the properties of the laser. Returns an error, or "".
std::string read_robot_laser(Words& words, std::size_t line_size, ScanLog& log, Sweep& sweep) {
  double head[7];  // type, start angle, field of view, resolution, largest range, accuracy, remission mode
  for (double& value : head) {
    const auto number = words.number<double>();
    if (!number || !std::isfinite(*number)) return "does not have the properties of its laser";
    value = *number;
  }
  const double start = head[1], view = head[2], range = head[4];
  if (!(view > 0) || view > 2 * pi + 1e-6 || !(range > 0) || range > 1000)
    return "has a field of view or a largest range that no laser has";
  if (std::fabs(start + view / 2) > 0.02)
    return "looks to one side: its start angle is not minus half its field of view";
  const bool first = log.forward.empty() && log.side.empty();
  if (!first &&
      (std::fabs(log.mounting.field_of_view - view) > 0.02 || std::fabs(log.mounting.largest_range - range) > 1e-3))
    return "is of another laser than those before: field of view or largest range differ";
  log.mounting.field_of_view = view;
  log.mounting.largest_range = range;
  const auto count = words.number<std::uint32_t>();
  if (!count || *count < 2 || *count > line_size) return "does not say how many ranges it has";
  // Some lasers have a ray at both ends of the field, some leave the last one out.
  const double resolution = head[3], rays = real(*count);
  log.mounting.ray_step = std::fabs(resolution * rays - view) < 0.5 * resolution ? resolution : 0;
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto reading = words.number<double>();
    if (!reading) return fmt::format("has {} of {} ranges", i, *count);
    sweep.ranges.push_back(range_of(*reading));
  }
  const auto remissions = words.number<std::uint32_t>();
  if (!remissions || *remissions > line_size) return "does not say how many remissions it has";
  for (std::uint32_t i = 0; i < *remissions; ++i)
    if (!words.number<double>()) return fmt::format("has {} of {} remissions", i, *remissions);
  Pose2 laser, robot;
  if (!next_pose(words, laser)) return "has no pose of the laser after its ranges";
  if (!next_pose(words, robot)) return "has no odometry: the robot's x y theta are missing";
  // The position of the laser and the heading of the robot: the direction of the laser is fixed, as for FLASER and
  // RLASER.
  sweep.odometry = sweep.pose = {laser.position, robot.heading};
  for (int i = 0; i < 5; ++i)
    if (!words.number<double>()) return "has no speeds and safety distances";
  const auto time = words.number<double>();
  if (!time || !std::isfinite(*time)) return "has no time";
  sweep.time = *time;
  return "";
}

// FLASER and RLASER. Returns an error, or "".
std::string read_laser(Words& words, std::size_t line_size, Sweep& sweep) {
  const auto count = words.number<std::uint32_t>();
  if (!count || *count < 2 || *count > line_size) return "does not say how many ranges it has";
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto range = words.number<double>();
    if (!range) return fmt::format("has {} of {} ranges", i, *count);
    sweep.ranges.push_back(range_of(*range));
  }
  if (!next_pose(words, sweep.pose)) return "has no pose after its ranges";
  if (!next_pose(words, sweep.odometry)) return "has no odometry: odom_x odom_y odom_theta are missing";
  const auto time = words.number<double>();
  if (!time || !std::isfinite(*time)) return "has no time";
  sweep.time = *time;
  return "";
}

// What a log says about its laser outside the sweeps.
struct LaserParameters {
  bool range = false, view = false;  // given by Volvox
  double carmen_range = 0;           // m; 0: not given
};

// Reads one PARAM line. Returns an error, or "".
std::string read_parameter(Words& words, Mounting& mounting, LaserParameters& given) {
  const std::string_view name = words.next();
  double* value = name == "volvox_forward_laser_height"  ? &mounting.forward_height
                  : name == "volvox_side_laser_height"   ? &mounting.side_height
                  : name == "volvox_laser_range"         ? &mounting.largest_range
                  : name == "volvox_laser_field_of_view" ? &mounting.field_of_view
                  : name == "volvox_laser_ray_step"      ? &mounting.ray_step
                                                         : nullptr;
  const auto number = words.number<double>();
  if (name == "robot_frontlaser_offset" && number && std::fabs(*number) < 10) mounting.forward_offset = *number;
  if (name == "robot_front_laser_max" && number && *number > 0 && *number < 1000) given.carmen_range = *number;
  if (value == nullptr) return "";  // other parameters of the robot
  if (!number || !(*number > 0) || *number > 1000)
    return fmt::format("the parameter {} is not a length in metres (or an angle)", name);
  *value = *number;
  given.range = given.range || value == &mounting.largest_range;
  given.view = given.view || value == &mounting.field_of_view;
  return "";
}

// The odometry of a log that GMapping corrected: the ODOM lines after a sweep begin at its corrected pose and go on as
// the wheels turned.
class CorrectedOdometry {
 public:
  void odom(Words& words) {
    Pose2 pose;
    if (!next_pose(words, pose)) return;
    moved_ = known_;
    last_ = pose;
    known_ = true;
  }
  Pose2 sweep(const Pose2& corrected) {
    if (known_) sum_ = sum_ * (anchor_.inverse() * last_);
    missing_ += !moved_;
    anchor_ = last_ = corrected;
    known_ = moved_ = false;
    return sum_;
  }
  std::size_t missing() const { return missing_; }

 private:
  Pose2 anchor_, last_, sum_;
  bool known_ = false, moved_ = false;
  std::size_t missing_ = 0;
};

// FLASER lines say neither the range nor the angles of their laser. Lasers of that time turn a mirror over 180 degrees:
// 180 or 360 readings are one for each degree or half degree from the right, without the last.
void assume_laser(ScanLog& log, const LaserParameters& given, const std::string& file) {
  Mounting& mounting = log.mounting;
  const std::size_t rays = log.forward.empty() ? log.side[0].ranges.size() : log.forward[0].ranges.size();
  if (!given.view && (rays == 180 || rays == 360)) mounting.ray_step = mounting.field_of_view / real(rays);
  if (given.range) return;
  double largest = 0;
  for (const auto* sweeps : {&log.forward, &log.side})
    for (const Sweep& sweep : *sweeps)
      for (const double range : sweep.ranges)
        if (range < 1000) largest = std::max(largest, range);
  if (largest <= 0.02) return;
  const bool said = given.carmen_range >= largest / 2;  // CARMEN's parameter may be that of its simulator
  mounting.largest_range = said ? std::min(largest, given.carmen_range) : largest;
  log.notes.push_back(
      fmt::format("{}: the log does not say the range of its laser (PARAM volvox_laser_range): readings of "
                  "{:.2f} m and more, {}, count as no hit",
                  file, mounting.largest_range,
                  said && given.carmen_range < largest ? "as its robot_front_laser_max says" : "its largest"));
}

}  // namespace

Result<ScanLog> parse_carmen(std::string_view text, const std::string& file) {
  ScanLog log;
  LaserParameters given;
  CorrectedOdometry wheels;
  const bool corrected = text.starts_with("NEFF ") || text.find("\nNEFF ") != std::string_view::npos;
  bool has_old = false;  // sweeps that do not describe their laser
  Lines lines(text);
  std::string_view line;
  while (lines.next(line)) {
    const auto bad = [&](std::string what) { return Diagnostic{file, lines.number(), std::move(what), carmen_fix}; };
    Words words(line);
    const std::string_view kind = words.next();
    if (kind == "PARAM") {
      if (const std::string what = read_parameter(words, log.mounting, given); !what.empty()) return bad(what);
      continue;
    }
    if (kind == "ODOM" && corrected) wheels.odom(words);
    if (kind == "ROBOTLASER1" || kind == "ROBOTLASER2") {
      Sweep sweep;
      if (const std::string what = read_robot_laser(words, line.size(), log, sweep); !what.empty())
        return Diagnostic{file, lines.number(), fmt::format("{} {}", kind, what), robot_laser_fix};
      (kind == "ROBOTLASER1" ? log.forward : log.side).push_back(std::move(sweep));
      continue;
    }
    if (kind != "FLASER" && kind != "RLASER") continue;  // SYNC, comments ...
    Sweep sweep;
    if (const std::string what = read_laser(words, line.size(), sweep); !what.empty())
      return bad(fmt::format("{} {}", kind, what));
    if (corrected && kind == "FLASER") sweep.odometry = wheels.sweep(sweep.pose);
    has_old = true;
    (kind == "FLASER" ? log.forward : log.side).push_back(std::move(sweep));
  }
  if (log.forward.empty() && log.side.empty()) return Diagnostic{file, 0, "the log has no laser sweeps", carmen_fix};
  if (has_old) assume_laser(log, given, file);
  else log.mounting.forward_offset = 0;  // ROBOTLASER lines have the pose of the laser itself
  if (corrected && wheels.missing() > 1)
    log.notes.push_back(fmt::format("{}: before {} of {} sweeps, the log has no odometry: the robot counts as standing",
                                    file, wheels.missing(), log.forward.size()));
  for (Sweep& sweep : log.forward) {
    // Until the log is located, the first pose of a FLASER line is that of the laser by the odometry.
    const Pose2 laser = sweep.odometry * Pose2{{log.mounting.forward_offset, 0}, 0};
    if (length(laser.position - sweep.pose.position) < 1e-3) sweep.pose = sweep.odometry;
  }
  if (corrected) return log;  // GMapping keeps the order of sweeps, but not always their times
  const auto earlier = [](const Sweep& a, const Sweep& b) { return a.time < b.time; };
  std::stable_sort(log.forward.begin(), log.forward.end(), earlier);
  std::stable_sort(log.side.begin(), log.side.end(), earlier);
  return log;
}

std::string carmen_of(const ScanLog& log) {
  std::string text = fmt::format(
      "# CARMEN log, written by volvox scan\nPARAM volvox_forward_laser_height {}\nPARAM volvox_side_laser_height "
      "{}\nPARAM volvox_laser_range {}\nPARAM volvox_laser_field_of_view {}\n",
      log.mounting.forward_height, log.mounting.side_height, log.mounting.largest_range, log.mounting.field_of_view);
  if (log.mounting.ray_step > 0) text += fmt::format("PARAM volvox_laser_ray_step {}\n", log.mounting.ray_step);
  if (log.mounting.forward_offset != 0)
    text += fmt::format("PARAM robot_frontlaser_offset {}\n", log.mounting.forward_offset);
  const auto add = [&](const char* kind, const Sweep& s) {
    auto out = std::back_inserter(text);
    fmt::format_to(out, "{} {}", kind, s.ranges.size());
    for (const double range : s.ranges) fmt::format_to(out, " {:.4f}", range);
    fmt::format_to(out, " {:.6f} {:.6f} {:.6f} {:.6f} {:.6f} {:.6f} {:.3f} volvox {:.3f}\n", s.pose.position.x,
                   s.pose.position.y, s.pose.heading, s.odometry.position.x, s.odometry.position.y, s.odometry.heading,
                   s.time, s.time);
  };
  std::size_t f = 0, s = 0;
  while (f < log.forward.size() || s < log.side.size()) {
    const bool forward = s >= log.side.size() || (f < log.forward.size() && log.forward[f].time <= log.side[s].time);
    if (forward) add("FLASER", log.forward[f++]);
    else add("RLASER", log.side[s++]);
  }
  return text;
}

}  // namespace volvox::scan
