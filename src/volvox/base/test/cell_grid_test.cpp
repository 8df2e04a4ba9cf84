#include "volvox/base/cell_grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "volvox/base/random.h"

namespace volvox {
namespace {

std::vector<std::uint32_t> near(const CellGrid& grid, const Vec3& center, double radius) {
  std::vector<std::uint32_t> found;
  grid.near(center, radius, [&](std::uint32_t i, double) { found.push_back(i); });
  std::sort(found.begin(), found.end());
  return found;
}

TEST(CellGrid, FindsWhatTheObviousWayFinds) {
  RandomStream random(1, 0, "cells");
  CellGrid grid;
  for (int round = 0; round < 100; ++round) {
    std::vector<Vec3> points(random.below(80));
    for (Vec3& p : points) {
      p = {random.uniform(-2, 2), random.uniform(-2, 2), random.uniform(-1, 1)};
      if (random.chance(0.2)) p = {std::round(p.x), std::round(p.y), 0};  // on the border of cells
      if (random.chance(0.02)) p.x += 1e12;
    }
    grid.fill(points, 0.5, random.chance(0.5) ? CellGrid::Order::by_key : CellGrid::Order::as_found);
    const double radius = random.uniform(0.1, 1.2);
    for (const Vec3& center : points) {
      std::vector<std::uint32_t> expected;
      for (std::uint32_t i = 0; i < points.size(); ++i)
        if (length_squared(points[i] - center) <= radius * radius) expected.push_back(i);
      ASSERT_EQ(near(grid, center, radius), expected);
    }
  }
}

TEST(CellGrid, CellsInTheOrderOfTheirKeysDoNotDependOnThatOfThePoints) {
  const std::vector<Vec3> points{{5, 0, 0}, {0, 0, 0}, {5.2, 0, 0}, {-3, 0, 0}};
  const CellGrid grid(points, 1);
  ASSERT_EQ(grid.cells().size(), 3u);
  EXPECT_TRUE(std::is_sorted(grid.cells().begin(), grid.cells().end(),
                             [](const CellGrid::Cell& a, const CellGrid::Cell& b) { return a.key < b.key; }));
  const CellGrid::Cell& last = grid.cells().back();
  EXPECT_EQ(std::vector<std::uint32_t>(grid.members(last).begin(), grid.members(last).end()),
            (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(grid.cell_of_point(2), 2u);
  EXPECT_EQ(grid.find({5, 0, 0}), 2);
  EXPECT_EQ(grid.find({6, 0, 0}), -1);
}

TEST(CellGrid, StopsAtTheFirstThatFits) {
  const std::vector<Vec3> points(5);
  const CellGrid grid(points, 1);
  int asked = 0;
  EXPECT_TRUE(grid.any_near({}, 1, [&](std::uint32_t, double) { return ++asked == 2; }));
  EXPECT_EQ(asked, 2);
}

TEST(CellGrid, HoldsNothingAndNoNumbers) {
  EXPECT_TRUE(near(CellGrid(), {}, 1).empty());
  const std::vector<Vec3> lost{{std::numeric_limits<double>::quiet_NaN(), 0, 0}};
  const CellGrid grid(lost, 1);
  EXPECT_EQ(grid.cells().size(), 1u);
  EXPECT_TRUE(near(grid, {}, 1).empty());
}

}  // namespace
}  // namespace volvox
