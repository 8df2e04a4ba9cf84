#include "volvox/scan/simulate.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/rays/ray_caster.h"

namespace volvox::scan {
namespace {

// One round along the walls, a turn, and the round in the other direction: the laser on the right sees first the
// walls and then the objects in the centre.
std::vector<Vec2> round_trip(const Arena& arena) {
  constexpr double from_wall = 0.35;
  const double x = arena.options.length / 2 - from_wall, y = arena.options.width / 2 - from_wall;
  const std::vector<Vec2> round = {{-x, -y}, {x, -y}, {x, y}, {-x, y}, {-x, -y}};
  std::vector<Vec2> stops = round;
  stops.insert(stops.end(), round.rbegin() + 1, round.rend());
  return stops;
}

// A pose for every sweep.
std::vector<Pose2> path_along(const std::vector<Vec2>& stops, const DriveOptions& options) {
  const double step = options.speed / options.sweeps_a_second, turn_step = 0.3 / options.sweeps_a_second;  // 0.3 rad/s
  std::vector<Pose2> path = {{stops[0], 0}};
  for (std::size_t i = 1; i < stops.size(); ++i) {
    const Vec2 way = stops[i] - stops[i - 1];
    const double heading = volvox::atan2(way.y, way.x), size = length(way);
    const double turn = wrapped(heading - path.back().heading);
    const auto turns = truncated<int>(std::ceil(std::fabs(turn) / turn_step));
    const double before = path.back().heading;
    for (int k = 1; k <= turns; ++k) path.push_back({stops[i - 1], wrapped(before + turn * k / turns)});
    const auto steps = std::max(1, truncated<int>(std::ceil(size / step)));
    for (int k = 1; k <= steps; ++k) path.push_back({stops[i - 1] + way * (real(k) / steps), heading});
  }
  return path;
}

class Lasers {
 public:
  Lasers(const TriangleMesh& arena, const DriveOptions& options, const Mounting& mounting)
      : caster_(std::make_shared<const model::MeshData>(arena)),
        options_(options),
        mounting_(mounting),
        random_(options.seed, 0, "scan:lasers") {}

  std::vector<double> forward(const Pose2& robot) {
    const Vec3 from{robot.position.x, robot.position.y, mounting_.forward_height};
    return sweep(from, [&](double angle) {
      return Vec3{volvox::cos(robot.heading + angle), volvox::sin(robot.heading + angle), 0};
    });
  }
  // The vertical laser sweeps upwards in the plane across the robot; shaking rotates it within this plane.
  std::vector<double> side(const Pose2& robot) {
    const double roll = random_.normal() * options_.shake;
    const Vec3 from{robot.position.x, robot.position.y, mounting_.side_height};
    const Vec3 right{volvox::sin(robot.heading), -volvox::cos(robot.heading), 0};
    return sweep(from, [&](double angle) {
      return right * volvox::cos(angle + roll) + Vec3{0, 0, volvox::sin(angle + roll)};
    });
  }

 private:
  template <class Way>
  std::vector<double> sweep(const Vec3& from, Way way) {
    std::vector<rays::Ray> rays;  // the middle and both sides of every beam
    for (std::size_t i = 0; i < options_.rays; ++i) {
      const double angle = ray_angle(mounting_, i, options_.rays);
      for (const double off : {0.0, -options_.beam / 2, options_.beam / 2})
        rays.push_back({from, way(angle + off), mounting_.largest_range, 0});
    }
    std::vector<rays::Hit> hits(rays.size());
    caster_.cast(rays, hits);
    const auto range = [&](std::size_t ray) { return hits[ray].hit() ? hits[ray].distance : mounting_.largest_range; };
    std::vector<double> ranges;
    for (std::size_t i = 0; i < options_.rays; ++i) {
      double r = range(3 * i);
      // A beam that hits two surfaces measures a range between them (mixed pixel).
      const double one = range(3 * i + 1), other = range(3 * i + 2);
      if (std::fabs(one - other) > 0.1 && std::max(one, other) < mounting_.largest_range)
        r = one + (other - one) * random_.uniform();
      const double noise = random_.normal() * options_.noise;
      ranges.push_back(r < mounting_.largest_range ? std::max(0.0, r + noise) : mounting_.largest_range);
    }
    return ranges;
  }

  rays::RayCaster caster_;
  DriveOptions options_;
  Mounting mounting_;
  RandomStream random_;
};

}  // namespace

Drive drive(const Arena& arena, const DriveOptions& options, const Progress& progress) {
  return drive(arena.mesh, round_trip(arena), options, progress);
}

Drive drive(const TriangleMesh& arena, const std::vector<Vec2>& stops, const DriveOptions& options,
            const Progress& progress) {
  VOLVOX_ASSERT(stops.size() >= 2 && options.forward_every > 0);
  Drive result;
  result.log.mounting.largest_range = options.range;
  result.log.mounting.forward_height = options.forward_height;
  result.log.mounting.side_height = options.side_height;
  const std::vector<Pose2> path = path_along(stops, options);
  Lasers lasers(arena, options, result.log.mounting);
  RandomStream random(options.seed, 0, "scan:odometry");
  Pose2 odometry = path[0];
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i > 0) {
      // The odometry error is proportional to the step.
      Pose2 step = path[i - 1].inverse() * path[i];
      const double way = length(step.position);
      step.position = step.position * (1 + random.normal() * 5 * options.odometry_drift);
      step.heading = step.heading * (1 + random.normal() * 5 * options.odometry_drift) +
                     random.normal() * options.odometry_drift * way;
      odometry = odometry * step;
    }
    const double time = real(i) / options.sweeps_a_second;
    if (i % options.forward_every == 0) {
      result.log.forward.push_back({time, odometry, odometry, lasers.forward(path[i])});
      result.forward_truth.push_back(path[i]);
    }
    result.log.side.push_back({time, odometry, odometry, lasers.side(path[i])});
    result.side_truth.push_back(path[i]);
    if (progress && i % 64 == 0) progress(real(i) / real(path.size()));
  }
  return result;
}

}  // namespace volvox::scan
