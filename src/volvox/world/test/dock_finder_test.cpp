#include "volvox/world/dock_finder.h"
#include "volvox/base/index.h"

#include <gtest/gtest.h>

#include "volvox/base/random.h"

namespace volvox::world {
namespace {

// Compared with a search over all pairs, on clouds of different density, with docks at cell borders and far away.
TEST(DockFinder, FindsWhatTheObviousWayFinds) {
  RandomStream random(1, 0, "finder");
  for (int round = 0; round < 200; ++round) {
    const double size = 0.01 + random.uniform() * 2, reach = 0.02;
    std::vector<Vec3> points;
    std::vector<PlacementIndex> owners;
    const std::size_t n = random.below(60);
    for (std::size_t i = 0; i < n; ++i) {
      Vec3 p{random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size)};
      if (random.chance(0.2)) p = {std::round(p.x / 0.16) * 0.16, std::round(p.y / 0.02) * 0.02, p.z};
      if (random.chance(0.02)) p.x += 1e5;
      // Owners have one or more docks, most of them near each other.
      if (i > 0 && random.chance(0.5)) {
        owners.push_back(owners.back());
        if (random.chance(0.9)) p = points.back() + Vec3{random.uniform(-0.05, 0.05), random.uniform(-0.05, 0.05), 0};
      } else {
        owners.push_back(2 * narrow<std::uint32_t>(i));
      }
      points.push_back(p);
    }
    DockFinder finder;
    for (std::size_t i = 0; i < n; ++i) finder.add(3 * i, owners[i], points[i]);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> expected;
    for (std::uint32_t i = 0; i < n; ++i)
      for (std::uint32_t j = i + 1; j < n; ++j)
        if (owners[i] != owners[j] && length_squared(points[j] - points[i]) <= reach * reach)
          expected.emplace_back(3 * i, 3 * j);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
    double last = 0;
    for (const DockFinder::Pair& pair :
         finder.find(reach, [&](DockIndex a, DockIndex b) { return owners[a / 3] != owners[b / 3]; })) {
      EXPECT_GE(pair.distance, last);
      last = pair.distance;
      found.emplace_back(pair.a, pair.b);
    }
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found, expected) << "round " << round;
  }
}

// Thousands of docks in one place are millions of pairs, of which none is kept that may not join.
TEST(DockFinder, KeepsOnlyWhatMayJoin) {
  DockFinder finder;
  for (std::uint32_t i = 0; i < 3000; ++i) finder.add(i, i, {0, 0, 1});
  const auto& pairs = finder.find(0.01, [](DockIndex a, DockIndex b) { return a == 7 && b == 9; });
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].a, 7u);
  EXPECT_EQ(pairs[0].b, 9u);
  EXPECT_LT(finder.memory_bytes(), 2'000'000u);
}

}  // namespace
}  // namespace volvox::world
