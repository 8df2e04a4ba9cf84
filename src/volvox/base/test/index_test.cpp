#include "volvox/base/index.h"

#include <gtest/gtest.h>

#include <vector>

namespace volvox {
namespace {

using LinkIndex = Index<struct LinkTag>;
using DockIndex = Index<struct DockTag>;

static_assert(!std::is_convertible_v<LinkIndex, DockIndex>);
static_assert(!std::is_convertible_v<std::uint32_t, LinkIndex>);
static_assert(sizeof(LinkIndex) == sizeof(std::uint32_t));

TEST(Index, CountsOneKindOfThing) {
  const std::vector<double> masses = {1, 2, 4};
  double sum = 0;
  for (const LinkIndex link : indices<LinkIndex>(masses)) sum += masses[link];
  EXPECT_EQ(sum, 7);
  EXPECT_FALSE(LinkIndex{}.valid());
  EXPECT_EQ(LinkIndex(1) + 2, LinkIndex(3));
}

TEST(Index, NarrowKeepsTheValue) {
  EXPECT_EQ(narrow<std::uint8_t>(255), 255);
  EXPECT_EQ(narrow<int>(std::size_t{7}), 7);
  EXPECT_EQ(truncated(-1.75), -1);
  EXPECT_EQ(real(std::size_t{3}), 3.0);
}

#ifndef NDEBUG
TEST(IndexDeathTest, NarrowThatLosesIsOurBug) {
  EXPECT_DEATH(narrow<std::uint8_t>(256), "");
  EXPECT_DEATH(narrow<std::uint32_t>(-1), "");
  EXPECT_DEATH(LinkIndex(std::size_t{1} << 40), "");
}
#endif

}  // namespace
}  // namespace volvox
