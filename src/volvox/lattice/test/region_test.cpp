// A world that several ranks share gives the same state hash, the same snapshot and the same errors as in one process.
#include "volvox/lattice/region.h"

#include <gtest/gtest.h>

#include <map>

#include "../../cluster/test/thread_ranks.h"
#include "reference.h"
#include "volvox/base/test/shortened.h"
#include "volvox/lattice/catom_world.h"
#include "volvox/lattice/programs/crawler.h"
#include "volvox/lattice/programs/flood.h"
#include "volvox/lattice/programs/gradient.h"
#include "volvox/lattice/programs/leader.h"
#include "volvox/lattice/programs/spanning_tree.h"
#include "volvox/lattice/programs/walker.h"
#include "volvox/lattice/scenes.h"

namespace volvox::lattice {
namespace {

using cluster::Exchange;
using cluster::ThreadRanks;

// What is compared: hashes after every few ticks, and all that is counted.
struct Course {
  std::vector<std::uint64_t> hashes;
  std::uint64_t sent = 0, delivered = 0, lost = 0, unread = 0, moves = 0;
  std::int64_t ticks = 0;
  friend bool operator==(const Course&, const Course&) = default;
};

struct Scenario {
  Kind kind = Kind::cubic;
  WorldOptions options;
  std::vector<Cell> cells;
  std::function<Result<void>(CatomWorld&)> load;  // before the cells are added
  std::function<void(CatomWorld&)> prepare = [](CatomWorld&) {};
  std::function<void(CatomWorld&)> disturb = [](CatomWorld&) {};  // before each tick
  std::int64_t ticks = 60;
};

Course run(const Scenario& setup, Exchange* ranks) {
  WorldOptions options = setup.options;
  options.ranks = ranks;
  CatomWorld world(Lattice(setup.kind), options);
  EXPECT_TRUE(setup.load(world).ok());
  EXPECT_TRUE(world.add(setup.cells).ok());
  setup.prepare(world);
  EXPECT_TRUE(world.start().ok());
  Course course;
  while (world.ticks() < setup.ticks && !world.idle()) {
    setup.disturb(world);
    const auto done = world.tick();
    EXPECT_TRUE(done.ok()) << done.error().text();
    if (!done.ok()) break;
    if (world.ticks() % 16 == 0) course.hashes.push_back(world.hash());
  }
  course.hashes.push_back(world.hash());
  const Traffic& t = world.traffic();
  course.sent = t.sent, course.delivered = t.delivered, course.lost = t.lost, course.unread = t.unread;
  course.moves = world.motion().moves, course.ticks = world.ticks();
  return course;
}

void expect_the_same(const Scenario& setup, const std::string& what) {
  const Course alone = run(setup, nullptr);
  for (const int ranks : {2 + narrow<int>(setup.options.seed % 2), 4})
    ThreadRanks(ranks).run([&](Exchange& exchange) {
      const Course shared = run(setup, &exchange);
      if (exchange.rank() == 0) {
        EXPECT_EQ(shared, alone) << what << " with " << ranks << " ranks";
      }
      EXPECT_EQ(shared.delivered, alone.delivered) << what;  // all ranks know the sums
      return true;
    });
}

template <class Program>
Scenario with(std::uint64_t seed, bool Program::*begins) {
  RandomStream random(seed, 0, "test");
  Scenario setup;
  setup.kind = all_kinds[seed % all_kinds.size()];
  const bool flat = Lattice(setup.kind).flat();
  setup.cells = random_cells(setup.kind, random, flat ? 12 : 5, random.uniform(0.3, 1));
  constexpr std::array<std::uint32_t, 3> capacities = {unlimited, 8, 3};
  setup.options = {.seed = seed, .capacity = capacities[random.below(3)]};
  setup.load = [](CatomWorld& world) { return world.load<Program>(); };
  const auto source = narrow<std::uint32_t>(random.below(setup.cells.size()));
  if (begins != nullptr)
    setup.prepare = [source, begins](CatomWorld& world) {
      if (Program* program = world.state<Program>(source)) program->*begins = true;
    };
  return setup;
}

TEST(Region, CutsTheNumbersAndLaterOnesBelongToTheLast) {
  ThreadRanks(3).run([](Exchange& ranks) {
    Region region(&ranks);
    EXPECT_FALSE(region.is_cut());
    region.cut(10);
    const std::array<std::uint32_t, 4> firsts = {0, 3, 6, 10};
    EXPECT_EQ(region.first(), firsts[static_cast<std::size_t>(ranks.rank())]);
    std::size_t own = 0;
    for (std::uint32_t catom = 0; catom < 15; ++catom) {
      EXPECT_EQ(region.has(catom), region.owner(catom) == ranks.rank()) << catom;
      own += region.has(catom) ? 1 : 0;
    }
    EXPECT_EQ(region.count(15), own);
    EXPECT_EQ(region.sum(own), 15u);
    EXPECT_EQ(region.owner(14), 2);
    return true;
  });
}

TEST(Region, ProgramsThatTalkGoTheSameWay) {
  for (const std::uint64_t seed : seeds(1, 40)) {
    const std::string name = "seed " + std::to_string(seed);
    switch (seed / 2 % 4) {
      case 0: expect_the_same(with<Flood>(seed, &Flood::source), "flood, " + name); break;
      case 1: expect_the_same(with<Gradient>(seed, &Gradient::source), "gradient, " + name); break;
      case 2: expect_the_same(with<SpanningTree>(seed, &SpanningTree::root), "tree, " + name); break;
      default: expect_the_same(with<Leader>(seed, nullptr), "leader, " + name);
    }
  }
}

TEST(Region, CatomsThatMoveGoTheSameWay) {
  for (const std::uint64_t seed : seeds(1, 40)) {
    Scenario setup = with<Crawler>(seed, nullptr);
    setup.options.motion = {.ticks = seed % 2 == 0 ? 1u : 3u, .keep_connected = seed % 3 != 0};
    setup.load = [](CatomWorld& world) { return world.load(Crawler{.crawls = true}); };
    setup.ticks = 12;
    expect_the_same(setup, "crawlers, seed " + std::to_string(seed));
  }
}

// By wire and by radio, with motions that cut nothing.
TEST(Region, WalkersGoTheSameWay) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Scenario setup;
    setup.kind = Kind::hex;
    setup.options = {.seed = seed, .radio_range = 1e6, .motion = {.ticks = 2, .keep_connected = true}};
    setup.cells = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {9, 0, 0}, {10, 0, 0}, {9, 1, 0}, {4, 7, 0}};
    setup.load = [](CatomWorld& world) { return world.load<Walker>(); };
    setup.ticks = 150;
    expect_the_same(setup, "walkers, seed " + std::to_string(seed));
  }
}

