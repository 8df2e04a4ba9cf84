// Programs on many catoms: twins in C++, neighbours that come and go, threads, snapshots, delays, taps and motion.
#include "meld_bench.h"
#include "volvox/base/random.h"
#include "volvox/lattice/programs/gradient.h"
#include "volvox/lattice/programs/leader.h"
#include "volvox/lattice/programs/line.h"
#include "volvox/lattice/programs/spanning_tree.h"
#include "volvox/meld/scene.h"

namespace volvox::meld {
namespace {

using lattice::Cell;

// A box with holes; the first cell is always there.
std::vector<Cell> cells(std::uint64_t seed, bool flat) {
  RandomStream random(seed, 0, "cells");
  std::vector<Cell> list;
  for (std::int32_t z = 0; z < (flat ? 1 : 5); ++z)
    for (std::int32_t y = 0; y < (flat ? 9 : 5); ++y)
      for (std::int32_t x = 0; x < 6; ++x)
        if (list.empty() || random.chance(0.7)) list.push_back({x, y, z});
  return list;
}

template <class Twin>
std::unique_ptr<lattice::CatomWorld> twin(lattice::Kind kind, const std::vector<Cell>& list, std::uint64_t seed,
                                          bool Twin::*first = nullptr) {
  auto world = std::make_unique<lattice::CatomWorld>(lattice::Lattice(kind), lattice::WorldOptions{.seed = seed});
  EXPECT_TRUE(world->template load<Twin>().ok());
  EXPECT_TRUE(world->add(list).ok());
  if (first != nullptr) world->template state<Twin>(0u)->*first = true;
  EXPECT_TRUE(world->start().ok());
  return world;
}

class Twins : public testing::TestWithParam<lattice::Kind> {
 protected:
  // compare(bench, seed, cells) for 40 seeds.
  template <class Compare>
  void each(const std::string& program, const Compare& compare) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const auto list = cells(seed, lattice::Lattice(GetParam()).flat());
      Bench bench(own(program), GetParam(), {}, seed);
      ASSERT_TRUE(bench.world.add(list).ok());
      bench.start();
      ASSERT_EQ(bench.run(), "");
      compare(bench, seed, list);
      if (HasFatalFailure()) return;
    }
  }
};

TEST_P(Twins, Gradient) {
  each("gradient", [&](const Bench& bench, std::uint64_t seed, const std::vector<Cell>& list) {
    const auto other = twin<lattice::Gradient>(GetParam(), list, seed, &lattice::Gradient::source);
    ASSERT_TRUE(other->run(1000).ok());
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      const std::uint32_t distance = other->state<lattice::Gradient>(i)->distance;
      ASSERT_EQ(bench.facts(i),
                distance == lattice::Gradient::unknown ? "" : "distance(" + std::to_string(distance) + ")");
    }
  });
}

TEST_P(Twins, Leader) {
  each("leader", [&](const Bench& bench, std::uint64_t seed, const std::vector<Cell>& list) {
    const auto other = twin<lattice::Leader>(GetParam(), list, seed);
    ASSERT_TRUE(other->run(1000).ok());
    for (std::uint32_t i = 0; i < list.size(); ++i)
      ASSERT_EQ(bench.facts(i), "leader(" + std::to_string(other->state<lattice::Leader>(i)->number) + ")");
  });
}

