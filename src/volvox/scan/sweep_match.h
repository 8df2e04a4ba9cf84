// Matching of a horizontal sweep with the walls that other sweeps saw: the parts of localization. Metres and radians;
// deterministic.
#pragma once

#include <cstdint>
#include <vector>

#include "volvox/scan/pose_graph.h"
#include "volvox/scan/scan_log.h"

namespace volvox::scan {

// A point of a wall and the normal of the wall, towards the robot that saw it.
struct WallPoint {
  Vec2 at, normal;
  double weight = 1;  // 1: errors across the wall are the noise of a match; w: their square is a w-th
};

// What the laser saw from one place, in the frame of the robot.
struct View {
  std::vector<WallPoint> walls;  // points that lie on a line with their neighbours: the mean of these
  std::vector<WallPoint> hits;   // the same points, each as it was measured
  std::vector<Vec2> points;      // all hits
  Vec2 middle;                   // of the points
};
View view_of(const Sweep& sweep, const Mounting& mounting);

// Walls from several views, for nearest neighbours.
class WallMap {
 public:
  void add(const Pose2& pose, const std::vector<WallPoint>& walls);
  // The nearest point of a wall with about this normal; null: none within the limit, which is at most `reach`.
  const WallPoint* nearest(const Vec2& p, const Vec2& normal, double limit) const;
  std::size_t size() const { return count_; }
  static constexpr double reach = 0.2;

 private:
  struct Cell {
    std::int32_t x = 0, y = 0;
    std::uint32_t count = 0;
    std::array<WallPoint, 8> points;
  };
  Cell* find(std::int32_t x, std::int32_t y) const;
  void grow();

  std::vector<Cell> cells_;
  std::vector<std::int32_t> slots_ = std::vector<std::int32_t>(64, -1);  // of the hash table: a cell, or -1
  std::size_t count_ = 0;
};

class SurfaceMap;

struct Match {
  Pose2 pose;             // of the robot, in the frame of the map
  Matrix3 information{};  // of the walls alone, without directions that they do not determine
  double inliers = 0;     // the part of the view's walls that lie on walls of the map
  double rms = 0;         // their distance from these walls, m
  int directions = 0;     // of the three (x, y, heading): how many the walls determine
};

struct MatchOptions {
  double noise = 0.03;  // of a wall point across its wall, m, with what neighbours have in common
  double from = 0.2;    // first limit of distances between points that belong together, m
  double least = 3;     // points that must look along a direction to determine it
  Pose2 expected = {};  // where the robot should be, such as by its odometry, ...
  Matrix3 prior = {};   // ... and the information about it; 0: nothing is known
};

// Point-to-line ICP, begun at `start`. No inliers: the walls do not meet.
Match match(const WallMap& map, const std::vector<WallPoint>& walls, const Pose2& start, const MatchOptions& options);
Match match(const SurfaceMap& map, const std::vector<WallPoint>& hits, const Pose2& start, const MatchOptions& options);

// The place near the guess from which the points fit the map best (correlative matching). A window around it is
// searched exhaustively.
class PointField {
 public:
  explicit PointField(const std::vector<Vec2>& points);
  struct Window {
    double position = 0, heading = 0;                      // half its size, m and rad
    double position_deviation = 0, heading_deviation = 0;  // of the guess; 0: all places are equally likely
  };
  struct Found {
    Pose2 pose;
    double score = 0;  // mean over the points, 0 to 1
    double rival = 0;  // of the best place that is not beside it
  };
  Found search(const std::vector<Vec2>& points, const Pose2& guess, const Window& window) const;

 private:
  static constexpr double cell = 0.1;
  static constexpr int coarse = 4;  // fine cells along the edge of a coarse one
  double fine_value(int x, int y) const;
  double coarse_value(int x, int y) const;

  Vec2 low_;
  int columns_ = 0, rows_ = 0;
  std::vector<float> fine_, coarse_;  // coarse: the largest fine value in a block of cells that begins here
};

}  // namespace volvox::scan
