#include "volvox/base/union_find.h"

#include <gtest/gtest.h>

#include "volvox/base/random.h"

namespace volvox {
namespace {

TEST(UnionFind, TheRootIsTheLowestWhateverTheOrder) {
  UnionFind joined(6);
  EXPECT_TRUE(joined.join(5, 3));
  EXPECT_TRUE(joined.join(4, 5));
  EXPECT_FALSE(joined.join(3, 4));
  EXPECT_TRUE(joined.join(4, 1));
  EXPECT_EQ(joined.roots(), (std::vector<std::uint32_t>{0, 1, 2, 1, 1, 1}));
  joined.reset(2);
  EXPECT_EQ(joined.roots(), (std::vector<std::uint32_t>{0, 1}));
}

// Against labels that are spread until nothing changes.
TEST(UnionFind, FindsWhatTheObviousWayFinds) {
  RandomStream random(1, 0, "union find");
  for (int round = 0; round < 100; ++round) {
    const auto count = static_cast<std::uint32_t>(1 + random.below(40));
    UnionFind joined(count);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs(random.below(40));
    std::vector<std::uint32_t> label(count);
    std::iota(label.begin(), label.end(), 0u);
    for (auto& [a, b] : pairs) {
      a = static_cast<std::uint32_t>(random.below(count)), b = static_cast<std::uint32_t>(random.below(count));
      joined.join(a, b);
    }
    for (std::uint32_t pass = 0; pass < count; ++pass)
      for (const auto& [a, b] : pairs) label[a] = label[b] = std::min(label[a], label[b]);
    ASSERT_EQ(joined.roots(), label);
  }
}

}  // namespace
}  // namespace volvox
