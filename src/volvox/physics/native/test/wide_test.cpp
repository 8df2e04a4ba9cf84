// The loops over rows, against what they mean written out, over thousands of random cases.
#include "volvox/physics/native/wide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "volvox/physics/native/box_tree.h"

namespace volvox::physics::native {
namespace {

class Wide : public ::testing::Test {
 protected:
  double number() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  int whole(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  Vec3 vector() { return {number(), number(), number()}; }
  std::vector<double> numbers(int count) {
    std::vector<double> all(static_cast<std::size_t>(count));
    for (double& x : all) x = number();
    return all;
  }
  // Some of the blocks of a row, ascending, at least one.
  std::vector<int> some_blocks(int all) {
    std::vector<int> blocks;
    while (blocks.empty()) {
      for (int i = 0; i < all; ++i) {
        if (whole(0, 1) == 1) blocks.push_back(i);
      }
    }
    return blocks;
  }
  // A row with zeros where it has no block.
  static std::vector<double> whole_row(const std::vector<double>& row, const std::vector<int>& blocks, int all) {
    std::vector<double> out(static_cast<std::size_t>(row_block * all), 0.0);
    for (std::size_t i = 0; i < blocks.size(); ++i)
      std::copy_n(row.begin() + static_cast<std::ptrdiff_t>(row_block * i), row_block,
                  out.begin() + row_block * blocks[i]);
    return out;
  }

  std::mt19937_64 random_{20261116};
};

TEST_F(Wide, rows_without_their_zeros_have_the_bits_of_whole_rows) {
  for (int i = 0; i < 3000; ++i) {
    const int all = whole(1, 8), width = row_block * all;
    const std::vector<int> a = some_blocks(all), b = some_blocks(all);
    const std::vector<double> row_a = numbers(row_block * static_cast<int>(a.size())),
                              row_b = numbers(row_block * static_cast<int>(b.size()));
    const std::vector<double> whole_a = whole_row(row_a, a, all), whole_b = whole_row(row_b, b, all);
    const double expected = wide_dot(whole_a.data(), whole_b.data(), width);
    EXPECT_EQ(blocks_dot(row_a.data(), a, row_b.data(), b), expected);
    EXPECT_EQ(blocks_dot(row_a.data(), a.data(), static_cast<int>(row_a.size()), whole_b.data()), expected);
    double sum = 0;
    double square = 0;
    for (std::size_t k = 0; k < whole_a.size(); ++k)
      sum += whole_a[k] * whole_b[k], square += (whole_a[k] - whole_b[k]) * (whole_a[k] - whole_b[k]);
    EXPECT_NEAR(expected, sum, 1e-13);
    EXPECT_NEAR(wide_distance(whole_a.data(), whole_b.data(), width), std::sqrt(square), 1e-13);
  }
}

TEST_F(Wide, rows_of_a_contact_are_its_directions_times_the_motion_of_its_point) {
  for (int i = 0; i < 1000; ++i) {
    const int all = whole(1, 5), stride = row_block * all;
    const std::vector<int> blocks = some_blocks(all);
    const int width = row_block * static_cast<int>(blocks.size());
    const std::vector<double> y = numbers(6 * stride);
    const Vec3 arm = vector(), directions[3] = {vector(), vector(), vector()};
    std::vector<double> rows(static_cast<std::size_t>(3 * width));
    wide_rows(y.data(), stride, blocks.data(), width, arm, directions, -1, false, rows.data());
    for (int k = 0; k < width; ++k) {
      const int column = row_block * blocks[static_cast<std::size_t>(k / row_block)] + k % row_block;
      const auto at = [&](int row) { return y[static_cast<std::size_t>(row * stride + column)]; };
      const Vec3 moves = Vec3{at(3), at(4), at(5)} + cross(Vec3{at(0), at(1), at(2)}, arm);
      for (int r = 0; r < 3; ++r)
        EXPECT_NEAR(rows[static_cast<std::size_t>(r * width + k)], -dot(directions[r], moves), 1e-14);
    }
  }
}

TEST_F(Wide, one_row_of_a_contact_is_the_first_of_its_three) {
  for (int i = 0; i < 3000; ++i) {
    const int all = whole(1, 8), stride = row_block * all;
    const std::vector<double> y = numbers(6 * stride);
    const std::vector<int> some = some_blocks(all);
    const int* blocks = whole(0, 1) == 1 ? some.data() : nullptr;
    const int width = blocks ? row_block * static_cast<int>(some.size()) : stride;
    const Vec3 arm = vector(), directions[3] = {vector(), vector(), vector()};
    const bool add = whole(0, 1) == 1;
    std::vector<double> three = numbers(3 * width), one(three.begin(), three.begin() + width);
    wide_rows(y.data(), stride, blocks, width, arm, directions, -1, add, three.data());
    const double square =
        wide_row(y.data(), stride, blocks, width, cross(arm, directions[0]), directions[0], -1, add, one.data());
    for (std::size_t k = 0; k < one.size(); ++k) ASSERT_NEAR(one[k], three[k], 1e-14 * 16);
    EXPECT_EQ(square, wide_dot(one.data(), one.data(), width));
  }
}

// Y = C M with C C^T = Y Y^T: rows of a handle, and the way to them. Where the handle cannot move, neither has a row.
TEST_F(Wide, six_rows_are_their_factor_times_orthogonal_ones) {
  int independent = 0;
  for (int i = 0; i < 2000; ++i) {
    const int width = row_block * whole(1, 2), still = whole(0, 1) == 1 ? whole(0, 5) : -1;
    std::vector<double> rows = numbers(6 * width);
    if (still >= 0) std::fill_n(rows.begin() + still * width, width, 0.0);
    const auto row = [&](const std::vector<double>& all, int r) { return all.data() + r * width; };
    double gram[6][6]{}, factor[6][6]{};
    wide_gram_six(rows.data(), width, gram);
    for (int r = 0; r < 6; ++r) {
      for (int s = 0; s <= r; ++s) {
        EXPECT_EQ(gram[r][s], wide_dot(row(rows, r), row(rows, s), width));
        double left = gram[r][s];
        for (int k = 0; k < s; ++k) left -= factor[r][k] * factor[s][k];
        if (r == s) factor[r][r] = left > 1e-11 * gram[r][r] ? std::sqrt(left) : 0;
        else factor[r][s] = factor[s][s] == 0 ? 0 : left / factor[s][s];
      }
    }
    bool dependent = false;  // nearly: such rows prove nothing
    for (int r = 0; r < 6; ++r) dependent = dependent || (factor[r][r] < 1e-2 && r != still);
    if (dependent) continue;
    ++independent;
    std::vector<double> way(rows.size());
    wide_solve_lower(way.data(), rows.data(), factor, width);
    for (int r = 0; r < 6; ++r) {
      for (int s = 0; s <= r; ++s)
        EXPECT_NEAR(wide_dot(row(way, r), row(way, s), width), r == s && r != still ? 1 : 0, 1e-9);
      for (int k = 0; k < width; ++k) {
        double again = 0;
        for (int s = 0; s <= r; ++s) again += factor[r][s] * row(way, s)[k];
        EXPECT_NEAR(again, row(rows, r)[k], 1e-12);
      }
    }
  }
  EXPECT_GT(independent, 1000);
}

TEST_F(Wide, farthest_and_lowest_points_are_the_first_of_the_best) {
  for (int i = 0; i < 3000; ++i) {
    const int count = row_block * whole(1, 10);
    // Few different numbers, so that there are ties.
    const auto coarse = [&] {
      std::vector<double> all(static_cast<std::size_t>(count));
      for (double& x : all) x = whole(-2, 2);
      return all;
    };
    const std::vector<double> x = coarse(), y = coarse(), z = coarse(), height = coarse();
    const Vec3 along{static_cast<double>(whole(-2, 2)), static_cast<double>(whole(-2, 2)),
                     static_cast<double>(whole(-2, 2))};
    int farthest = 0, lowest = 0;
    const auto reach = [&](int k) {
      const std::size_t n = static_cast<std::size_t>(k);
      return x[n] * along.x + y[n] * along.y + z[n] * along.z;
    };
    // Some of the points, in any order, and some of them several times.
    std::vector<int> points(static_cast<std::size_t>(count));
    for (int& point : points) point = whole(0, count - 1);
    const auto level = [&](int k) {
      const std::size_t n = static_cast<std::size_t>(k);
      return height[n] + reach(points[n]);
    };
    for (int k = 1; k < count; ++k) {
      if (reach(k) > reach(farthest)) farthest = k;
      if (level(k) < level(lowest)) lowest = k;
    }
    EXPECT_EQ(wide_farthest(x.data(), y.data(), z.data(), count, along), farthest);
    Leans leans;
    const int place = whole(0, Leans::most - 1);
    for (int k = 0; k < Leans::most; ++k) leans.add(k == place ? along : vector());
    int found[Leans::most];
    leans.fill_up();
    wide_lowest(x.data(), y.data(), z.data(), points.data(), height.data(), count, leans, found);
    EXPECT_EQ(found[place], lowest);
  }
}

TEST_F(Wide, heights_say_who_is_below) {
  for (int i = 0; i < 3000; ++i) {
    const int count = row_block * whole(1, 8);
    const std::vector<double> x = numbers(count), y = numbers(count), z = numbers(count), radius = numbers(count);
    const Vec3 normal = vector();
    const double offset = number(), margin = number();
    double heights[64];
    const std::uint64_t below =
        wide_heights(x.data(), y.data(), z.data(), radius.data(), count, normal, offset, margin, heights);
    for (int k = 0; k < 64; ++k) {
      const std::size_t n = static_cast<std::size_t>(k);
      const bool there = k < count;
      const double height =
          there ? x[n] * normal.x + y[n] * normal.y + z[n] * normal.z - offset - radius[n] : margin + 1;
      if (there) {
        EXPECT_EQ(heights[k], height);
      }
      EXPECT_EQ((below >> k & 1) != 0, height < margin);
    }
  }
}

// Two contacts on the same coordinates: what one does to the velocity of the other is no more than the sweep reckons
// with when it leaves the other alone.
TEST_F(Wide, a_step_moves_other_contacts_no_farther_than_it_says) {
  const int width = 2 * row_block;
  int pushed = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<double> coordinates = numbers(width), rows = numbers(3 * width), other = numbers(width);
    RowContact c{};
    c.a = coordinates.data(), c.rows_a = rows.data(), c.width_a = width;
    wide_gram(rows.data(), width, c.gram);
    for (double& v : c.free) v = number();
    c.target = number(), c.friction = std::fabs(number());
    c.normal_gain = 1 / c.gram[0], c.tangent_gain = 1 / (c.gram[3] + c.gram[5]);
    const double before = wide_dot(other.data(), coordinates.data(), width),
                 speed = c.free[0] + wide_dot(rows.data(), coordinates.data(), width);
    const Solved solved = wide_solve(c);
    const double moved = std::fabs(wide_dot(other.data(), coordinates.data(), width) - before);
    const double response = std::sqrt(wide_dot(other.data(), other.data(), width));
    EXPECT_LE(moved, response * solved.travel + 1e-12);
    if (speed >= c.target) {
      EXPECT_NEAR(solved.spare, speed - c.target, 1e-12);
      EXPECT_EQ(solved.change, 0);
    } else {
      ++pushed;
      EXPECT_LT(solved.spare, 0);
      EXPECT_GT(c.impulse[0], 0);
      EXPECT_NEAR(c.free[0] + wide_dot(rows.data(), coordinates.data(), width), c.target,
                  std::fabs(c.gram[1] * c.impulse[1]) + std::fabs(c.gram[2] * c.impulse[2]) + 1e-9);
    }
  }
  EXPECT_GT(pushed, 500);
}

TEST_F(Wide, a_box_tree_finds_what_a_search_through_all_finds) {
  for (int i = 0; i < 300; ++i) {
    std::vector<Box3> boxes(static_cast<std::size_t>(whole(1, 200)));
    for (Box3& box : boxes) box = {vector(), Vec3{std::fabs(number()), std::fabs(number()), std::fabs(number())} * 0.1};
    const BoxTree tree(boxes);
    const Box3 query{vector(), {0.1, 0.2, 0.1}};
    std::vector<std::uint32_t> found, expected;
    tree.find(query, 0.3, found);
    for (std::size_t k = 0; k < boxes.size(); ++k) {
      const Vec3 gap = boxes[k].centre - query.centre;
      const auto apart = [](double d, double half) { return std::max(0.0, std::fabs(d) - half); };
      const Vec3 outside{apart(gap.x, boxes[k].half.x), apart(gap.y, boxes[k].half.y), apart(gap.z, boxes[k].half.z)};
      const bool near =
          length(outside) <= 0.3 && outside.x <= query.half.x && outside.y <= query.half.y && outside.z <= query.half.z;
      if (near) expected.push_back(static_cast<std::uint32_t>(k));
    }
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace volvox::physics::native
