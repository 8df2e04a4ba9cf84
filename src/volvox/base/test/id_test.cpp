#include "volvox/base/id.h"

#include <gtest/gtest.h>

namespace volvox {
namespace {

struct Thing;

TEST(Id, ReusedSlotGetsANewGeneration) {
  IdPool<Thing> pool;
  const Id<Thing> first = pool.take();
  EXPECT_TRUE(pool.alive(first));
  pool.give_back(first);
  EXPECT_FALSE(pool.alive(first));
  const Id<Thing> second = pool.take();
  EXPECT_EQ(second.index, first.index);
  EXPECT_NE(second, first);
  EXPECT_FALSE(pool.alive(first));
  EXPECT_TRUE(pool.alive(second));
}

TEST(Id, LowestFreeIndexComesFirst) {
  IdPool<Thing> pool;
  std::vector<Id<Thing>> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(pool.take());
  pool.give_back(ids[3]);
  pool.give_back(ids[1]);
  pool.give_back(ids[4]);
  EXPECT_EQ(pool.take().index, 1u);
  EXPECT_EQ(pool.take().index, 3u);
  EXPECT_EQ(pool.take().index, 4u);
  EXPECT_EQ(pool.take().index, 5u);
}

TEST(Id, DefaultIsNobody) {
  IdPool<Thing> pool;
  pool.take();
  EXPECT_FALSE(Id<Thing>{}.valid());
  EXPECT_FALSE(pool.alive(Id<Thing>{}));
}

TEST(IdDeathTest, GivingBackTwiceIsOurBug) {
  IdPool<Thing> pool;
  const Id<Thing> id = pool.take();
  pool.give_back(id);
  EXPECT_DEATH(pool.give_back(id), "given back twice");
}

}  // namespace
}  // namespace volvox
