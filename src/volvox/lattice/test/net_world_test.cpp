// Code modules over wires and radios, live: the same results as over ideal links, where delays do not matter.
#include "volvox/lattice/net_world.h"

#include <gtest/gtest.h>

#include "reference.h"
#include "volvox/lattice/programs/flood.h"
#include "volvox/lattice/programs/gradient.h"
#include "volvox/lattice/programs/spanning_tree.h"

namespace volvox::lattice {
namespace {

NetWorldOptions wired(std::uint64_t seed = 1, double bit_rate = 6000) {
  NetWorldOptions options{.seed = seed};
  options.wire = net::WireOptions{.bit_rate = bit_rate, .queue_limit = 64};
  return options;
}

struct NetCase {
  explicit NetCase(std::uint64_t seed) : random(seed, 0, "test"), lattice(all_kinds[seed % all_kinds.size()]) {
    cells = random_cells(lattice.kind(), random, lattice.flat() ? 10 : 4, random.uniform(0.4, 1));
    source = narrow<std::uint32_t>(random.below(cells.size()));
    expected = distances(lattice, cells, {source});
    part = part_of(lattice, cells, expected);
  }
  template <class Program>
  std::unique_ptr<NetWorld> run(const NetWorldOptions& options, bool Program::*begins) {
    auto world = std::make_unique<NetWorld>(lattice, options);
    EXPECT_TRUE(world->load<Program>().ok() && world->add(cells).ok());
    world->template state<Program>(source)->*begins = true;
    EXPECT_TRUE(world->start().ok());
    EXPECT_TRUE(world->run(100'000).ok());
    return world;
  }
  RandomStream random;
  Lattice lattice;
  std::vector<Cell> cells;
  std::uint32_t source = 0;
  std::vector<std::uint32_t> expected;
  Part part;
};

TEST(NetWorld, FloodsTreesAndDistancesOverWiresAreThoseOfIdealLinks) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    NetCase c(seed);
    const auto flood = c.run(wired(seed), &Flood::source);
    EXPECT_EQ(flood->network().counters().deliveries, 2 * c.part.links - (c.part.catoms - 1)) << seed;
    const auto gradient = c.run(wired(seed), &Gradient::source);
    const auto tree = c.run(wired(seed), &SpanningTree::root);
    EXPECT_EQ(tree->state<SpanningTree>(c.source)->size, c.part.catoms) << seed;
    for (std::uint32_t i = 0; i < c.cells.size(); ++i) {
      EXPECT_EQ(flood->state<Flood>(i)->hops, c.expected[i]) << seed;
      EXPECT_EQ(gradient->state<Gradient>(i)->distance, c.expected[i]) << seed;
    }
  }
}

// 4 bytes take 32 us at 1 Mbit/s: a line of 100 is crossed within the first tick of 1/60 s.
TEST(NetWorld, AWaveCrossesManyLinksWithinATick) {
  NetWorld line(Lattice(Kind::square), wired(1, 1e6));
  ASSERT_TRUE(line.load<Flood>().ok() && line.add_box({0, 0, 0}, {99, 0, 0}).ok());
  line.state<Flood>(0)->source = true;
  ASSERT_TRUE(line.start().ok() && line.tick().ok());
  EXPECT_EQ(line.state<Flood>(99)->hops, 99u);
  NetWorld slow(Lattice(Kind::square), wired(1, 6000));  // 5.3 ms
  ASSERT_TRUE(slow.load<Flood>().ok() && slow.add_box({0, 0, 0}, {99, 0, 0}).ok());
  slow.state<Flood>(0)->source = true;
  ASSERT_TRUE(slow.start().ok() && slow.tick().ok());
  EXPECT_EQ(slow.state<Flood>(3)->hops, 3u);
  EXPECT_EQ(slow.state<Flood>(4)->hops, Flood::unreached);
}

TEST(NetWorld, ByRadioItGoesFartherThanALinkAndSomeCollide) {
  NetWorldOptions options{.seed = 3};
  options.radio = radio_of_range(3.05, options.medium);
  NetWorld field(Lattice(Kind::square), options);
  ASSERT_TRUE(field.load<Flood>().ok() && field.add_box({0, 0, 0}, {19, 19, 0}).ok());
  field.state<Flood>(210)->source = true;
  ASSERT_TRUE(field.start().ok() && field.run(10'000).ok());
  int reached = 0;
  for (std::uint32_t i = 0; i < 400; ++i) {
    const Flood& state = *field.state<Flood>(i);
    if (state.hops == Flood::unreached) continue;
    ++reached;
    EXPECT_EQ(state.parent, no_port);
    EXPECT_LE(state.hops, 20u);
  }
  EXPECT_GT(reached, 300);
  EXPECT_EQ(field.state<Flood>(213)->hops, 1u);
  EXPECT_GT(field.network().counters().collisions, 0u);
}

TEST(NetWorld, GoesOnFromASnapshotWithTheSameHash) {
  NetCase c(7);
  const auto make = [&] {
    auto world = std::make_unique<NetWorld>(c.lattice, wired(7));
    EXPECT_TRUE(world->load<Gradient>().ok() && world->add(c.cells).ok());
    world->state<Gradient>(c.source)->source = true;
    EXPECT_TRUE(world->start().ok());
    return world;
  };
  const auto whole = make(), other = make();
  ASSERT_TRUE(whole->tick().ok());
  SaveArchive ar;
  whole->archive(ar);
  ASSERT_TRUE(whole->run(1000).ok());
  LoadArchive back(ar.bytes());
  other->archive(back);
  ASSERT_TRUE(back.ok()) << back.failure();
  ASSERT_TRUE(other->run(1000).ok());
  EXPECT_EQ(other->hash(), whole->hash());
}

struct Mistaken {
  bool moves = false;
  void new_tick(Catom& catom) { (void)catom.move(0); }
};
VOLVOX_TYPE(Mistaken, moves)

TEST(NetWorld, WhatOnlyALatticeHasIsRefusedByName) {
  NetWorld world(Lattice(Kind::hex), wired());
  ASSERT_TRUE(world.load<Mistaken>().ok() && world.add_box({0, 0, 0}, {2, 2, 0}).ok() && world.start().ok());
  const auto ended = world.tick();
  ASSERT_FALSE(ended.ok());
  EXPECT_NE(ended.error().text().find("catom 0 at (0, 0, 0), code module Mistaken: it asks for motions"),
            std::string::npos)
      << ended.error().text();
  NetWorld silent(Lattice(Kind::hex), NetWorldOptions{});
  ASSERT_TRUE(silent.load<Flood>().ok());
  EXPECT_NE(silent.start().error().text().find("neither wires nor radios"), std::string::npos);
}

}  // namespace
}  // namespace volvox::lattice
