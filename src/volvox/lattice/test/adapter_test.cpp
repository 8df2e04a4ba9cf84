// Adapters, mailboxes and code modules: DPRSim's steps 1 to 5, and what bad programs get.
#include <gtest/gtest.h>

#include <set>

#include "volvox/lattice/catom_world.h"
#include "volvox/lattice/programs/flood.h"
#include "volvox/lattice/programs/gradient.h"
#include "volvox/net/network.h"

namespace volvox::lattice {
namespace {

struct Parcel {
  static constexpr std::size_t largest = 500;
  std::string text;
};
VOLVOX_TYPE(Parcel, text)

// Sends what it is told, one entry a tick, and notes when parcels arrive.
struct Sender {
  std::vector<std::vector<std::uint32_t>> plan;  // by tick: sizes of contents, at port 0
  std::vector<std::pair<std::int64_t, std::uint32_t>> arrived;
  void new_tick(Catom& catom) {
    if (catom.tick() >= std::ssize(plan)) return;
    for (const std::uint32_t size : plan[catom.tick()]) catom.send(0, Parcel{std::string(size - 8, 'x')});
  }
  void heard(Catom& catom, int, const Parcel& parcel) {
    arrived.push_back({catom.tick(), narrow<std::uint32_t>(parcel.text.size() + 8)});
  }
  static void mailboxes(Mailboxes<Sender>& boxes) { boxes.link<&Sender::heard>(0); }
};
VOLVOX_TYPE(Sender, plan, arrived)

struct Arrivals : net::Listener {
  void received(net::Network&, const net::Reception& r) override {
    list.push_back({tick, narrow<std::uint32_t>(r.payload.size())});
  }
  std::int64_t tick = 0;
  std::vector<std::pair<std::int64_t, std::uint32_t>> list;
};

// The adapters are the network's wires with delayed timing: both deliver the same messages in the same ticks.
TEST(Adapter, DeliversAsWiresWithDelayedTimingDo) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    RandomStream random(seed, 0, "test");
    const std::uint32_t capacity = 1 + narrow<std::uint32_t>(random.below(60));
    std::vector<std::vector<std::uint32_t>> plan(20);
    for (auto& sizes : plan)
      for (std::uint64_t i = random.below(4); i > 0; --i)
        sizes.push_back(8 + narrow<std::uint32_t>(random.below(random.chance(0.1) ? 400 : 30)));
    constexpr int ticks = 400;

    CatomWorld world(Lattice(Kind::square), {.capacity = capacity});
    ASSERT_TRUE(world.load<Sender>().ok());
    ASSERT_TRUE(world.add_box({0, 0, 0}, {1, 0, 0}).ok());
    world.state<Sender>(0)->plan = plan;
    ASSERT_TRUE(world.start().ok());
    for (int t = 0; t < ticks; ++t) ASSERT_TRUE(world.tick().ok());

    net::Network network;
    Arrivals arrivals;
    network.set_listener(&arrivals);
    const net::WireOptions wire{.timing = net::Timing::delayed, .capacity = capacity};
    const auto a = network.add_wire(network.add_node(), wire), b = network.add_wire(network.add_node(), wire);
    ASSERT_TRUE(network.plug(*a, *b).ok());
    for (int t = 0; t < ticks; ++t) {
      arrivals.tick = t;
      network.begin_tick();
      if (t < std::ssize(plan))
        for (const std::uint32_t size : plan[t]) {
          const std::vector<std::byte> bytes(size);
          ASSERT_TRUE(network.send(*a, {.payload = bytes}).ok());
        }
      ASSERT_TRUE(network.run(network.now() + Time::seconds(1.0)).ok());
    }
    EXPECT_EQ(world.state<Sender>(1)->arrived, arrivals.list) << "seed " << seed << ", capacity " << capacity;
    EXPECT_GT(arrivals.list.size(), 0u);
  }
}

TEST(Adapter, WhatWaitsIsLostWithItsNeighbour) {
  for (const bool replaced : {false, true}) {
    CatomWorld world(Lattice(Kind::square), {.capacity = 4});
    ASSERT_TRUE(world.load<Sender>().ok());
    ASSERT_TRUE(world.add_box({0, 0, 0}, {1, 0, 0}).ok());
    ASSERT_TRUE(world.add(std::vector{Cell{1, 1, 0}}).ok());
    world.state<Sender>(0)->plan = {{20, 20}};
    ASSERT_TRUE(world.start().ok());
    for (int t = 0; t < 6; ++t) ASSERT_TRUE(world.tick().ok());  // the first 20 bytes were sent in 5 ticks
    EXPECT_EQ(world.traffic().delivered, 1u);
    ASSERT_TRUE(world.remove(1).ok());
    if (replaced) {
      ASSERT_TRUE(world.move(2, {1, 0, 0}).ok());
    }
    for (int t = 0; t < 20; ++t) ASSERT_TRUE(world.tick().ok());
    EXPECT_EQ(world.traffic().lost, 1u);
    EXPECT_EQ(world.traffic().delivered, 1u);
  }
}

