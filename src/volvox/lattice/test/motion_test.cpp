#include "volvox/lattice/motion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "reference.h"
#include "volvox/lattice/programs/roller.h"

namespace volvox::lattice {
namespace {

TEST(Motion, PortsTurnCounterClockwise) {
  const Lattice hex(Kind::hex);
  for (int port = 0; port < 6; ++port) {
    EXPECT_EQ(turned(port, 3), Lattice::opposite(port));
    EXPECT_EQ(turned(turned(port, 1), -1), port);
    const Vec3 a = hex.position(hex.neighbor({}, port)), b = hex.position(hex.neighbor({}, turned(port, 1)));
    EXPECT_NEAR(a.x * b.y - a.y * b.x, std::sqrt(0.75), 1e-12);
    EXPECT_NEAR(dot(a, b), 0.5, 1e-12);
  }
}

// On its way the catom's disc stays clear of all cells but those that must be free.
TEST(Motion, WhatMustBeFreeIsWhatTheCatomSweeps) {
  const Lattice hex(Kind::hex);
  for (const Turn turn : {Turn::clockwise, Turn::counter_clockwise}) {
    for (std::uint8_t pivot = 0; pivot < 6; ++pivot) {
      const Roll roll{0, pivot, turn};
      const Vec3 center = hex.position(hex.neighbor({}, pivot));
      const Vec3 from = Vec3{} - center, to = hex.position(hex.neighbor({}, roll.to())) - center;
      std::set<Cell> swept;
      for (int i = 0; i <= 100; ++i) {
        const double angle = pi / 3 * i / 100 * (turn == Turn::clockwise ? -1 : 1);
        const double c = volvox::cos(angle), s = volvox::sin(angle);
        const Vec3 at = center + Vec3{c * from.x - s * from.y, s * from.x + c * from.y, 0};
        if (i == 100) {
          EXPECT_NEAR(length(at - center - to), 0, 1e-12);
        }
        for (int x = -3; x <= 3; ++x)
          for (int y = -3; y <= 3; ++y)
            if (length(hex.position({x, y, 0}) - at) < 1 - 1e-9) swept.insert({x, y, 0});
      }
      EXPECT_EQ(swept, (std::set<Cell>{{}, hex.neighbor({}, roll.to()), hex.neighbor({}, roll.beyond())}));
    }
  }
}

// Random wishes in random ensembles: what is decided can be made together, does not depend on the order of wishes, and
// somebody rolls if anybody can.
TEST(Motion, DecisionsAreConsistent) {
  int moves = 0, lost = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    RandomStream random(seed, 0, "test");
    const auto cells = random_cells(Kind::hex, random, 8, random.uniform(0.1, 0.6));
    Ensemble ensemble{Lattice(Kind::hex)};
    ASSERT_TRUE(ensemble.add(cells).ok());
    std::vector<Roll> wishes;
    for (std::uint32_t i = 0; i < cells.size(); ++i) {
      const std::uint8_t pivot = narrow<std::uint8_t>(random.below(6));
      if (ensemble.around(i).at(pivot) != nobody)
        wishes.push_back({i, pivot, random.chance(0.5) ? Turn::clockwise : Turn::counter_clockwise});
    }
    std::vector<Roll> shuffled(wishes.rbegin(), wishes.rend());
    Referee a, b;
    MotionCount count, again;
    const std::size_t asked = wishes.size();
    a.decide(ensemble, seed, wishes, count);
    b.decide(ensemble, seed, shuffled, again);
    const std::vector<Roll>& chosen = wishes;
    const std::vector<Roll> same(shuffled.rbegin(), shuffled.rend());
    ASSERT_EQ(chosen.size(), same.size());
    std::set<std::uint32_t> rolling;
    std::map<Cell, int> used;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      EXPECT_EQ(chosen[i].catom, same[i].catom);
      rolling.insert(chosen[i].catom);
      ++used[ensemble.lattice().neighbor(cells[chosen[i].catom], chosen[i].to())];
      ++used[ensemble.lattice().neighbor(cells[chosen[i].catom], chosen[i].beyond())];
    }
    for (const Roll& roll : chosen) {
      EXPECT_FALSE(rolling.contains(ensemble.around(roll.catom).at(roll.pivot)));
      EXPECT_EQ(ensemble.around(roll.catom).at(roll.to()), nobody);
      EXPECT_EQ(ensemble.around(roll.catom).at(roll.beyond()), nobody);
    }
    for (const auto& [cell, times] : used) EXPECT_EQ(times, 1) << text(cell);
    EXPECT_EQ(count.moves + count.blocked + count.lost, asked);
    EXPECT_TRUE(count.moves > 0 || count.lost == 0);
    moves += narrow<int>(count.moves), lost += narrow<int>(count.lost);
  }
  EXPECT_GT(moves, 1000);
  EXPECT_GT(lost, 100);
}

std::uint64_t hash_of_rollers(std::uint64_t seed, int threads, bool save) {
  ThreadPool pool(threads);
  RandomStream random(seed, 0, "test");
  const auto cells = random_cells(Kind::hex, random, 40, 0.3);
  auto world = std::make_unique<CatomWorld>(Lattice(Kind::hex), WorldOptions{.seed = seed}, &pool);
  EXPECT_TRUE(world->load<Roller>().ok());
  EXPECT_TRUE(world->add(cells).ok());
  for (std::uint32_t i = 0; i < cells.size(); ++i) world->state<Roller>(i)->rolls = i % 3 != 0;
  EXPECT_TRUE(world->start().ok());
  for (int t = 0; t < 40; ++t) {
    if (save && t == 17) {
      auto restored = std::make_unique<CatomWorld>(Lattice(Kind::hex), WorldOptions{.seed = seed}, &pool);
      EXPECT_TRUE(restored->load<Roller>().ok());
      copy_through_snapshot(*world, *restored);
      world = std::move(restored);
    }
    EXPECT_TRUE(world->tick().ok());
  }
  EXPECT_GT(world->motion().moves, 1000u);
  EXPECT_GT(world->motion().lost, 0u);
  EXPECT_EQ(world->ensemble().size(), cells.size());
  return world->hash();
}

TEST(Motion, IsTheSameAtAnyNumberOfThreadsAndAfterASnapshot) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::uint64_t expected = hash_of_rollers(seed, 1, false);
    for (const int threads : {2, 4}) EXPECT_EQ(hash_of_rollers(seed, threads, threads == 4), expected);
  }
}

struct Lonely {
  std::uint8_t wrong = 0;
  void new_tick(Catom& catom) const {
    catom.roll(wrong == 1 ? 1 : 0, Turn::clockwise);
    catom.roll(0, Turn::clockwise);
  }
};
VOLVOX_TYPE(Lonely, wrong)

TEST(Motion, AWishThatCannotBeIsNamed) {
  const auto failure = [](Kind kind, std::uint8_t wrong) {
    CatomWorld world{Lattice(kind)};
    EXPECT_TRUE(world.load(Lonely{wrong}).ok());
    EXPECT_TRUE(world.add_box({0, 0, 0}, {1, 0, 0}).ok());
    EXPECT_TRUE(world.start().ok());
    return world.tick().error().text();
  };
  EXPECT_NE(failure(Kind::hex, 0).find("catom 0 at (0, 0, 0), code module Lonely: it wants to roll twice"),
            std::string::npos);
  EXPECT_NE(failure(Kind::hex, 1).find("about port 1, where no neighbour is"), std::string::npos);
  EXPECT_NE(failure(Kind::cubic, 0).find("on a cubic lattice"), std::string::npos);
}

}  // namespace
}  // namespace volvox::lattice
