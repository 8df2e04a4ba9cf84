#include "volvox/lattice/catom_world.h"

#include <gtest/gtest.h>

#include <set>

#include "reference.h"
#include "volvox/lattice/programs/flood.h"
#include "volvox/lattice/programs/gradient.h"
#include "volvox/lattice/programs/roller.h"
#include "volvox/lattice/programs/spanning_tree.h"

namespace volvox::lattice {
namespace {

constexpr std::int64_t long_enough = 100'000;

TEST(Flood, CountsAreExactOnRandomEnsemblesOfEveryLattice) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    RandomStream random(seed, 0, "test");
    const Kind kind = all_kinds[seed % all_kinds.size()];
    const Lattice lattice(kind);
    const auto cells = random_cells(kind, random, lattice.flat() ? 12 : 5, random.uniform(0.3, 1));
    CatomWorld world(lattice, {.seed = seed});
    ASSERT_TRUE(world.load<Flood>().ok());
    ASSERT_TRUE(world.add(cells).ok());
    const std::uint32_t source = narrow<std::uint32_t>(random.below(cells.size()));
    world.state<Flood>(source)->source = true;
    ASSERT_TRUE(world.start().ok());
    ASSERT_TRUE(world.run(long_enough).ok());
    const auto expected = distances(lattice, cells, {source});
    const Part part = part_of(lattice, cells, expected);
    EXPECT_EQ(world.traffic().delivered, 2 * part.links - (part.catoms - 1)) << name(kind) << " seed " << seed;
    EXPECT_EQ(world.traffic().sent, world.traffic().delivered);
    EXPECT_EQ(world.traffic().lost, 0u);
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < cells.size(); ++i) {
      EXPECT_EQ(world.state<Flood>(i)->hops, expected[i]);
      if (expected[i] != not_reached) last = std::max(last, world.state<Flood>(i)->hops);
    }
    EXPECT_EQ(last, part.farthest);
  }
}

// The source sends in tick 0, and the farthest catom hears in the tick of its distance.
TEST(Flood, TakesAsManyTicksAsTheFarthestCatomIsLinksAway) {
  for (const Kind kind : all_kinds) {
    const Lattice lattice(kind);
    CatomWorld world(lattice);
    ASSERT_TRUE(world.load<Flood>().ok());
    const std::int32_t top = lattice.flat() ? 0 : 6;
    ASSERT_TRUE(world.add_box({0, 0, 0}, {6, 6, top}).ok());
    world.state<Flood>(0)->source = true;
    ASSERT_TRUE(world.start().ok());
    std::vector<Cell> cells;
    for (std::uint32_t i = 0; i < world.ensemble().count(); ++i) cells.push_back(world.ensemble().cell(i));
    const std::uint32_t farthest = part_of(lattice, cells, distances(lattice, cells, {0})).farthest;
    const auto all_reached = [&] {
      for (std::uint32_t i = 0; i < cells.size(); ++i)
        if (world.state<Flood>(i)->hops == Flood::unreached) return false;
      return true;
    };
    std::int64_t done_in = -1;
    for (std::int64_t t = 0; done_in < 0 && t < 100; ++t) {
      ASSERT_TRUE(world.tick().ok());
      if (all_reached()) done_in = t;
    }
    EXPECT_EQ(done_in, farthest) << name(kind);
  }
}

