#include "volvox/base/index.h"

#include <gtest/gtest.h>

#include <concepts>
#include <map>
#include <vector>

#include "volvox/base/archive.h"

namespace volvox {
namespace {

using LinkIndex = Index<struct LinkTag>;
using DockIndex = Index<struct DockTag>;

// A dock is not a link, in calls, in copies and in comparisons.
static_assert(!std::is_convertible_v<DockIndex, LinkIndex> && !std::is_constructible_v<LinkIndex, DockIndex>);
static_assert(!std::is_assignable_v<LinkIndex&, DockIndex>);
static_assert(!std::equality_comparable_with<LinkIndex, DockIndex>);
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a == b;
  a < b;
};
static_assert(!Comparable<LinkIndex, DockIndex> && Comparable<LinkIndex, LinkIndex>);
// A plain number is any of them; one that is no whole number is none.
static_assert(std::is_convertible_v<int, LinkIndex> && std::is_convertible_v<std::size_t, LinkIndex>);
static_assert(std::is_convertible_v<LinkIndex, std::uint32_t> && std::is_convertible_v<NoIndex, LinkIndex>);
static_assert(!std::is_convertible_v<double, LinkIndex>);
// As cheap as the number.
static_assert(sizeof(LinkIndex) == sizeof(std::uint32_t) && std::is_trivially_copyable_v<LinkIndex>);

TEST(Index, CountsOneKindOfThing) {
  const std::vector<double> masses = {1, 2, 4};
  double sum = 0;
  for (const LinkIndex link : indices<LinkIndex>(masses)) sum += masses[link];
  EXPECT_EQ(sum, 7);
  EXPECT_FALSE(LinkIndex{}.valid());
  EXPECT_EQ(LinkIndex(1) + 2, LinkIndex(3));
}

TEST(Index, ComparesWithPlainNumbers) {
  const LinkIndex link = 5;
  EXPECT_TRUE(link == 5 && link == 5u && link == std::size_t{5} && 5 == link && link != 6);
  EXPECT_TRUE(link < 6 && link >= 5u && 4 < link && link < std::size_t{1} << 40 && link > -1);
  EXPECT_FALSE(LinkIndex{} == -1);  // the value counts, not the bits
  EXPECT_TRUE(LinkIndex{} == NoIndex{} && link != NoIndex{} && LinkIndex{} > link);
  EXPECT_EQ(link, 5);
  EXPECT_EQ(narrow<int>(link), 5);
  const auto found = [&](bool any) { return any ? link : NoIndex{}; };
  EXPECT_EQ(found(true), link);
  EXPECT_FALSE(found(false).valid());
}

TEST(Index, IsSavedAsItsNumber) {
  std::vector<std::uint32_t> numbers = {3, 1, 0xffffffffu};
  std::vector<LinkIndex> links = {3, 1, NoIndex{}};
  std::map<DockIndex, LinkIndex> map = {{2, 7}, {9, 8}};
  std::map<std::uint32_t, std::uint32_t> plain_map = {{2, 7}, {9, 8}};
  SaveArchive plain, typed;
  plain("", numbers), plain("", numbers[1]), plain("", plain_map);
  typed("", links), typed("", links[1]), typed("", map);
  EXPECT_EQ(plain.bytes(), typed.bytes());
  HashArchive plain_hash, typed_hash;
  plain_hash("", numbers), typed_hash("", links);
  EXPECT_EQ(plain_hash.value(), typed_hash.value());
  LoadArchive load(plain.bytes());
  std::vector<LinkIndex> loaded;
  load("", loaded);
  EXPECT_TRUE(load.ok());
  EXPECT_EQ(loaded, links);
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
