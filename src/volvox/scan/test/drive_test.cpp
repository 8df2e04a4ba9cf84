#include <fmt/format.h>
#include <gtest/gtest.h>

#include "volvox/base/index.h"
#include "volvox/base/math.h"
#include "volvox/base/random.h"
#include "volvox/scan/build.h"
#include "volvox/scan/clean.h"
#include "volvox/scan/locate.h"
#include "volvox/scan/register.h"
#include "volvox/scan/simulate.h"
#include "volvox/scan/triangle_tree.h"

namespace volvox::scan {
namespace {

TEST(ScanLog, ReadsWhatItWrites) {
  ScanLog log;
  log.mounting.side_height = 0.7;
  log.forward.push_back({1.5, {{1, 2}, 0.5}, {{1.1, 2.1}, 0.6}, {1, 2, 8}});
  log.side.push_back({1.6, {{1, 2}, 0.5}, {{1.1, 2.1}, 0.6}, {3, 4}});
  const auto again = parse_carmen(carmen_of(log), "a.log");
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again->mounting.side_height, 0.7);
  ASSERT_EQ(again->forward.size(), 1u);
  EXPECT_EQ(again->forward[0].ranges, log.forward[0].ranges);
  EXPECT_NEAR(again->forward[0].pose.position.x, 1.1, 1e-9);
  EXPECT_NEAR(again->forward[0].odometry.heading, 0.5, 1e-9);
  EXPECT_EQ(again->side[0].ranges.size(), 2u);
}

TEST(ScanLog, SaysWhatIsMissingAndWhere) {
  const auto complaint = [](const std::string& text) {
    const auto log = parse_carmen(text, "a.log");
    return log.ok() ? std::string("(none)") : log.error().text();
  };
  EXPECT_NE(complaint("").find("no laser sweeps"), std::string::npos);
  EXPECT_NE(complaint("PARAM x 1\nFLASER 3 1 2 3 0 0 0\n").find("a.log:2: FLASER has no odometry"), std::string::npos);
  EXPECT_NE(complaint("FLASER 3 1 2\n").find("2 of 3 ranges"), std::string::npos);
  EXPECT_NE(complaint("FLASER 2 1 2 0 0 0 0 nan 0 1 h 1\n").find("no odometry"), std::string::npos);
  EXPECT_NE(complaint("FLASER 99999999 1 2\n").find("how many"), std::string::npos);
  EXPECT_NE(complaint("PARAM volvox_laser_range -3\n").find("a.log:1"), std::string::npos);
}

TEST(ScanLog, SurvivesWhatIsBroken) {
  const std::string good =
      "PARAM volvox_laser_range 8\nFLASER 3 1 2 3 0 0 0 0 0 0 1.0 h 1.0\nRLASER 2 1 2 0 0 0 0 0 0 1.0 h 1.0\n";
  RandomStream random(1, 0, "fuzz");
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    for (std::uint64_t change = random.below(5) + 1; change > 0 && !text.empty(); --change) {
      const std::uint64_t at = random.below(text.size());
      if (random.chance(0.3)) text.resize(at);
      else text[at] = static_cast<char>(random.below(256));
    }
    const auto log = parse_carmen(text, "f");
    if (!log.ok()) continue;
    (void)locate(*log).ok();
    (void)cloud_of(*log).ok();
  }
}

TEST(ScanLog, RaysStandWhereTheLaserHasThem) {
  const auto angles = [](int rays) {
    std::string text = fmt::format("FLASER {}", rays);
    for (int i = 0; i < rays; ++i) text += " 1.5";
    const auto log = parse_carmen(text + " 0 0 0 0 0 0 1 h 1\n", "a.log");
    const std::size_t n = log->forward[0].ranges.size();
    const auto again = parse_carmen(carmen_of(*log), "b.log");  // what is written has the same rays
    EXPECT_EQ(ray_angle(again->mounting, n - 1, n), ray_angle(log->mounting, n - 1, n));
    return std::pair(degrees(ray_angle(log->mounting, 0, n)), degrees(ray_angle(log->mounting, n - 1, n)));
  };
  // A mirror that turns by a degree for each reading: 180 of them end one degree before the left.
  EXPECT_NEAR(angles(180).first, -90, 1e-9);
  EXPECT_NEAR(angles(180).second, 89, 1e-9);
  EXPECT_NEAR(angles(360).second, 89.5, 1e-9);
  EXPECT_NEAR(angles(181).second, 90, 1e-9);
  EXPECT_NEAR(angles(361).second, 90, 1e-9);
}