// Who sends in the tick of the exchange does not hand the messages of the one that went to the one that came.
TEST(Adapter, WhatWaitedIsNotReadByTheNextInThatPlace) {
  CatomWorld world(Lattice(Kind::square), {.capacity = 4});
  ASSERT_TRUE(world.load<Sender>().ok());
  ASSERT_TRUE(world.add_box({0, 0, 0}, {1, 0, 0}).ok());
  ASSERT_TRUE(world.add(std::vector{Cell{1, 1, 0}}).ok());
  world.state<Sender>(0)->plan = {{20, 20}, {}, {}, {}, {}, {}, {12}};
  ASSERT_TRUE(world.start().ok());
  for (int t = 0; t < 6; ++t) ASSERT_TRUE(world.tick().ok());
  ASSERT_TRUE(world.remove(1).ok());
  ASSERT_TRUE(world.move(2, {1, 0, 0}).ok());
  for (int t = 0; t < 20; ++t) ASSERT_TRUE(world.tick().ok());
  EXPECT_EQ(world.state<Sender>(2)->arrived, (std::vector<std::pair<std::int64_t, std::uint32_t>>{{9, 12}}));
  EXPECT_EQ(world.traffic().lost, 1u);
}

TEST(Adapter, ACapacityOfNothingIsRefused) {
  CatomWorld world(Lattice(Kind::square), {.capacity = 0});
  ASSERT_TRUE(world.load<Gradient>().ok());
  const auto started = world.start();
  ASSERT_FALSE(started.ok());
  EXPECT_NE(started.error().text().find("capacity of 0 bytes"), std::string::npos);
}

// The order of the steps, as a word.
struct Token {
  std::uint8_t from = 0;
};
VOLVOX_TYPE(Token, from)
struct Log {
  std::string word;
  void start(Catom& catom) {
    word += 's';
    catom.broadcast(Token{});
  }
  void new_tick(Catom&) { word += 'n'; }
  void heard(Catom& catom, int, const Token&) {
    word += 'h';
    if (catom.tick() < 3) catom.broadcast(Token{});
  }
  void end_tick(Catom&) { word += 'e'; }
  static void mailboxes(Mailboxes<Log>& boxes) { boxes.link<&Log::heard>(0); }
};
VOLVOX_TYPE(Log, word)
// Another code module of the same catom, on the same mailbox, that acts on messages only.
struct Listener {
  std::string word;
  void heard(Catom&, int, const Token&) { word += 'h'; }
  void end_tick(Catom&) { word += 'e'; }
  static void mailboxes(Mailboxes<Listener>& boxes) { boxes.link<&Listener::heard>(0); }
};
VOLVOX_TYPE(Listener, word)

TEST(CodeModule, IsCalledInTheOrderOfFigure3) {
  for (const bool active : {true, false}) {
    CatomWorld world(Lattice(Kind::hex), {.active_sets = active});
    ASSERT_TRUE(world.load<Log>().ok());
    ASSERT_TRUE(world.load<Listener>().ok());
    ASSERT_TRUE(world.add_box({0, 0, 0}, {1, 0, 0}).ok());
    ASSERT_TRUE(world.start().ok());
    for (int t = 0; t < 5; ++t) ASSERT_TRUE(world.tick().ok());
    // Sent at the start, in tick 0; read in tick 1, answered at once, read in tick 2, and so on.
    EXPECT_EQ(world.state<Log>(0)->word,
              "sne"
              "nhe"
              "nhe"
              "nhe"
              "ne");
    EXPECT_EQ(world.state<Listener>(0)->word,
              "he"
              "he"
              "he");
    // One that comes later is started when it comes.
    ASSERT_TRUE(world.add(std::vector{Cell{2, 0, 0}}).ok());
    for (int t = 0; t < 3; ++t) ASSERT_TRUE(world.tick().ok());
    EXPECT_EQ(world.state<Log>(2)->word,
              "sne"
              "ne"
              "ne");
    EXPECT_EQ(world.state<Log>(1)->word,
              "sne"
              "nhe"
              "nhe"
              "nhe"
              "ne"
              "ne"
              "nhe"
              "ne");
  }
}