TEST(Gradient, IsTheDistanceWhateverTheCapacity) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    RandomStream random(seed, 0, "test");
    const Kind kind = all_kinds[seed % all_kinds.size()];
    const Lattice lattice(kind);
    const auto cells = random_cells(kind, random, lattice.flat() ? 9 : 4, random.uniform(0.2, 1));
    const std::array<std::uint32_t, 4> capacities = {unlimited, 8, 4, 1};
    CatomWorld world(lattice, {.seed = seed, .capacity = capacities[random.below(4)]});
    ASSERT_TRUE(world.load<Gradient>().ok());
    ASSERT_TRUE(world.add(cells).ok());
    std::vector<std::uint32_t> sources;
    for (std::uint64_t i = 0; i < 1 + random.below(3); ++i)
      sources.push_back(narrow<std::uint32_t>(random.below(cells.size())));
    for (const std::uint32_t s : sources) world.state<Gradient>(s)->source = true;
    ASSERT_TRUE(world.start().ok());
    ASSERT_TRUE(world.run(long_enough).ok());
    ASSERT_TRUE(world.idle());
    const auto expected = distances(lattice, cells, sources);
    for (std::uint32_t i = 0; i < cells.size(); ++i)
      ASSERT_EQ(world.state<Gradient>(i)->distance, expected[i]) << name(kind) << " seed " << seed;
  }
}

TEST(SpanningTree, CountsItsCatomsWithTwoMessagesALink) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    RandomStream random(seed, 0, "test");
    const Kind kind = all_kinds[seed % all_kinds.size()];
    const Lattice lattice(kind);
    const auto cells = random_cells(kind, random, lattice.flat() ? 9 : 4, random.uniform(0.3, 1));
    CatomWorld world(lattice, {.seed = seed, .capacity = seed % 2 == 0 ? unlimited : 3});
    ASSERT_TRUE(world.load<SpanningTree>().ok());
    ASSERT_TRUE(world.add(cells).ok());
    world.state<SpanningTree>(0)->root = true;
    ASSERT_TRUE(world.start().ok());
    ASSERT_TRUE(world.run(long_enough).ok());
    const auto reached = distances(lattice, cells, {0});
    const Part part = part_of(lattice, cells, reached);
    EXPECT_EQ(world.traffic().delivered, 2 * part.links);
    EXPECT_EQ(world.state<SpanningTree>(0)->size, part.catoms);
    EXPECT_TRUE(world.state<SpanningTree>(0)->complete);
    for (std::uint32_t i = 1; i < cells.size(); ++i) {
      EXPECT_EQ(world.state<SpanningTree>(i)->complete, reached[i] != not_reached);
      EXPECT_EQ(world.state<SpanningTree>(i)->parent != no_port, reached[i] != not_reached);
    }
  }
}

// Noise acts by itself, with random numbers, and sends texts of random length.
struct Chatter {
  std::string text;
};
VOLVOX_TYPE(Chatter, text)
struct Noise {
  std::uint64_t heard_sum = 0;
  void new_tick(Catom& catom) {
    if (!catom.random().chance(0.2)) return;
    catom.send(narrow<int>(catom.random().below(catom.ports())),
               Chatter{std::string(catom.random().below(30), static_cast<char>('a' + catom.random().below(26)))}, 7);
  }
  void heard(Catom& catom, int port, const Chatter& chatter) {
    // Depends on the order in which messages are read.
    heard_sum = heard_sum * 31 + chatter.text.size() + port + (chatter.text.empty() ? 0 : chatter.text[0]);
    if (heard_sum % 5 == 0) catom.send(port, Chatter{"again"}, 7);
  }
  static void mailboxes(Mailboxes<Noise>& boxes) { boxes.link<&Noise::heard>(7); }
};
VOLVOX_TYPE(Noise, heard_sum)

struct Case {
  int threads = 1;
  bool active_sets = true;
  Occupancy::Store store = Occupancy::Store::automatic;
  int save_at = -1;
  bool noise = true;
};

