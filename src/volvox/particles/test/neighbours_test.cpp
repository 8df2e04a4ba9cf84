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

// The sum over a grid, whose points are moved by `shape`; all grids here have a point a cubic spacing.
template <class Shape>
double density_of_grid(const Shape& shape) {
  double sum = 0;
  for (int x = -6; x <= 6; ++x)
    for (int y = -6; y <= 6; ++y)
      for (int z = -6; z <= 6; ++z)
        sum += kernel_value(static_cast<float>(length(shape(Vec3(x, y, z))) / support_over_spacing));
  return sum;
}

// What a grid of another shape has more, the fluid takes as compression: it would resist shearing as a solid does.
TEST(Kernel, GridsOfAllShapesHaveTheSameDensity) {
  const double cubic = density_of_grid([](const Vec3& p) { return p; });
  const auto ratio = [&](const auto& shape) { return density_of_grid(shape) / cubic; };
  EXPECT_NEAR(ratio([](const Vec3& p) { return Vec3{p.x + 0.25 * p.z, p.y, p.z}; }), 1, 0.002);
  EXPECT_NEAR(ratio([](const Vec3& p) { return Vec3{p.x + 0.5 * p.z, p.y + 0.5 * p.z, p.z}; }), 1, 0.002);
  EXPECT_NEAR(ratio([](const Vec3& p) { return Vec3{p.x * 1.1, p.y * 1.1, p.z / 1.21}; }), 1, 0.002);
  EXPECT_NEAR(ratio([](const Vec3& p) {
                return Vec3{p.y + p.z, p.x + p.z, p.x + p.y} * std::cbrt(0.5);  // face-centred
              }),
              1, 0.002);
}

TEST(Kernel, AWallHasTheDensityOfTheGridThatIsNotThere) {
  // A particle half a spacing from the wall lacks the layers behind it, and needs twice their slope, because a wall has
  // no pressure of its own.
  double layers = 0, slope = 0;
  for (int x = -2; x <= 2; ++x) {
    for (int y = -2; y <= 2; ++y) {
      for (int z = 1; z <= 2; ++z) {
        const auto q = static_cast<float>(std::sqrt(x * x + y * y + z * z) / support_over_spacing);
        layers += kernel_value(q);
        slope += 20.0 * z * kernel_slope(q) / support_over_spacing;
      }
    }
  }
  const double all = density_of_grid([](const Vec3& p) { return p; });
  const float half = 0.5f / static_cast<float>(support_over_spacing);
  EXPECT_NEAR(behind_wall(half).part, layers / all, 1e-4);
  EXPECT_NEAR(behind_wall(half).slope, 2 * slope / all, 1e-3);
  for (const float d : {0.05f, 0.2f, 0.4f}) {
    const float step = 1e-3f;
    EXPECT_NEAR(behind_wall(d).slope, (behind_wall(d - step).part - behind_wall(d + step).part) / (2 * step), 1e-2);
  }
  EXPECT_EQ(behind_wall(wall_reach).part, 0);
  EXPECT_EQ(behind_wall(-1).part, behind_wall(0).part);
}

}  // namespace
}  // namespace volvox::particles