// Counts to a number, then rests until a message makes it count again.
struct Counter {
  std::uint32_t left = 0, ticks = 0, ends = 0;
  bool rests() const { return left == 0; }
  void new_tick(Catom& catom) {
    ++ticks;
    if (--left == 0) catom.broadcast(Token{}, 5);
  }
  void heard(Catom&, int, const Token&) { left = 2; }
  void end_tick(Catom&) { ++ends; }
  static void mailboxes(Mailboxes<Counter>& boxes) { boxes.link<&Counter::heard>(5); }
};
VOLVOX_TYPE(Counter, left, ticks, ends)

TEST(CodeModule, ThatRestsActsOnMessagesOnly) {
  std::set<std::uint64_t> hashes;
  for (const bool active : {true, false}) {
    CatomWorld world(Lattice(Kind::square), {.active_sets = active});
    ASSERT_TRUE(world.load<Counter>().ok());
    ASSERT_TRUE(world.add_box({0, 0, 0}, {2, 0, 0}).ok());
    world.state<Counter>(0)->left = 3;
    ASSERT_TRUE(world.start().ok());
    ASSERT_TRUE(world.tick().ok());
    EXPECT_EQ(world.processed(), active ? 1u : 3u);
    for (int t = 1; t < 4; ++t) ASSERT_TRUE(world.tick().ok());
    // It ticked in 0, 1 and 2, and told the next, who heard it in tick 3.
    EXPECT_EQ(world.state<Counter>(0)->ticks, 3u);
    EXPECT_EQ(world.state<Counter>(0)->ends, 3u);
    EXPECT_EQ(world.state<Counter>(1)->ticks, 0u);
    EXPECT_EQ(world.state<Counter>(1)->ends, 1u);
    EXPECT_EQ(world.state<Counter>(1)->left, 2u);
    EXPECT_FALSE(world.idle());
    for (int t = 4; t < 12; ++t) ASSERT_TRUE(world.tick().ok());
    ASSERT_TRUE(world.remove(0).ok());
    ASSERT_TRUE(world.remove(2).ok());
    ASSERT_TRUE(world.run(100).ok());
    EXPECT_TRUE(world.idle());
    hashes.insert(world.hash());
  }
  EXPECT_EQ(hashes.size(), 1u);
}

template <class Program>
std::string failure_of(const Program& prototype = {}, const WorldOptions& options = {}, int threads = 1) {
  ThreadPool pool(threads);
  CatomWorld world(Lattice(Kind::cubic), options, &pool);
  EXPECT_TRUE(world.load(prototype).ok());
  EXPECT_TRUE(world.add_box({0, 0, 0}, {9, 9, 9}).ok());
  EXPECT_TRUE(world.start().ok());
  for (int t = 0; t < 10; ++t)
    if (const auto done = world.tick(); !done.ok()) {
      EXPECT_FALSE(world.tick().ok());  // it stays ended
      return done.error().text();
    }
  return "";
}

struct Endless {
  std::uint32_t calls = 0;
  void new_tick(Catom& catom) {
    if (catom.id() < 700) return;
    while (catom.has_neighbor(0) || true) ++calls;
  }
};
VOLVOX_TYPE(Endless, calls)
struct Babbler {
  std::uint32_t calls = 0;
  void new_tick(Catom& catom) {
    for (;;) catom.broadcast(Token{}, 3);
  }
};
VOLVOX_TYPE(Babbler, calls)
struct Obstinate {
  std::uint32_t calls = 0;
  void new_tick(Catom& catom) {
    for (int i = 0; i < 100; ++i) try {
        for (;;) (void)catom.random();
      } catch (const std::exception&) {}
    throw 3;
  }
};
VOLVOX_TYPE(Obstinate, calls)
struct Waiter {
  std::uint32_t calls = 0;
  void new_tick(Catom& catom) {
    while (catom.key() != 0 && catom.tick() == 0 && catom.ports() > 0 && catom.id() < 2000) ++calls;
  }
};
VOLVOX_TYPE(Waiter, calls)
struct TooLong {
  std::uint32_t calls = 0;
  void new_tick(Catom& catom) {
    if (catom.tick() == 2) catom.send(0, Parcel{std::string(493, 'x')});
  }
};
VOLVOX_TYPE(TooLong, calls)
struct WrongPort {
  std::uint32_t calls = 0;
  void new_tick(Catom& catom) { catom.send(6, Token{}); }
};
VOLVOX_TYPE(WrongPort, calls)
struct WrongType {
  std::uint32_t calls = 0;
  void new_tick(Catom& catom) { catom.send(0, Wave{}, 4); }
  void heard(Catom&, int, const Token&) {}
  static void mailboxes(Mailboxes<WrongType>& boxes) { boxes.link<&WrongType::heard>(4); }
};
VOLVOX_TYPE(WrongType, calls)