std::uint64_t hash_after(const Case& c, Kind kind, std::uint64_t seed) {
  ThreadPool pool(c.threads);
  RandomStream random(seed, 0, "test");
  const auto cells = random_cells(kind, random, Lattice(kind).flat() ? 40 : 12, 0.8);
  const auto make = [&] {
    auto world = std::make_unique<CatomWorld>(
        Lattice(kind),
        WorldOptions{
            .seed = seed, .capacity = seed % 2 == 0 ? unlimited : 11, .active_sets = c.active_sets, .store = c.store},
        &pool);
    EXPECT_TRUE(world->load<Flood>().ok());
    EXPECT_TRUE(world->load<Gradient>().ok());
    const bool noisy = !c.noise || world->load<Noise>().ok();
    EXPECT_TRUE(noisy);
    return world;
  };
  auto world = make();
  EXPECT_TRUE(world->add(cells).ok());
  world->state<Flood>(3)->source = true;
  world->state<Gradient>(5)->source = true;
  EXPECT_TRUE(world->start().ok());
  for (int t = 0; t < 30; ++t) {
    if (t == 4) {
      EXPECT_TRUE(world->remove(7).ok());
      EXPECT_TRUE(world->move(9, {100, 0, 0}).ok());
    }
    if (t == c.save_at) {
      auto restored = make();
      copy_through_snapshot(*world, *restored);
      EXPECT_EQ(restored->hash(), world->hash());
      world = std::move(restored);
    }
    const auto done = world->tick();
    EXPECT_TRUE(done.ok()) << done.error().text();
  }
  return world->hash();
}

TEST(CatomWorld, HasTheSameHashAtAnyNumberOfThreadsAndAfterASnapshot) {
  std::set<std::uint64_t> all;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Kind kind = all_kinds[seed % all_kinds.size()];
    for (const bool noise : {true, false}) {
      const std::uint64_t expected = hash_after({.noise = noise}, kind, seed);
      all.insert(expected);
      for (const int threads : {2, 3, 4})
        EXPECT_EQ(hash_after({.threads = threads, .noise = noise}, kind, seed), expected);
      EXPECT_EQ(hash_after({.active_sets = false, .noise = noise}, kind, seed), expected);
      EXPECT_EQ(hash_after({.store = Occupancy::Store::table, .noise = noise}, kind, seed), expected);
      for (const int at : {0, 1, 5, 12})
        EXPECT_EQ(hash_after({.threads = 2, .save_at = at, .noise = noise}, kind, seed), expected) << "saved at " << at;
    }
  }
  EXPECT_EQ(all.size(), 12u);
}

// Draws at its start and in every tick.
struct Drawer {
  std::uint64_t at_start = 0, key_at_start = 0, in_tick = 0, key_in_tick = 0;
  void start(Catom& catom) { at_start = catom.random().bits(), key_at_start = catom.key(); }
  void new_tick(Catom& catom) { in_tick = catom.random().bits(), key_in_tick = catom.key(); }
};
VOLVOX_TYPE(Drawer, at_start, key_at_start, in_tick, key_in_tick)

TEST(CatomWorld, HashingChangesNothingThatComes) {
  std::set<std::uint64_t> hashes;
  for (const bool looked_at : {false, true}) {
    CatomWorld world{Lattice(Kind::square)};
    ASSERT_TRUE(world.load<Drawer>().ok());
    ASSERT_TRUE(world.add_box({0, 0, 0}, {3, 0, 0}).ok());
    ASSERT_TRUE(world.start().ok());
    ASSERT_TRUE(world.tick().ok());
    if (looked_at) (void)world.hash();
    ASSERT_TRUE(world.add(std::vector{Cell{4, 0, 0}}).ok());
    hashes.insert(world.hash());
  }
  EXPECT_EQ(hashes.size(), 1u);
}

TEST(CatomWorld, StartDrawsOtherNumbersThanTheTickAfterIt) {
  CatomWorld world{Lattice(Kind::square)};
  ASSERT_TRUE(world.load<Drawer>().ok());
  ASSERT_TRUE(world.add_box({0, 0, 0}, {3, 0, 0}).ok());
  ASSERT_TRUE(world.start().ok());
  ASSERT_TRUE(world.tick().ok());
  ASSERT_TRUE(world.add(std::vector{Cell{4, 0, 0}}).ok());
  ASSERT_TRUE(world.tick().ok());
  CatomWorld other{Lattice(Kind::square)};  // to see the draws of tick 0, which the second tick has replaced
  ASSERT_TRUE(other.load<Drawer>().ok());
  ASSERT_TRUE(other.add_box({0, 0, 0}, {3, 0, 0}).ok());
  ASSERT_TRUE(other.start().ok());
  ASSERT_TRUE(other.tick().ok());
  for (const Drawer* drawer : {other.state<Drawer>(0), other.state<Drawer>(3), world.state<Drawer>(4)}) {
    EXPECT_NE(drawer->at_start, drawer->in_tick);
    EXPECT_NE(drawer->key_at_start, drawer->key_in_tick);
  }
}