TEST(ScanLog, SaysWhichRangeItAssumes) {
  const std::string sweeps = "FLASER 3 1 29.5 81.91 0 0 0 0 0 0 1 h 1\nFLASER 3 1 81.91 81.91 0 0 0 0 0 0 2 h 2\n";
  const auto silent = parse_carmen(sweeps, "a.log");
  EXPECT_EQ(silent->mounting.largest_range, 81.91);
  ASSERT_EQ(silent->notes.size(), 1u);
  EXPECT_NE(silent->notes[0].find("81.91 m"), std::string::npos) << silent->notes[0];
  EXPECT_EQ(parse_carmen("PARAM robot_front_laser_max 50\n" + sweeps, "a.log")->mounting.largest_range, 50);
  // CARMEN's parameter may be that of its simulator.
  EXPECT_EQ(parse_carmen("PARAM robot_front_laser_max 10\n" + sweeps, "a.log")->mounting.largest_range, 81.91);
  const auto given = parse_carmen("PARAM volvox_laser_range 30\n" + sweeps, "a.log");
  EXPECT_EQ(given->mounting.largest_range, 30);
  EXPECT_TRUE(given->notes.empty());
}

// GMapping writes the corrected pose twice into a sweep, and ODOM lines that go on from there.
TEST(ScanLog, ReadsTheOdometryOfACorrectedLog) {
  const auto log = parse_carmen(
      "ODOM 0 0 0 0 0 0 1 p 1\nODOM 1 0 0 0 0 0 2 p 2\nFLASER 2 1 2 1.1 0.1 0.2 1.1 0.1 0.2 2 p 2\n"
      "ODOM 1.1 0.1 0.2 0 0 0 0 p 0\nNEFF 10\nODOM 1.1 0.6 1.2 0 0 0 3 p 3\n"
      "FLASER 2 1 2 1.2 0.7 1.1 1.2 0.7 1.1 0 p 0\n",
      "a.log");
  ASSERT_TRUE(log.ok()) << log.error().text();
  ASSERT_EQ(log->forward.size(), 2u);
  EXPECT_NEAR(log->forward[0].pose.position.x, 1.1, 1e-9);
  EXPECT_NEAR(log->forward[0].odometry.position.x, 1, 1e-9);
  EXPECT_NEAR(log->forward[1].pose.heading, 1.1, 1e-9);
  EXPECT_NEAR(log->forward[1].odometry.heading, 1, 1e-9);
  const Pose2 step = log->forward[0].odometry.inverse() * log->forward[1].odometry;
  EXPECT_NEAR(length(step.position), 0.5, 1e-9);
}

// The robot of seed 002 was localized to 1 cm and 0.5 degrees.
TEST(Locate, FindsThePathAsWellAsThePaper) {
  const auto arena = make_arena({.seed = 3});
  const Drive d = drive(*arena, {.seed = 3});
  const auto located = locate(d.log);
  ASSERT_TRUE(located.ok());
  double odometry = 0, most = 0, turn = 0;
  for (std::size_t i = 0; i < d.forward_truth.size(); ++i) {
    odometry = std::max(odometry, length(d.log.forward[i].odometry.position - d.forward_truth[i].position));
    most = std::max(most, length(located->log.forward[i].pose.position - d.forward_truth[i].position));
    turn = std::max(turn, std::fabs(wrapped(located->log.forward[i].pose.heading - d.forward_truth[i].heading)));
  }
  EXPECT_GT(odometry, 0.05) << "odometry alone is too good: the test shows nothing";
  EXPECT_LT(most, 0.01);
  EXPECT_LT(turn, radians(0.5));
}

