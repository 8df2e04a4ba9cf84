#include "volvox/world/open_docks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "volvox/base/random.h"

namespace volvox::world {
namespace {

struct Robot {
  std::vector<std::uint32_t> links;
  std::vector<double> arms;
};

struct Box {
  Vec3 low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};
};

Box box_of(const Robot& robot, const std::vector<Pose>& poses) {
  Box box;
  for (std::size_t i = 0; i < robot.links.size(); ++i)
    for (int k = 0; k < 3; ++k) {
      box.low[k] = std::min(box.low[k], poses[robot.links[i]].position[k] - robot.arms[i]);
      box.high[k] = std::max(box.high[k], poses[robot.links[i]].position[k] + robot.arms[i]);
    }
  return box;
}

// Of every robot with every other.
std::vector<std::uint32_t> the_obvious_way(const std::vector<Robot>& robots, const std::vector<Pose>& poses,
                                           double reach) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t a = 0; a < robots.size(); ++a) {
    const Box own = box_of(robots[a], poses);
    bool near = false;
    for (std::uint32_t b = 0; b < robots.size(); ++b) {
      if (a == b) continue;
      const Box other = box_of(robots[b], poses);
      bool apart = false;
      for (int k = 0; k < 3; ++k)
        apart = apart || own.low[k] - other.high[k] > 1.000001 * reach || other.low[k] - own.high[k] > 1.000001 * reach;
      near = near || !apart;
    }
    if (near) found.push_back(a);
  }
  return found;
}

std::vector<Robot> make_robots(RandomStream& random, std::size_t count, OpenDocks& docks, std::vector<Pose>& poses) {
  std::vector<Robot> robots(count);
  std::uint32_t dock = 0;
  docks.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    const Vec3 place{random.uniform(-2, 2), random.uniform(-2, 2), random.uniform(0, 0.3)};
    for (std::size_t links = 1 + random.below(3); links > 0; --links) {
      robots[i].links.push_back(static_cast<std::uint32_t>(poses.size()));
      robots[i].arms.push_back(0);
      poses.push_back({place + Vec3{random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1), 0}, {}});
      for (std::size_t on_link = 1 + random.below(3); on_link > 0; --on_link, ++dock) {
        const double arm = random.uniform(0, 0.05);
        robots[i].arms.back() = std::max(robots[i].arms.back(), arm);
        docks.add(dock, 3 * i, robots[i].links.back(), arm);
      }
    }
  }
  docks.finish();
  return robots;
}

// Robots that creep, some of which now and then jump or drive fast, so that lists are kept and made anew.
TEST(OpenDocks, FindsWhatTheObviousWayFindsWhileRobotsMove) {
  constexpr double reach = 0.02;
  std::size_t ticks = 0, lists = 0, found_any = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RandomStream random(seed, 0, "open docks");
    OpenDocks docks;
    std::vector<Pose> poses;
    const std::vector<Robot> robots = make_robots(random, 2 + random.below(60), docks, poses);
    for (int tick = 0; tick < 60; ++tick, ++ticks) {
      for (Pose& pose : poses)
        pose.position += Vec3{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)} * 0.002;
      if (random.chance(0.05)) poses[random.below(poses.size())].position += Vec3{random.uniform(-1, 1), 0.1, 0};
      const auto expected = the_obvious_way(robots, poses, reach);
      ASSERT_EQ(docks.owners_within(reach, poses), expected) << "seed " << seed << ", tick " << tick;
      found_any += expected.size();
    }
    lists += docks.lists_made();
  }
  EXPECT_GT(found_any, 1000u);
  EXPECT_LT(lists, ticks / 3);  // most ticks use the list of an earlier one
  EXPECT_GT(lists, 100u);
}

TEST(OpenDocks, DocksOfAnOwner) {
  OpenDocks docks;
  docks.add(2, 0, 0, 0.1), docks.add(3, 0, 1, 0.1), docks.add(7, 4, 2, 0.1);
  docks.finish();
  const std::vector<Pose> poses{{{0, 0, 0}, {}}, {{0.1, 0, 0}, {}}, {{0.25, 0, 0}, {}}};
  ASSERT_EQ(docks.owners_within(0.01, poses), (std::vector<std::uint32_t>{0, 1}));
  ASSERT_EQ(docks.docks_of(0).size(), 2u);
  EXPECT_EQ(docks.docks_of(0)[1], 3u);
  ASSERT_EQ(docks.docks_of(1).size(), 1u);
  EXPECT_EQ(docks.docks_of(1)[0], 7u);
  docks.clear(), docks.finish();
  EXPECT_TRUE(docks.owners_within(0.01, poses).empty());
}

// A wall with docks everywhere, or thousands in one place: nobody is left out, and no list of millions is kept.
TEST(OpenDocks, CrowdsAreAllLookedAt) {
  OpenDocks docks;
  std::vector<Pose> poses;
  for (std::uint32_t i = 0; i < 3000; ++i) docks.add(i, i, i, 0.01), poses.push_back({{0, 0, 1e-6 * i}, {}});
  docks.finish();
  EXPECT_EQ(docks.owners_within(0.01, poses).size(), 3000u);
  EXPECT_LT(docks.memory_bytes(), 4'000'000u);
  docks.clear();
  for (std::uint32_t i = 0; i < 3000; ++i) poses[i].position = {2.0 * i, 0, 0};
  for (std::uint32_t i = 0; i < 3000; ++i) docks.add(i, i, i, i == 7 ? 1e5 : 0.01);
  docks.finish();
  EXPECT_EQ(docks.owners_within(0.01, poses).size(), 3000u);
}

}  // namespace
}  // namespace volvox::world