// The same parents and sizes, in the same number of messages: the twin is followed tick by tick.
TEST_P(Twins, SpanningTree) {
  each("tree", [&](const Bench& bench, std::uint64_t seed, const std::vector<Cell>& list) {
    const auto other = twin<lattice::SpanningTree>(GetParam(), list, seed, &lattice::SpanningTree::root);
    ASSERT_TRUE(other->run(1000).ok());
    ASSERT_EQ(bench.world.traffic().delivered, other->traffic().delivered);
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      const auto& state = *other->state<lattice::SpanningTree>(i);
      const std::uint32_t parent = state.parent < 0 ? i : other->ensemble().around(i).at(state.parent);
      ASSERT_EQ(bench.facts(i),
                !state.reached ? "free()"
                               : "parent(@" + std::to_string(parent) + ") subtree(" + std::to_string(state.size) + ")");
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Lattices, Twins,
                         testing::Values(lattice::Kind::square, lattice::Kind::hex, lattice::Kind::cubic,
                                         lattice::Kind::bcc, lattice::Kind::fcc));

// The same cells in every tick.
TEST(MeldMotion, AHeapBecomesALineLikeItsTwin) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::vector<Cell> list;
    for (std::int32_t x = 0; x < 8; ++x) list.push_back({x, 0, 0});
    RandomStream random(seed, 0, "heap");
    for (std::int32_t x = 0; x < 7; ++x)
      if (random.chance(0.6)) list.push_back({x, 1, 0});
    Bench bench(own("line"), lattice::Kind::hex, {}, seed);
    ASSERT_TRUE(bench.world.add(list).ok());
    bench.start();
    const auto other = twin<lattice::Line>(lattice::Kind::hex, list, seed);
    for (std::uint32_t i = 0; i < 8; ++i) other->state<lattice::Line>(i)->anchored = true;
    for (int tick = 0; tick < 1000; ++tick) {
      ASSERT_EQ(bench.run(1), "");
      ASSERT_TRUE(other->tick().ok());
      for (std::uint32_t i = 0; i < list.size(); ++i)
        ASSERT_EQ(bench.world.ensemble().cell(i), other->ensemble().cell(i)) << "seed " << seed << " tick " << tick;
    }
    for (std::uint32_t i = 0; i < list.size(); ++i) EXPECT_EQ(bench.world.ensemble().cell(i).y, 0) << "seed " << seed;
  }
}

// Where catom 0 is after it has moved by each of these heads, one after the other, on a box of others.
Cell place_after(lattice::Kind kind, const lattice::MotionOptions& motion, const std::vector<Cell>& cells,
                 const std::vector<std::string>& heads) {
  std::string program =
      "type linear go(node, int). node2int(A) < 1 -o go(A, 0)@+20ms.\nmoved(A) -o 1.\nblocked(A) -o 1.\n";
  for (std::size_t i = 0; i < heads.size(); ++i)
    program += fmt::format("go(A, {}) -o {}, go(A, {})@+200ms.\n", i, heads[i], i + 1);
  Bench bench(program, kind, MachineOptions{}, 1, 1, motion);
  EXPECT_TRUE(bench.world.add(cells).ok());
  bench.start();
  EXPECT_EQ(bench.run(100), "") << program;
  return bench.world.ensemble().cell(0);
}

