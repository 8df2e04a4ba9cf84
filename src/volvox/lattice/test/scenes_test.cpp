#include "volvox/lattice/scenes.h"

#include <gtest/gtest.h>

namespace volvox::lattice {
namespace {

TEST(Scenes, AreRightAtAnySizeAndNumberOfThreads) {
  for (const SceneInfo& info : all_scenes()) {
    if (info.name == "radio" || info.name == "wires") continue;  // full cubes
    for (const std::size_t modules : {1u, 2u, 7u, 64u, 1000u, 5000u}) {
      const auto one = run_scene(info.name, modules, 1, 5), two = run_scene(info.name, modules, 2, 5);
      ASSERT_TRUE(one.ok()) << one.error().text();
      ASSERT_TRUE(two.ok());
      EXPECT_EQ(one->n, modules);
      EXPECT_EQ(one->state_hash, two->state_hash);
      EXPECT_EQ(one->messages, two->messages);
    }
  }
}

TEST(Scenes, OverANetworkAreRight) {
  for (const char* name : {"wires", "radio"}) {
    const auto one = run_scene(name, 8000, 1, 5), again = run_scene(name, 8000, 2, 5);
    ASSERT_TRUE(one.ok()) << one.error().text();
    EXPECT_EQ(one->n, 8000u);
    EXPECT_EQ(one->state_hash, again->state_hash) << name;
  }
}

TEST(Scenes, MistakesAreNamed) {
  const auto none = run_scene("tides", 10, 1, 1);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().text().find("choose some of: flood, gradient, tree, moves"), std::string::npos);
  const auto huge = run_scene("flood", 2'000'000'000'000, 1, 1);
  ASSERT_FALSE(huge.ok());
  EXPECT_NE(huge.error().text().find("GB of memory"), std::string::npos);
}

}  // namespace
}  // namespace volvox::lattice