// Fails at a tick, while the others roll.
struct Faulty {
  bool fails = false;
  void new_tick(Catom& catom) const {
    if (fails && catom.tick() == 2) throw std::runtime_error("broken");
  }
};
VOLVOX_TYPE(Faulty, fails)

TEST(CatomWorld, NothingOfAFailedTickIsLeftAfterARestore) {
  CatomWorld world{Lattice(Kind::hex)};
  ASSERT_TRUE(world.load<Roller>().ok());
  ASSERT_TRUE(world.load<Faulty>().ok());
  ASSERT_TRUE(world.add_box({0, 0, 0}, {9, 0, 0}).ok());
  ASSERT_TRUE(world.add(std::vector{Cell{3, 1, 0}}).ok());
  world.state<Roller>(10)->rolls = true;
  ASSERT_TRUE(world.start().ok());
  for (int t = 0; t < 2; ++t) ASSERT_TRUE(world.tick().ok());
  SaveArchive save;
  world.archive(save);
  ASSERT_TRUE(world.tick().ok());
  const std::uint64_t truth = world.hash();
  const auto restore = [&] {
    LoadArchive load(save.bytes());
    world.archive(load);
    ASSERT_TRUE(load.ok()) << load.failure();
  };
  restore();
  world.state<Faulty>(0)->fails = true;
  ASSERT_FALSE(world.tick().ok());
  restore();
  ASSERT_TRUE(world.tick().ok());
  EXPECT_EQ(world.hash(), truth);
}

// Catoms are half processed after a failure: the world takes nothing, says again who failed, and counts nothing.
TEST(CatomWorld, AFailedWorldRefusesEverythingUntilItIsRestored) {
  CatomWorld world{Lattice(Kind::hex)};
  ASSERT_TRUE(world.load<Faulty>().ok());
  ASSERT_TRUE(world.add_box({0, 0, 0}, {3, 0, 0}).ok());
  ASSERT_TRUE(world.start().ok());
  SaveArchive save;
  world.archive(save);
  world.state<Faulty>(1)->fails = true;
  ASSERT_TRUE(world.run(2).ok());
  ASSERT_FALSE(world.tick().ok());
  const std::uint64_t before = world.hash();
  for (const Result<void>& refused : {world.tick(), world.remove(2), world.move(2, {7, 0, 0}), world.loosen(2),
                                      world.add_box({5, 0, 0}, {6, 0, 0}), world.add(std::vector{Cell{9, 0, 0}})}) {
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().text().find("catom 1 at (1, 0, 0)"), std::string::npos) << refused.error().text();
  }
  EXPECT_EQ(world.ensemble().size(), 4u);
  EXPECT_EQ(world.hash(), before);
  LoadArchive load(save.bytes());
  world.archive(load);
  ASSERT_TRUE(load.ok()) << load.failure();
  EXPECT_TRUE(world.remove(2).ok());
  EXPECT_TRUE(world.tick().ok());
}

TEST(CatomWorld, ARemovedReceiverLeavesNothingToDo) {
  const auto make = [] {
    auto world = std::make_unique<CatomWorld>(Lattice(Kind::square));
    EXPECT_TRUE(world->load<Flood>().ok());
    return world;
  };
  const auto world = make(), restored = make();
  ASSERT_TRUE(world->add_box({0, 0, 0}, {1, 0, 0}).ok());
  world->state<Flood>(0)->source = true;
  ASSERT_TRUE(world->start().ok());
  ASSERT_TRUE(world->tick().ok());
  ASSERT_TRUE(world->remove(1).ok());
  copy_through_snapshot(*world, *restored);
  for (CatomWorld* w : {world.get(), restored.get()}) {
    EXPECT_TRUE(w->idle());
    ASSERT_TRUE(w->run(10).ok());
    EXPECT_EQ(w->ticks(), 1);
  }
  EXPECT_EQ(world->hash(), restored->hash());
}