TEST(Clean, ShakingAndMixedPixelsGo) {
  const auto arena = make_arena({.seed = 3});
  const Drive d = drive(*arena, {.seed = 3, .speed = 0.5, .rays = 181, .shake = 0.02});
  ScanLog truth = d.log;
  for (std::size_t i = 0; i < truth.side.size(); ++i) truth.side[i].pose = d.side_truth[i];
  const auto cloud = cloud_of(truth);
  ASSERT_TRUE(cloud.ok());
  const Cloud filtered = histogram_filter(*cloud, {});
  const TriangleTree tree(arena->mesh);
  const auto off = [&](const Cloud& c) {
    std::size_t far = 0;
    double mean = 0;
    for (const Vec3& p : c.points) {
      const double distance = tree.nearest(p).distance;
      mean += distance / real(c.points.size());
      far += distance > 0.05;
    }
    return std::pair(mean, real(far) / real(c.points.size()));
  };
  const auto [mean, far] = off(filtered);
  const auto [mean_before, far_before] = off(*cloud);
  EXPECT_LT(mean, 0.008);
  EXPECT_LT(far, 0.7 * far_before);
}

TEST(Register, LaysAScanOnAnother) {
  const auto arena = make_arena({.seed = 9, .length = 5, .width = 3, .height = 1.5});
  const Cloud one = sample_cloud(arena->mesh, {.seed = 1, .points = 30'000, .outliers = 100});
  Cloud two = sample_cloud(arena->mesh, {.seed = 2, .points = 30'000, .outliers = 100});
  const Pose moved{{0.7, -0.4, 0.1}, Quat::rpy(0.01, -0.01, 0.9)};
  for (Vec3& p : two.points) p = moved.inverse() * p;
  const auto found = register_clouds(one, two);
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_LT(length(found->pose.position - moved.position), 0.005);
  EXPECT_LT(angle(found->pose.rotation * moved.rotation.conjugate()), radians(0.2));
  EXPECT_GT(found->overlap, 0.9);
  EXPECT_GT(found->walls, 0.9);
  EXPECT_GT(found->walls_back, 0.9);
  EXPECT_EQ(found->doubt(), "");  // the objects on the floor make it asymmetric
}

TEST(Register, SaysThatASymmetricRoomFitsEitherWay) {
  const auto arena = make_arena({.seed = 9, .length = 5, .width = 3, .height = 1.5, .pit = false, .boxes = 0});
  const auto found = register_clouds(sample_cloud(arena->mesh, {.seed = 1, .points = 20'000, .outliers = 100}),
                                     sample_cloud(arena->mesh, {.seed = 2, .points = 20'000, .outliers = 100}));
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_NE(found->doubt().find("180 degrees"), std::string::npos) << found->doubt();
}

TEST(Register, TakesAPartOfARoomButNoOtherRoom) {
  const auto cloud_of_room = [](ArenaOptions options) {
    return sample_cloud(make_arena(options)->mesh, {.seed = 1, .points = 30'000, .outliers = 0});
  };
  const Cloud room = cloud_of_room({.seed = 9, .length = 5, .width = 3, .height = 1.5});
  Cloud part = room;
  std::erase_if(part.points, [](const Vec3& p) { return p.x > -0.5; });
  const auto found = register_clouds(room, part);
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_LT(length(found->pose.position), 0.01);
  EXPECT_LT(found->walls_back, 0.6);  // the part does not contain most of the room
  const auto refused = register_clouds(room, cloud_of_room({.seed = 9, .length = 8, .width = 7, .height = 2.5}));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("the same room"), std::string::npos);
}

}  // namespace
}  // namespace volvox::scan
