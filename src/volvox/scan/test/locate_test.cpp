#include "volvox/scan/locate.h"

#include <gtest/gtest.h>

#include "volvox/base/index.h"
#include "volvox/base/math.h"
#include "volvox/base/random.h"
#include "volvox/base/test/shortened.h"
#include "volvox/scan/pose_graph.h"
#include "volvox/scan/simulate.h"
#include "volvox/scan/surface_map.h"

namespace volvox::scan {
namespace {

Matrix3 diagonal(double position, double heading) { return {{{position, 0, 0}, {0, position, 0}, {0, 0, heading}}}; }

TEST(PoseGraph, SpreadsTheErrorOfALoopOverItsEdges) {
  // A square whose four corners are turned by 89 degrees each: the loop says that they are four right angles.
  const Pose2 step{{1, 0}, radians(89)};
  std::vector<Pose2> poses = {{}};
  std::vector<PoseEdge> edges;
  for (std::size_t i = 0; i < 4; ++i) {
    poses.push_back(poses.back() * step);
    edges.push_back({i, i + 1, step, diagonal(1e4, 1e4)});
  }
  edges.push_back({0, 4, {}, diagonal(1e8, 1e8)});
  optimise(poses, edges);
  EXPECT_NEAR(length(poses[4].position), 0, 1e-3);
  EXPECT_NEAR(wrapped(poses[4].heading), 0, 1e-3);
  for (std::size_t i = 1; i <= 4; ++i)
    EXPECT_NEAR(wrapped(poses[i].heading - poses[i - 1].heading), radians(90), radians(0.7)) << i;
}

TEST(PoseGraph, AWrongRobustEdgeDoesNotBendThePath) {
  std::vector<Pose2> poses(20);
  std::vector<PoseEdge> edges;
  for (std::size_t i = 1; i < poses.size(); ++i) {
    poses[i] = {{real(i), 0}, 0};
    edges.push_back({i - 1, i, {{1, 0}, 0}, diagonal(1e4, 1e4)});
  }
  edges.push_back({2, 18, {{3, 5}, 1}, diagonal(1e4, 1e4), 10});
  optimise(poses, edges);
  EXPECT_NEAR(poses[19].position.x, 19, 0.05);
  EXPECT_NEAR(poses[19].position.y, 0, 0.05);
}

TEST(PoseGraph, ADirectionWithoutInformationIsLeftToOtherEdges) {
  std::vector<Pose2> poses = {{}, {{1, 0.2}, 0}};
  const Matrix3 across = {{{0, 0, 0}, {0, 1e6, 0}, {0, 0, 1e6}}};
  optimise(poses, {{0, 1, {{1, 0.2}, 0}, diagonal(100, 100)}, {0, 1, {{7, 0.1}, 0}, across}});
  EXPECT_NEAR(poses[1].position.x, 1, 1e-6);
  EXPECT_NEAR(poses[1].position.y, 0.1, 1e-3);
}

TEST(PoseGraph, EigenvaluesAndInverse) {
  const Matrix3 m = {{{4, 1, 0.5}, {1, 3, 0.2}, {0.5, 0.2, 2}}};
  const Eigen3 parts = eigen(m);
  for (int p = 0; p < 3; ++p)
    for (int i = 0; i < 3; ++i) {
      double product = 0;
      for (int k = 0; k < 3; ++k) product += m[i][k] * parts.vectors[p][k];
      EXPECT_NEAR(product, parts.values[p] * parts.vectors[p][i], 1e-9);
    }
  const Matrix3 back = inverse(m);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(m[i][0] * back[0][k] + m[i][1] * back[1][k] + m[i][2] * back[2][k], i == k ? 1 : 0, 1e-12);
}

// A wall along x, seen from `side` (1: above), with 7 mm of noise.
std::vector<WallPoint> wall_at(double y, double side, std::uint64_t seed) {
  RandomStream random(seed, 0, "test:wall");
  std::vector<WallPoint> hits;
  for (int i = 0; i < 400; ++i) hits.push_back({{0.005 * i, y + 0.007 * random.normal()}, {0, side}});
  return hits;
}

TEST(SurfaceMap, AWallIsTheMeanOfWhatWasMeasured) {
  SurfaceMap map(0.02);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) map.add({}, wall_at(0.3, 1, seed));  // on the border of two cells
  for (const double y : {0.25, 0.3, 0.35}) {
    const WallPoint* wall = map.nearest({1, y}, {0.1, 0.99}, 0.1);
    ASSERT_NE(wall, nullptr) << y;
    EXPECT_NEAR(dot(wall->normal, Vec2{1, 0.3} - wall->at), 0, 0.0008);
    EXPECT_GT(wall->normal.y, 0.9999);
  }
  EXPECT_EQ(map.nearest({1, 0.35}, {0, 1}, 0.03), nullptr) << "beyond the limit";
  EXPECT_EQ(map.nearest({1, 0.3}, {1, 0}, 0.1), nullptr) << "another direction";
  EXPECT_EQ(map.nearest({5, 0.3}, {0, 1}, 0.1), nullptr) << "nothing there";
}

TEST(SurfaceMap, TheTwoSidesOfAThinWallAreApart) {
  SurfaceMap map(0.02);
  map.add({}, wall_at(0.33, 1, 1));
  map.add({}, wall_at(0.27, -1, 2));
  const WallPoint *above = map.nearest({1, 0.33}, {0, 1}, 0.1), *below = map.nearest({1, 0.27}, {0, -1}, 0.1);
  ASSERT_TRUE(above != nullptr && below != nullptr);
  EXPECT_NEAR(above->at.y, 0.33, 0.003);
  EXPECT_NEAR(below->at.y, 0.27, 0.003);
}

TEST(SurfaceMap, WhatIsNotFlatIsNoWall) {
  SurfaceMap map(0.02);
  RandomStream random(1, 0, "test:bush");
  std::vector<WallPoint> bush;
  for (int i = 0; i < 400; ++i) bush.push_back({{random.uniform(), random.uniform()}, {0, 1}});
  map.add({}, bush);
  EXPECT_EQ(map.nearest({0.5, 0.5}, {0, 1}, 0.1), nullptr);
}

struct Errors {
  double odometry = 0, position = 0, heading = 0;  // the largest on the path, m and rad
};

Errors errors_of(const ArenaOptions& room, const DriveOptions& options) {
  const auto arena = make_arena(room);
  const Drive d = drive(*arena, options);
  const auto located = locate(d.log);
  Errors errors;
  for (std::size_t i = 0; i < d.forward_truth.size(); ++i) {
    const Pose2 &is = located->log.forward[i].pose, &truth = d.forward_truth[i];
    errors.odometry = std::max(errors.odometry, length(d.log.forward[i].odometry.position - truth.position));
    errors.position = std::max(errors.position, length(is.position - truth.position));
    errors.heading = std::max(errors.heading, std::fabs(wrapped(is.heading - truth.heading)));
  }
  return errors;
}

constexpr ArenaOptions room{.seed = 4, .pit = false, .boxes = 0};
constexpr ArenaOptions hall{.length = 12, .width = 9, .pit = false, .boxes = 0};
constexpr ArenaOptions corridor{.length = 14, .width = 1.8, .pit = false, .boxes = 0};

// The robot of seed 002 was localized to 1 cm and 0.5 degrees. docs/scan.md has more seeds.
TEST(Locate, AsWellAsThePaperInRoomsHallsAndCorridors) {
  constexpr ArenaOptions short_corridor{.length = 8, .width = 1.6, .pit = false, .boxes = 0};
  const ArenaOptions arenas[] = {room, hall, short_corridor};
  for (const ArenaOptions& arena : shortened(arenas)) {
    const Errors e = errors_of(arena, {.seed = 2, .speed = 0.5, .range = 30});
    EXPECT_GT(e.odometry, 0.05) << "odometry alone is too good: the test shows nothing";
    EXPECT_LT(e.position, 0.01) << arena.length;
    EXPECT_LT(e.heading, radians(0.5)) << arena.length;
  }
}

// Without the map of all sweeps, single sweeps between keyframes were 22 mm off here, and others 0.9 degrees where the
// robot turns in a corner.
TEST(Locate, EverySweepIsLaidOnTheMapOfAll) {
  constexpr ArenaOptions short_corridor{.seed = 14, .length = 8, .width = 1.6, .pit = false, .boxes = 0};
  const Errors in_corridor = errors_of(short_corridor, {.seed = 14, .speed = 0.5});
  EXPECT_LT(in_corridor.position, 0.01);
  EXPECT_LT(in_corridor.heading, radians(0.5));
  if (sanitized) return;
  const Errors in_hall = errors_of(hall, {.seed = 14, .speed = 1, .range = 30});
  EXPECT_LT(in_hall.position, 0.01);
  EXPECT_LT(in_hall.heading, radians(0.5));
}

// With a range of 8 m the robot sees one or two walls of the hall, and no end of the corridor from its middle.
TEST(Locate, KeepsGoodOdometryWhereWallsAreMissing) {
  const ArenaOptions arenas[] = {hall, corridor};
  for (const ArenaOptions& arena : shortened(arenas)) {
    const Errors e = errors_of(arena, {.seed = 3, .speed = 1, .odometry_drift = 0});
    EXPECT_LT(e.position, 0.01) << arena.length;
    EXPECT_LT(e.heading, radians(0.5)) << arena.length;
  }
}

TEST(Locate, IsNeverMuchWorseThanTheOdometry) {
  const ArenaOptions arenas[] = {corridor, hall};
  for (const ArenaOptions& arena : shortened(arenas)) {
    const Errors e = errors_of(arena, {.seed = 5, .speed = 1, .odometry_drift = 0.01});
    EXPECT_LT(e.position, 1.05 * e.odometry) << arena.length;
  }
}

TEST(Locate, TheSameLogGivesTheSameBits) {
  const auto arena = make_arena(room);
  const Drive d = drive(*arena, {.seed = 1, .speed = 1, .rays = 181});
  const auto one = locate(d.log), two = locate(d.log);
  for (std::size_t i = 0; i < one->log.forward.size(); ++i) {
    EXPECT_EQ(one->log.forward[i].pose.position, two->log.forward[i].pose.position);
    EXPECT_EQ(one->log.forward[i].pose.heading, two->log.forward[i].pose.heading);
  }
}

TEST(Locate, SaysWhenNothingWasMatched) {
  // A laser that sees nothing within its range.
  ScanLog log;
  for (int i = 0; i < 50; ++i) {
    const Pose2 pose{{0.3 * i, 0}, 0};
    log.forward.push_back({0.1 * i, pose, pose, std::vector<double>(181, 8.0)});
  }
  const auto located = locate(log);
  ASSERT_TRUE(located.ok());
  EXPECT_NEAR(located->log.forward[49].pose.position.x, 0.3 * 49, 1e-9);
  ASSERT_FALSE(located->doubts.empty());
  EXPECT_NE(located->doubts[0].find("0 % of the way"), std::string::npos) << located->doubts[0];
}

TEST(PathError, ComparesMotionsAndNotFrames) {
  const Pose2 elsewhere{{5, -3}, 1};
  std::vector<Pose2> truth, path;
  for (int i = 0; i < 11; ++i) {
    truth.push_back({{real(i), 0}, 0});
    path.push_back(elsewhere * Pose2{{1.01 * i, 0}, 0});
  }
  const PathError e = relative_error(path, truth, 2);
  EXPECT_EQ(e.pairs, 9u);
  EXPECT_NEAR(e.position, 0.02, 1e-9);
  EXPECT_NEAR(e.heading, 0, 1e-9);
}

}  // namespace
}  // namespace volvox::scan
