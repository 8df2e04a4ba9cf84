#include "volvox/particles/neighbours.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/random.h"
#include "volvox/particles/kernel.h"

namespace volvox::particles {
namespace {

TEST(Neighbours, AreThoseOfASearchThroughAll) {
  ThreadPool pool(2);
  RandomStream random(1, 0, "points");
  for (const float extent : {1.0f, 30.0f, 3000.0f}) {  // dense, sparse, and so wide that cells must grow
    std::vector<Point> points(700);
    for (Point& p : points)
      p = {static_cast<float>(random.uniform(-extent, extent)), static_cast<float>(random.uniform(-extent, extent)),
           static_cast<float>(random.uniform(-extent, extent)), 0};
    points[5] = points[6];  // at the same place
    const Cells cells = Cells::over(Vec3{1, 1, 1} * -extent, Vec3{1, 1, 1} * extent, 0.5, points.size());
    SortedPoints sorted;
    sorted.sort(cells, points, &pool);
    reorder(points, sorted.order, 0, &pool);
    const float reach[1] = {0.2f};
    sorted.fill(points, reach, &pool);
    Neighbours neighbours;
    neighbours.find(cells, sorted, sorted, 0.1f, 700, &pool);
    for (std::uint32_t i = 0; i < points.size(); ++i) {
      std::vector<std::uint32_t> expected;
      for (std::uint32_t j = 0; j < points.size(); ++j) {
        const float dx = points[j].x - points[i].x, dy = points[j].y - points[i].y, dz = points[j].z - points[i].z;
        const float far = 0.2f + (0.2f + 0.1f);
        if (i != j && dx * dx + dy * dy + dz * dz < far * far) expected.push_back(j);
      }
      std::vector<std::uint32_t> found(neighbours.of(i).begin(), neighbours.of(i).end());
      EXPECT_EQ(found.size() % lanes, 0u);
      std::erase(found, 700u);
      std::sort(found.begin(), found.end());
      EXPECT_EQ(found, expected);
    }
  }
}

TEST(Kernel, AWallHasTheDensityOfTheGridThatIsNotThere) {
  // A particle half a spacing from the wall lacks the layer behind it: one neighbour at 1 spacing, four at sqrt 2, four
  // at sqrt 3; the support is two spacings.
  const auto value = [](double squared) { return kernel_value(static_cast<float>(std::sqrt(squared) / 2)); };
  const float all = 1 + 6 * value(1) + 12 * value(2) + 8 * value(3), layer = value(1) + 4 * value(2) + 4 * value(3);
  EXPECT_NEAR(behind_wall(0.25f).part, layer / all, 1e-4);
  for (const float d : {0.05f, 0.2f, 0.4f}) {
    const float step = 1e-3f;
    EXPECT_NEAR(behind_wall(d).slope, (behind_wall(d - step).part - behind_wall(d + step).part) / (2 * step), 1e-2);
  }
  EXPECT_EQ(behind_wall(0.5f).part, 0);
  EXPECT_EQ(behind_wall(-1).part, behind_wall(0).part);
}

}  // namespace
}  // namespace volvox::particles