struct Large {
  std::array<std::uint32_t, 2000> table{};
};
VOLVOX_TYPE(Large, table)

TEST(CatomWorld, StatesMayBeLarge) {
  const auto make = [] {
    auto world = std::make_unique<CatomWorld>(Lattice(Kind::square));
    EXPECT_TRUE(world->load<Large>().ok());
    return world;
  };
  const auto world = make(), restored = make();
  ASSERT_TRUE(world->add_box({0, 0, 0}, {1, 0, 0}).ok());
  world->state<Large>(1)->table[1999] = 7;
  copy_through_snapshot(*world, *restored);
  EXPECT_EQ(restored->state<Large>(1)->table[1999], 7u);
  EXPECT_EQ(world->hash(), restored->hash());
}

TEST(CatomWorld, ASnapshotWithOtherOptionsIsRefused) {
  CatomWorld world(Lattice(Kind::square, 2), {.capacity = 8, .most_waiting = 50});
  ASSERT_TRUE(world.add_box({0, 0, 0}, {1, 0, 0}).ok());
  SaveArchive save;
  world.archive(save);
  const auto failure = [&](double pitch, const WorldOptions& options) {
    CatomWorld other(Lattice(Kind::square, pitch), options);
    LoadArchive load(save.bytes());
    other.archive(load);
    return std::string(load.ok() ? "" : load.failure());
  };
  EXPECT_EQ(failure(2, {.capacity = 8, .most_waiting = 50}), "");
  EXPECT_NE(failure(2, {.capacity = 9, .most_waiting = 50}).find("capacity"), std::string::npos);
  EXPECT_NE(failure(2, {.capacity = 8, .most_waiting = 51}).find("most_waiting"), std::string::npos);
  EXPECT_NE(failure(1, {.capacity = 8, .most_waiting = 50}).find("pitch"), std::string::npos);
}

TEST(CatomWorld, WhoHasNothingToDoIsNotProcessed) {
  CatomWorld world{Lattice(Kind::square)};
  ASSERT_TRUE(world.load<Flood>().ok());
  ASSERT_TRUE(world.add_box({0, 0, 0}, {99, 99, 0}).ok());
  world.state<Flood>(0)->source = true;
  ASSERT_TRUE(world.start().ok());
  std::size_t processed = 0;
  while (!world.idle()) {
    ASSERT_TRUE(world.tick().ok());
    processed += world.processed();
  }
  EXPECT_LE(processed, 3 * 10'000u);  // 200 ticks, and each catom in at most 3: when it is told, and by those it told
}

// Of catoms that send to one in the same tick, each is heard first equally often.
TEST(CatomWorld, IsFair) {
  int first_at[6] = {};
  constexpr int runs = 4000;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    CatomWorld world(Lattice(Kind::cubic), {.seed = seed});
    ASSERT_TRUE(world.load<Flood>().ok());
    std::vector<Cell> cells = {{0, 0, 0}};
    for (int port = 0; port < 6; ++port) cells.push_back(Lattice(Kind::cubic).neighbor({}, port));
    ASSERT_TRUE(world.add(cells).ok());
    for (std::uint32_t i = 1; i <= 6; ++i) world.state<Flood>(i)->source = true;
    ASSERT_TRUE(world.start().ok());
    ASSERT_TRUE(world.run(10).ok());
    ++first_at[world.state<Flood>(0)->parent];
  }
  for (const int times : first_at) EXPECT_NEAR(times, runs / 6.0, 4.5 * std::sqrt(runs * 5 / 36.0));
}

}  // namespace
}  // namespace volvox::lattice
