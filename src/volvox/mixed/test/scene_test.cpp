#include "volvox/mixed/scene.h"

#include <gtest/gtest.h>

namespace volvox::mixed {
namespace {

TEST(MixedScene, ComesOutTheSameAtAnyNumberOfThreads) {
  const auto one = run_scene(10'000, 1, 1), two = run_scene(10'000, 2, 1), other = run_scene(10'000, 1, 2);
  ASSERT_TRUE(one.ok()) << one.error().text();
  ASSERT_TRUE(two.ok() && other.ok());
  EXPECT_EQ(one->all.state_hash, two->all.state_hash);
  EXPECT_NE(one->all.state_hash, other->all.state_hash);
  EXPECT_EQ(one->in_dynamics, 20u);
  EXPECT_GT(one->all.messages, 100'000u);
  EXPECT_FALSE(run_scene(10, 1, 1).ok());
}

}  // namespace
}  // namespace volvox::mixed
