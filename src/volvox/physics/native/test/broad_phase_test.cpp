// The broad phase against all pairs, tried one by one, over hundreds of random scenes.
#include "volvox/physics/native/broad_phase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace volvox::physics::native {
namespace {

using Item = BroadPhase::Item;
using Pair = BroadPhase::Pair;

class BroadPhaseTest : public ::testing::Test {
 protected:
  double number(double least, double most) { return std::uniform_real_distribution<double>(least, most)(random_); }
  int whole(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  bool chance(double share) { return number(0, 1) < share; }

  // Owners have one to four bodies near each other. Now and then one is far larger than the others.
  std::vector<Item> scene(double asking, bool flat) {
    std::vector<Item> items;
    const int owners = whole(1, 60);
    const double size = number(0.5, 6);
    for (int owner = 1; owner <= owners; ++owner) {
      const Vec3 place{number(-size, size), number(-size, size), flat ? 0.05 : number(-size, size)};
      const bool alone = chance(0.2), moves = chance(0.8), quiet = chance(0.5), asks = chance(asking),
                 large = chance(0.03);
      for (int i = whole(1, 4); i > 0; --i) {
        const double half = large ? number(1, 8) : number(0.05, 0.4);
        items.push_back({static_cast<int>(2 * items.size()), moves && chance(0.9),
                         alone ? 0 : static_cast<std::uint32_t>(owner), quiet, asks && chance(0.9),
                         Box3{place + Vec3{number(-0.3, 0.3), number(-0.3, 0.3), flat ? 0.0 : number(-0.3, 0.3)},
                              {half, half * number(0.2, 1), half * number(0.2, 1)}}});
      }
    }
    return items;
  }

  // What find_pairs() promises, without boxes around several bodies and without a grid. A body of a cluster in which
  // nothing moves or nobody asks does not look for others; within its own cluster it is enough that somebody asks.
  static std::vector<Pair> all_pairs(const std::vector<Item>& items) {
    const auto together = [&](std::size_t i, std::size_t k) {
      for (std::size_t n = i; n < k; ++n)
        if (items[n].owner == 0 || items[n].owner != items[n + 1].owner) return false;
      return true;
    };
    const auto cluster_has = [&](std::size_t i, bool Item::*what) {
      for (std::size_t n = 0; n < items.size(); ++n)
        if (items[n].*what && together(std::min(i, n), std::max(i, n))) return true;
      return false;
    };
    const auto looks = [&](std::size_t i) { return cluster_has(i, &Item::asks) && cluster_has(i, &Item::moves); };
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < items.size(); ++i) {
      for (std::size_t k = i + 1; k < items.size(); ++k) {
        const Item &a = items[i], &b = items[k];
        if ((!a.moves && !b.moves) || (!a.asks && !b.asks) || !overlap(a.box, b.box)) continue;
        if (together(i, k) ? a.quiet : !looks(i) && !looks(k)) continue;
        pairs.push_back(a.moves && (!b.moves || a.body < b.body) ? Pair{a.body, b.body} : Pair{b.body, a.body});
      }
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  }

  std::mt19937_64 random_{20261118};
};

TEST_F(BroadPhaseTest, finds_what_trying_all_pairs_finds) {
  BroadPhase broad_phase;
  ThreadPool threads(3);
  std::vector<Pair> found;
  std::size_t most = 0;
  for (int i = 0; i < 600; ++i) {
    const double asking = i % 3 == 0 ? 1.0 : i % 3 == 1 ? 0.5 : 0.05;
    const std::vector<Item> items = scene(asking, i % 2 == 0);
    broad_phase.find_pairs(items, found, i % 2 == 0 ? &threads : nullptr);
    EXPECT_EQ(found, all_pairs(items)) << "in scene " << i;
    most = std::max(most, found.size());
  }
  EXPECT_GT(most, 50u);
}

TEST_F(BroadPhaseTest, nobody_is_there) {
  BroadPhase broad_phase;
  std::vector<Pair> found{{1, 2}};
  broad_phase.find_pairs({}, found);
  EXPECT_TRUE(found.empty());
}

}  // namespace
}  // namespace volvox::physics::native