TEST(CodeModule, ThatNeverStopsIsEndedAndNamed) {
  for (const int threads : {1, 2, 4})
    EXPECT_NE(failure_of<Endless>({}, {}, threads)
                  .find("tick 0: catom 700 at (0, 0, 7), code module Endless: it does not stop: more than 100000 steps "
                        "in one tick"),
              std::string::npos);
  EXPECT_NE(failure_of<Babbler>({}, {.most_steps = 500}).find("catom 0 at (0, 0, 0), code module Babbler"),
            std::string::npos);
  EXPECT_NE(failure_of<Babbler>({}, {.capacity = 1, .most_waiting = 50}).find("50 messages wait"), std::string::npos);
  EXPECT_NE(failure_of<Obstinate>().find("no exception"), std::string::npos);
  EXPECT_NE(failure_of<Waiter>().find("code module Waiter: it does not stop"), std::string::npos);
}

TEST(CodeModule, WithABadMessageIsNamed) {
  EXPECT_NE(failure_of<TooLong>().find("tick 2: catom 0 at (0, 0, 0), code module TooLong: its message of type Parcel "
                                       "has 501 bytes; the type allows at most 500"),
            std::string::npos);
  EXPECT_NE(failure_of<WrongPort>().find("port 6, but has the ports 0 to 5"), std::string::npos);
  EXPECT_NE(failure_of<WrongType>().find("a message of type Wave to mailbox 4, which is for messages of type Token"),
            std::string::npos);
}

struct Rival {
  std::uint32_t calls = 0;
  void heard(Catom&, int, const Token&) {}
  static void mailboxes(Mailboxes<Rival>& boxes) { boxes.link<&Rival::heard>(0); }
};
VOLVOX_TYPE(Rival, calls)

TEST(CodeModule, ThatCannotBeLoadedIsRefused) {
  CatomWorld world{Lattice(Kind::cubic)};
  ASSERT_TRUE(world.load<Flood>().ok());
  EXPECT_FALSE(world.load<Flood>().ok());
  const auto rival = world.load<Rival>();
  ASSERT_FALSE(rival.ok());
  EXPECT_NE(rival.error().text().find("mailbox 0 to messages of type Token, but it is for messages of type Wave"),
            std::string::npos);
  EXPECT_FALSE(world.tick().ok());
  ASSERT_TRUE(world.start().ok());
  EXPECT_FALSE(world.start().ok());
  EXPECT_FALSE(world.load<Gradient>().ok());
  EXPECT_EQ(world.state<Gradient>(0), nullptr);
}

// Any byte of a snapshot may be wrong: it is refused, or the world that it gives can run.
TEST(CatomWorld, ADamagedSnapshotDoesNoHarm) {
  const auto make = [] {
    auto world = std::make_unique<CatomWorld>(Lattice(Kind::hex), WorldOptions{.capacity = 3});
    EXPECT_TRUE(world->load<Flood>().ok());
    EXPECT_TRUE(world->load<Gradient>().ok());
    return world;
  };
  auto world = make();
  ASSERT_TRUE(world->add_box({0, 0, 0}, {4, 4, 0}).ok());
  world->state<Flood>(0)->source = world->state<Gradient>(12)->source = true;
  ASSERT_TRUE(world->start().ok());
  for (int t = 0; t < 4; ++t) ASSERT_TRUE(world->tick().ok());
  SaveArchive save;
  world->archive(save);
  int refused = 0;
  for (std::size_t byte = 0; byte < save.bytes().size(); ++byte) {
    std::vector<std::byte> bytes = save.bytes();
    bytes[byte] ^= std::byte{0x91};
    if (byte % 3 == 0) bytes.resize(byte);
    LoadArchive load(bytes);
    auto other = make();
    other->archive(load);
    refused += load.ok() ? 0 : 1;
    for (int t = 0; t < 5; ++t)
      if (const auto done = other->tick(); !done.ok()) break;
    (void)other->hash();
  }
  EXPECT_GT(refused, narrow<int>(save.bytes().size()) / 3);
}

}  // namespace
}  // namespace volvox::lattice