// Interfaces of cubes: bottom 0, back, right, front, left, top 5; of squares: north 0, east, south, west.
TEST(MeldMotion, CubesAndSquaresSlideAndPivot) {
  const std::vector<Cell> row = {{0, 0, 1}, {0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  for (const auto model : {lattice::MotionModel::slide, lattice::MotionModel::pivot}) {
    const lattice::MotionOptions motion{.model = model, .ticks = 2};
    const auto right = [&](std::size_t steps) {
      return place_after(lattice::Kind::cubic, motion, row, std::vector<std::string>(steps, "!slide(A, 0, 2)"));
    };
    // Which way is right is the table's own matter: it goes along the row, and in the end around it.
    const Cell once = right(1), end = right(2);
    EXPECT_EQ(once, (Cell{1, 0, 1})) << name(model);
    EXPECT_EQ(end, (Cell{2, 0, 1})) << name(model);
    EXPECT_EQ(right(3), (Cell{3, 0, 0})) << name(model);
    // Against a wall, along nothing, or along itself: it stays.
    EXPECT_EQ(place_after(lattice::Kind::cubic, motion, row, {"!slide(A, 5, 2)"}), row[0]);
  }
  const std::vector<Cell> flat = {{0, 1, 0}, {0, 0, 0}, {1, 0, 0}};
  EXPECT_EQ(place_after(lattice::Kind::square, {}, flat, {"!slide(A, 2, 1)"}), (Cell{1, 1, 0}));
  EXPECT_EQ(place_after(lattice::Kind::square, {}, flat, {"!slide(A, 2, 1)", "!slide(A, 2, 1)"}), (Cell{2, 0, 0}));
}

// By rotate() a catom gets to every place beside a single neighbour that a motion leads to, and to no other.
TEST(MeldMotion, CatomsInSpaceRotateBetweenConnectors) {
  for (const auto kind : {lattice::Kind::fcc, lattice::Kind::bcc}) {
    const lattice::Lattice lattice(kind);
    const lattice::MotionTable table(lattice, lattice::MotionModel::roll);
    for (int port = 0; port < lattice.ports(); ++port) {
      const Cell own{4, 4, 4}, pivot = lattice.neighbor(own, port);
      int reached = 0;
      for (int interface = 0; interface < lattice.ports(); ++interface)
        for (int to = 0; to < lattice.ports(); ++to) {
          std::string program = fmt::format(
              "node2int(A) < 1, !neighbor(A, B, {}) -o !rotate(A, {}, {}).\nmoved(A) -o 1.\nblocked(A) -o 1.\n",
              interface, interface, to);
          Bench bench(program, kind);
          ASSERT_TRUE(bench.world.add(std::vector<Cell>{own, pivot}).ok());
          bench.start();
          const std::string said = bench.run(20);
          const Cell now = bench.world.ensemble().cell(0);
          if (now == own) continue;
          EXPECT_EQ(said, "");
          EXPECT_NEAR(length(lattice.position(now) - lattice.position(pivot)), lattice.pitch(), 1e-9);
          ++reached;
        }
      int motions = 0;
      for (int i = 0; i < table.size(); ++i) motions += table[i].pivot == port ? 1 : 0;
      EXPECT_EQ(reached, motions) << port;
    }
  }
}

TEST(MeldMotion, AMotionThatTheLatticeDoesNotHaveIsNamed) {
  const auto said = [](const std::string& head, lattice::Kind kind) {
    Bench bench(fmt::format("node2int(A) < 1, !neighbor(A, B, P) -o {}.\n", head), kind);
    bench.box(2);
    bench.start();
    return bench.run(5);
  };
  EXPECT_NE(said("!slide(A, P, 0)", lattice::Kind::hex).find("motion=slide"), std::string::npos);
  EXPECT_NE(said("!slide(A, P, 9)", lattice::Kind::cubic).find("slide to port"), std::string::npos);
  EXPECT_NE(said("!slide(A, P, P)", lattice::Kind::cubic).find("not across"), std::string::npos);
  EXPECT_NE(said("!rotate(A, P, P)", lattice::Kind::fcc).find("no motion=roll"), std::string::npos);
}

// A roll of ten ticks has an end after ten; one that is wished on the way is blocked at once.
TEST(MeldMotion, ARollOfSeveralTicksIsToldWhenItEnds) {
  const std::string program =
      "type linear go(node). type linear again(node). type linear done(node). type linear stuck(node).\n"
      "node2int(A) < 1 -o go(A)@+20ms.\n"
      "go(A) -o !roll(A, 0, 0), again(A)@+50ms.\n"
      "again(A) -o !roll(A, 0, 0).\n"
      "moved(A) -o done(A).\n"
      "blocked(A) -o stuck(A).\n";
  const lattice::MotionOptions slow{.ticks = 10};
  auto bench = std::make_unique<Bench>(program, lattice::Kind::hex, MachineOptions{}, 1, 1, slow);
  bench->box(2);
  bench->start();
  int began = -1, stuck = -1, done = -1;
  for (int tick = 0; tick < 40; ++tick) {
    ASSERT_EQ(bench->run(1), "");
    const auto& world = bench->world;
    if (began < 0 && !world.under_way().empty()) began = tick;
    if (stuck < 0 && bench->has(0, "stuck()")) stuck = tick;
    if (done < 0 && bench->has(0, "done()")) done = tick;
    EXPECT_EQ(bench->has(0, "done()") && world.ensemble().cell(0) == (Cell{0, 0, 0}), false) << tick;
    if (tick == began + 5) {  // on the way
      auto restored = std::make_unique<Bench>(program, lattice::Kind::hex, MachineOptions{}, 1, 1, slow);
      SaveArchive save;
      bench->world.archive(save);
      LoadArchive load(save.bytes());
      restored->world.archive(load);
      ASSERT_TRUE(load.ok()) << load.failure();
      EXPECT_EQ(restored->world.hash(), bench->world.hash());
      bench = std::move(restored);
    }
  }
  ASSERT_GE(began, 0);
  EXPECT_EQ(done, began + 10);
  EXPECT_GT(stuck, began);
  EXPECT_LT(stuck, done);
  EXPECT_TRUE(bench->world.idle());
  EXPECT_EQ(bench->facts(0), "done() stuck()");
}

// Catoms are added, removed and moved at random: once all is quiet, the facts are those of a world that began so.
class Changes : public testing::TestWithParam<const char*> {};
TEST_P(Changes, FactsAreThoseOfAFreshWorld) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RandomStream random(seed, 0, "changes");
    Bench bench(own(GetParam()), lattice::Kind::square, {}, seed);
    bench.box(4, 4);
    bench.start();
    for (int change = 0; change < 12; ++change) {
      ASSERT_EQ(bench.run(static_cast<std::int64_t>(random.bits() % 6)), "");
      const auto& ensemble = bench.world.ensemble();
      const auto catom = static_cast<std::uint32_t>(1 + random.bits() % (ensemble.count() - 1));
      const Cell to{static_cast<std::int32_t>(random.bits() % 5), static_cast<std::int32_t>(random.bits() % 5), 0};
      const bool free = ensemble.at(to) == lattice::nobody;
      if (!ensemble.has(catom)) {
        if (!free) continue;
        ASSERT_TRUE(bench.world.add(std::span(&to, 1)).ok());
      } else if (random.chance(0.5)) {
        ASSERT_TRUE(bench.world.remove(catom).ok());
      } else if (free) {
        ASSERT_TRUE(bench.world.move(catom, to).ok());
      }
    }
    ASSERT_EQ(bench.run(20'000), "");
    ASSERT_TRUE(bench.world.idle());
    // Catoms keep their numbers: those that are gone are far away in the fresh world.
    Bench fresh(own(GetParam()), lattice::Kind::square, {}, seed);
    std::vector<Cell> list;
    const auto& ensemble = bench.world.ensemble();
    for (std::uint32_t i = 0; i < ensemble.count(); ++i)
      list.push_back(ensemble.has(i) ? ensemble.cell(i) : Cell{1000 + 3 * static_cast<std::int32_t>(i), 1000, 0});
    ASSERT_TRUE(fresh.world.add(list).ok());
    fresh.start();
    ASSERT_EQ(fresh.run(), "");
    for (std::uint32_t i = 0; i < ensemble.count(); ++i)
      ASSERT_EQ(bench.facts(i), ensemble.has(i) ? fresh.facts(i) : "") << "seed " << seed << " catom " << i;
  }
}
INSTANTIATE_TEST_SUITE_P(Programs, Changes, testing::Values("gradient", "leader"));

TEST(MeldMachine, ABodyAtTwoNodesIsLocalized) {
  Bench bench(
      "type near(node, int). type end(node). type route neighbor(node, node, int)."
      "!neighborCount(A, 1) -o !end(A). !neighbor(A, B, P), !end(B) -o !near(A, P).",
      lattice::Kind::square);
  bench.box(4);
  bench.start();
  EXPECT_EQ(bench.run(), "");
  EXPECT_EQ(bench.facts(0), "end()");
  EXPECT_EQ(bench.facts(1), "near(3)");  // in the west
  EXPECT_EQ(bench.facts(2), "near(1)");
  ASSERT_TRUE(bench.world.remove(0u).ok());
  EXPECT_EQ(bench.run(), "");
  EXPECT_EQ(bench.facts(1), "end()");
  EXPECT_EQ(bench.facts(2), "near(1) near(3)");
}

TEST(MeldMachine, CountsFollowNeighbors) {
  Bench bench("type n(node, count int). type one(node). !neighbor(A, B, _) -o !n(A, 1). !n(A, 1) -o !one(A).",
              lattice::Kind::square);
  bench.box(3);
  bench.start();
  EXPECT_EQ(bench.run(), "");
  EXPECT_EQ(bench.facts(1), "n(2)");
  ASSERT_TRUE(bench.world.remove(2u).ok());
  EXPECT_EQ(bench.run(), "");
  EXPECT_EQ(bench.facts(1), "n(1) one()");
}

TEST(MeldMachine, DelaysAndTaps) {
  MachineOptions options;
  options.tick = {1, 10};
  Bench bench(
      "type linear a(node, int). type linear tap(node). a(X, 0). a(X, N), N < 3 -o a(X, N + 1)@+500ms. tap(X) -o a(X, "
      "7).",
      lattice::Kind::cubic, options);
  bench.box(1);
  bench.start();
  std::string seen_facts;
  for (int tick = 0; tick < 12; ++tick) {
    ASSERT_EQ(bench.run(1), "");
    seen_facts += bench.facts(0).empty() ? '.' : bench.facts(0)[2];
  }
  EXPECT_EQ(seen_facts, "............");  // it is used up at once, and comes back at 0.5, 1.0 and 1.5 s
  EXPECT_EQ(bench.run(100), "");
  EXPECT_EQ(bench.facts(0), "a(3)");
  EXPECT_EQ(bench.world.ticks(), 16);
  bench.modules->tap(bench.world, 0u);
  EXPECT_EQ(bench.run(100), "");
  EXPECT_EQ(bench.facts(0), "a(3) a(7)");
}

TEST(MeldMachine, Colors) {
  Bench bench("setColor2(A, 5). tap(A) -o setColor(A, 255, 128, 300).");
  bench.box(2);
  bench.start();
  EXPECT_EQ(bench.run(), "");
  EXPECT_EQ(bench.modules->color(1), 0x0000ffu);
  bench.modules->tap(bench.world, 1u);
  EXPECT_EQ(bench.run(), "");
  EXPECT_EQ(bench.modules->color(1), 0xff80ffu);
  EXPECT_EQ(bench.modules->color(0), 0x0000ffu);
}

TEST(MeldMachine, TheSameHashAtAnyNumberOfThreadsAndAfterASnapshot) {
  for (const char* program : {"gradient", "leader", "tree"}) {
    std::uint64_t hash = 0;
    for (const int threads : {1, 2, 5}) {
      Bench bench(own(program), lattice::Kind::cubic, {}, 3, threads);
      bench.box(12, 12, 12);
      bench.start();
      ASSERT_EQ(bench.run(), "");
      if (threads == 1) hash = bench.world.hash();
      EXPECT_EQ(bench.world.hash(), hash) << program << " " << threads;
    }
    Bench first(own(program), lattice::Kind::cubic, {}, 3), second(own(program), lattice::Kind::cubic, {}, 3);
    first.box(12, 12, 12);
    first.start();
    ASSERT_EQ(first.run(9), "");
    SaveArchive save;
    first.world.archive(save);
    LoadArchive load(save.bytes());
    second.world.archive(load);
    ASSERT_TRUE(load.ok()) << program;
    EXPECT_EQ(second.world.hash(), first.world.hash());
    ASSERT_EQ(second.run(), "");
    EXPECT_EQ(second.world.hash(), hash) << program;
  }
}

TEST(MeldMachine, DelayedFactsAndWakesAreInTheSnapshot) {
  const std::string text =
      "type linear a(node, int). a(X, 0). a(X, N), N < 9 -o a(X, N + 1)@+100ms, !setColor2(X, N)."
      "type b(node, max int). !vacant(X, P) -o !b(X, P). !neighbor(X, Y, P) -o !b(Y, P).";
  Bench first(text), second(text);
  first.box(3);
  first.start();
  SaveArchive early;
  first.world.archive(early);
  ASSERT_EQ(first.run(9), "");
  SaveArchive save;
  first.world.archive(save);
  ASSERT_EQ(first.run(500), "");
  for (const SaveArchive* from : {&save, &early}) {
    LoadArchive load(from->bytes());
    second.world.archive(load);
    ASSERT_TRUE(load.ok());
    ASSERT_EQ(second.run(500), "");
    EXPECT_EQ(second.world.hash(), first.world.hash());
  }
  // Another program, and damaged bytes.
  Bench other("type linear a(node, int). a(X, 1).");
  LoadArchive load(save.bytes());
  other.world.archive(load);
  EXPECT_FALSE(load.ok());
  for (std::size_t at = 0; at < save.bytes().size(); ++at) {
    auto bytes = save.bytes();
    bytes[at] ^= std::byte{0x5a};
    Bench damaged(text);
    LoadArchive ar(bytes);
    damaged.world.archive(ar);
    if (ar.ok()) (void)damaged.run(3);
  }
}

TEST(MeldMachine, FactsForCatomsThatAreNoNeighborsAreCounted) {
  const std::string text = "type linear a(node, node). a(@0, @2). a(X, Y), X <> Y -o a(Y, Y).";
  Bench near(text);
  near.box(3);
  near.start();
  EXPECT_EQ(near.run(), "");
  EXPECT_EQ(near.modules->lost(), 1u);
  MachineOptions options;
  options.reach_all = true;
  Bench all(text, lattice::Kind::cubic, options);
  all.box(3);
  all.start();
  EXPECT_EQ(all.run(), "");
  EXPECT_EQ(all.facts(2), "a(@2)");
}

TEST(MeldScene, TheTreeIsRight) {
  const auto one = run_scene(1000, 1, 1), two = run_scene(1000, 2, 1);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->state_hash, two->state_hash);
  EXPECT_TRUE(run_scene(1234, 1, 1).ok());
}

}  // namespace
}  // namespace volvox::meld
