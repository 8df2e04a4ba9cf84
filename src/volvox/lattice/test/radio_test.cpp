// The ideal radio of lattice worlds.
#include <gtest/gtest.h>

#include <map>

#include "volvox/lattice/catom_world.h"

namespace volvox::lattice {
namespace {

struct Beep {
  std::uint32_t from = 0;
};
VOLVOX_TYPE(Beep, from)

struct Beeper {
  bool sends = false;
  std::uint32_t heard = 0, sum = 0, port = 0;
  std::uint64_t order = 0;
  void new_tick(Catom& catom) const {
    if (sends && catom.tick() % 3 == 0) catom.radio(Beep{catom.id()}, 2);
  }
  void hear(Catom&, int at, const Beep& beep) {
    ++heard;
    sum += beep.from;
    port = narrow<std::uint32_t>(at);
    order = order * 31 + beep.from;
  }
  static void mailboxes(Mailboxes<Beeper>& boxes) { boxes.link<&Beeper::hear>(2); }
};
VOLVOX_TYPE(Beeper, sends, heard, sum, port, order)

std::vector<Cell> strewn(Kind kind, std::int32_t side, std::uint64_t seed, double part) {
  RandomStream random(seed, 0, "strewn");
  std::vector<Cell> cells;
  for (std::int32_t z = 0; z < (Lattice(kind).flat() ? 1 : side); ++z)
    for (std::int32_t y = 0; y < side; ++y)
      for (std::int32_t x = 0; x < side; ++x)
        if (random.chance(part)) cells.push_back({x, y, z});
  return cells;
}

// Who hears what, beside a search over all pairs: with ranges for which cells are searched, and catoms.
TEST(Radio, ReachesExactlyThoseInRange) {
  for (const Kind kind : all_kinds) {
    for (const double range : {1.0, 2.5, 4.01, 1e6}) {
      const Lattice lattice(kind, 0.5);
      WorldOptions options;
      options.radio_range = 0.5 * range;
      CatomWorld world(lattice, options);
      ASSERT_TRUE(world.load<Beeper>().ok());
      ASSERT_TRUE(world.add(strewn(kind, lattice.flat() ? 60 : 14, 5, 0.5)).ok());
      const auto count = narrow<std::uint32_t>(world.ensemble().count());
      for (std::uint32_t i = 0; i < count; i += 37) world.state<Beeper>(i)->sends = true;
      ASSERT_TRUE(world.start().ok());
      for (int tick = 0; tick < 2; ++tick) ASSERT_TRUE(world.tick().ok());
      for (std::uint32_t i = 0; i < count; ++i) {
        std::uint32_t expected = 0;
        for (std::uint32_t j = 0; j < count; j += 37) {
          const Vec3 apart = lattice.position(world.ensemble().cell(i)) - lattice.position(world.ensemble().cell(j));
          if (i != j && length(apart) <= 0.5 * range * (1 + 1e-9)) ++expected;
        }
        ASSERT_EQ(world.state<Beeper>(i)->heard, expected) << name(kind) << " range " << range << " catom " << i;
        if (expected > 0) {
          EXPECT_EQ(world.state<Beeper>(i)->port, std::uint32_t{far_port});
        }
      }
    }
  }
}

TEST(Radio, HasTheSameHashAtAnyNumberOfThreadsAndAfterASnapshot) {
  std::map<int, std::uint64_t> hashes;
  std::vector<std::byte> saved;
  for (const int threads : {1, 2, 3, 0}) {
    ThreadPool pool(std::max(1, threads));
    WorldOptions options;
    options.radio_range = 6;
    CatomWorld world(Lattice(Kind::hex), options, &pool);
    ASSERT_TRUE(world.load(Beeper{.sends = true}).ok());
    if (threads > 0) {
      ASSERT_TRUE(world.add(strewn(Kind::hex, 60, 6, 0.3)).ok());
      ASSERT_TRUE(world.start().ok());
    } else {
      LoadArchive load(saved);
      world.archive(load);
      ASSERT_TRUE(load.ok()) << load.failure();
    }
    while (world.ticks() < 10) {
      ASSERT_TRUE(world.tick().ok());
      if (threads != 2 || world.ticks() != 4) continue;  // beeps of the tick before are on their way
      SaveArchive save;
      world.archive(save);
      saved = save.take();
    }
    hashes[threads] = world.hash();
  }
  for (const auto& [threads, hash] : hashes) EXPECT_EQ(hash, hashes[1]) << threads;
}

TEST(Radio, IsRefusedWhereThereIsNone) {
  CatomWorld world(Lattice(Kind::hex), {});
  ASSERT_TRUE(world.load(Beeper{.sends = true}).ok());
  const Cell cell{};
  ASSERT_TRUE(world.add(std::span(&cell, 1)).ok());
  ASSERT_TRUE(world.start().ok());
  const auto ticked = world.tick();
  ASSERT_FALSE(ticked.ok());
  EXPECT_NE(ticked.error().text().find("radio"), std::string::npos) << ticked.error().text();
}

TEST(Radio, ASnapshotOfAnotherRangeIsRefused) {
  WorldOptions options;
  options.radio_range = 6;
  CatomWorld world(Lattice(Kind::hex), options);
  SaveArchive save;
  world.archive(save);
  options.radio_range = 7;
  CatomWorld other(Lattice(Kind::hex), options);
  LoadArchive load(save.bytes());
  other.archive(load);
  EXPECT_FALSE(load.ok());
}

}  // namespace
}  // namespace volvox::lattice