TEST(Region, CatomsMayComeGoAndBeMovedWhileItRuns) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Scenario setup = with<Gradient>(seed, &Gradient::source);
    setup.disturb = [seed](CatomWorld& world) {
      RandomStream random(seed, static_cast<std::uint64_t>(world.ticks()), "disturb");
      const Ensemble& ensemble = world.ensemble();
      const CatomId some(random.below(ensemble.count()));
      const bool there = ensemble.has(some);
      const Cell free{narrow<std::int32_t>(20 + world.ticks()), 3, 0};
      if (random.chance(0.3)) {
        EXPECT_EQ(there, world.remove(some).ok());
      }
      if (random.chance(0.3)) {
        EXPECT_TRUE(world.add(std::span(&free, 1)).ok());
      }
      if (ensemble.has(some) && random.chance(0.3)) {
        EXPECT_TRUE(world.move(some, {free.x, 5, 0}).ok());
      }
    };
    expect_the_same(setup, "seed " + std::to_string(seed));
  }
}

std::vector<std::byte> bytes_of(CatomWorld& world) {
  SaveArchive ar;
  world.archive(ar);
  EXPECT_TRUE(ar.ok()) << ar.failure();
  return ar.take();
}

// A snapshot has the same bytes whoever wrote it, and goes on at any number of ranks.
TEST(Region, SnapshotsGoOnAtAnyNumberOfRanks) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Scenario setup = with<Gradient>(seed, &Gradient::source);
    setup.options.capacity = 3;  // some messages wait
    const auto make = [&](Exchange* ranks) {
      WorldOptions options = setup.options;
      options.ranks = ranks;
      auto world = std::make_unique<CatomWorld>(Lattice(setup.kind), options);
      EXPECT_TRUE(setup.load(*world).ok() && world->add(setup.cells).ok());
      setup.prepare(*world);
      EXPECT_TRUE(world->start().ok());
      return world;
    };
    const auto whole = make(nullptr);
    EXPECT_TRUE(whole->run(4).ok());
    const std::vector<std::byte> expected = bytes_of(*whole);
    EXPECT_TRUE(whole->run(1000).ok());
    for (const int ranks : {1, 2, 4})
      ThreadRanks(ranks).run([&](Exchange& exchange) {
        const auto world = make(&exchange);
        EXPECT_TRUE(world->run(4).ok());
        const std::vector<std::byte> bytes = bytes_of(*world);
        if (exchange.rank() == 0) {
          EXPECT_EQ(bytes, expected) << seed;
        }
        const auto other = make(&exchange);
        EXPECT_TRUE(other->run(2).ok());
        LoadArchive ar(expected);
        other->archive(ar);
        EXPECT_TRUE(ar.ok()) << ar.failure();
        EXPECT_TRUE(other->run(1000).ok());
        const std::uint64_t hash = other->hash();
        if (exchange.rank() == 0) {
          EXPECT_EQ(hash, whole->hash()) << seed;
        }
        return true;
      });
  }
}

struct Fragile {
  std::uint32_t number = 0;
  void new_tick(Catom& catom) {
    number = catom.id();
    if (catom.tick() == 3 && number % 7 == 5) throw CatomError("it is broken");
  }
};
VOLVOX_TYPE(Fragile, number)

TEST(Region, AllRanksReportTheFailureOfTheLowestCatom) {
  const auto failure = [](Exchange* ranks) {
    CatomWorld world(Lattice(Kind::cubic), {.ranks = ranks});
    EXPECT_TRUE(world.load<Fragile>().ok() && world.add_box({0, 0, 0}, {4, 4, 4}).ok() && world.start().ok());
    const auto ended = world.run(10);
    return ended.ok() ? "" : ended.error().text();
  };
  const std::string alone = failure(nullptr);
  EXPECT_NE(alone.find("catom 5 at"), std::string::npos) << alone;
  for (const int ranks : {2, 4})
    ThreadRanks(ranks).run([&](Exchange& exchange) {
      EXPECT_EQ(failure(&exchange), alone);
      return true;
    });
}

TEST(Region, ARankThatDiesEndsTheTickOfTheOthersWithAnError) {
  ThreadRanks(3).run([](Exchange& ranks) {
    CatomWorld world(Lattice(Kind::cubic), {.ranks = &ranks});
    EXPECT_TRUE(world.load<Flood>().ok() && world.add_box({0, 0, 0}, {9, 9, 9}).ok());
    if (Flood* first = world.state<Flood>(0)) first->source = true;
    EXPECT_TRUE(world.start().ok());
    for (int tick = 0; tick < 5; ++tick) EXPECT_TRUE(world.tick().ok());
    if (ranks.rank() == 2) return false;
    const auto ended = world.tick();
    EXPECT_FALSE(ended.ok());
    EXPECT_NE(ended.error().text().find("rank 2 does not answer any more"), std::string::npos) << ended.error().text();
    SaveArchive ar;
    world.archive(ar);
    EXPECT_FALSE(ar.ok());  // a snapshot without that rank is none
    return true;
  });
}

TEST(Region, ScenesAreRightAndTheSame) {
  for (const SceneInfo& info : all_scenes()) {
    if (info.name == "radio" || info.name == "wires") continue;  // a network runs on one thread
    const auto alone = run_scene(info.name, 3000, 1, 7);
    ASSERT_TRUE(alone.ok());
    ThreadRanks(4).run([&](Exchange& ranks) {
      const auto shared = run_scene(info.name, 3000, 2, 7, &ranks);
      EXPECT_TRUE(shared.ok());
      if (ranks.rank() == 0 && shared.ok()) {
        EXPECT_EQ(shared->state_hash, alone->state_hash) << info.name;
      }
      return true;
    });
  }
}

}  // namespace
}  // namespace volvox::lattice
