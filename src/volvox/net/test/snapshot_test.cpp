// A network that is restored from a snapshot during a run continues exactly like the original.
#include <gtest/gtest.h>

#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/net/test/recorder.h"

namespace volvox::net {
namespace {

// Radios, wires (live, flying, delayed), a CAN bus and a serial bus, all busy.
template <class T>
void must(const Result<T>& result) {
  EXPECT_TRUE(result.ok());
}

struct Busy {
  Network network;
  Recorder recorder;
  std::vector<InterfaceId> radios, wires, can, serial;

  explicit Busy(std::uint64_t seed, double cull = 0) : network({.seed = seed}) {
    const MediumId air = *network.add_medium({.frequency_hz = 2.4e9, .cull_radius = cull});
    RadioOptions radio;
    radio.acknowledge = true;
    radio.window = 8;
    radio.largest_window = 64;
    radio.receive_threshold_w = 1e-9;
    radio.carrier_threshold_w = 2e-9;
    const BusId can_bus = *network.add_bus({.stuffing = BitStuffing::exact});
    const BusId serial_bus = *network.add_bus({.kind = BusKind::serial, .bit_rate = 100e3});
    for (int i = 0; i < 20; ++i) {
      const NodeId node = network.add_node();
      radios.push_back(*network.add_radio(node, air, radio, {1.5 * (i % 5), 1.5 * (i / 5), 0.1 * i}));
      WireOptions wire{.bit_rate = 9600, .delay = Time{i % 3 * 2'000'000}};
      if (i >= 12) wire.timing = Timing::delayed, wire.capacity = 7;
      wires.push_back(*network.add_wire(node, wire));
      can.push_back(*network.add_bus_port(node));
      serial.push_back(*network.add_bus_port(node));
      EXPECT_TRUE(network.join_bus(can.back(), can_bus));
      EXPECT_TRUE(network.join_bus(serial.back(), serial_bus, i == 0));
    }
    for (std::size_t i = 0; i < wires.size(); i += 2) EXPECT_TRUE(network.plug(wires[i], wires[i + 1]));
    recorder.on_receive = [](Network& n, const Reception& r) {
      if (r.payload.size() > 3)
        must(n.send(r.interface, {.payload = r.payload.first(3), .identifier = 900 + r.node.index}));
    };
    network.set_listener(&recorder);
  }

  // One tick of traffic, which depends only on the tick.
  void tick(int k) {
    RandomStream random(77, narrow<std::uint64_t>(k), "traffic");
    network.begin_tick();
    for (std::uint32_t i = 0; i < 20; ++i) {
      if (k % 5 == 4) must(network.move_radio(radios[i], {random.uniform(0, 9), random.uniform(0, 9), 0}));
      const auto payload = zeros(random.below(60));
      const InterfaceId to = random.chance(0.5) ? everyone : radios[random.below(20)];
      if (random.chance(0.3)) must(network.send(radios[i], {.payload = payload, .destination = to}));
      if (random.chance(0.3)) must(network.send(wires[i], {.payload = payload}));
      if (random.chance(0.1)) must(network.send(can[i], {.payload = payload, .identifier = 100 + i}));
      if (i > 0 && random.chance(0.1)) must(network.send(serial[i], {.payload = payload}));
      if (random.chance(0.1)) must(network.poll(serial[0], serial[random.below(20)]));
      if (random.chance(0.1))
        must(network.send(wires[i], {.payload = payload, .at = network.now() + Time{12'345'678}}));
      if (random.chance(0.05)) must(network.set_timer({i, 0}, network.now() + Time{23'456'789}, i));
    }
    if (k % 7 == 3) must(network.unplug(wires[4]));
    if (k % 7 == 6 && !network.peer(wires[4]).valid()) must(network.plug(wires[4], wires[5]));
    EXPECT_TRUE(network.run(Time{(k + 1) * std::int64_t{10'000'000}}));
  }
};

std::vector<std::byte> save(Network& network) {
  SaveArchive archive;
  network.archive(archive);
  return archive.take();
}

// A radio that comes after the first transmission does not change the unit of power of its channel, however strong it
// is. Neither may it in a network that was restored: the powers of the snapshot are in the old unit.
struct Joined {
  Network network{{.seed = 1}};
  MediumId air = *network.add_medium({.frequency_hz = 2.4e9});
  std::vector<InterfaceId> radios;

  void join(double power_w) {
    RadioOptions options;
    options.power_w = power_w;
    radios.push_back(*network.add_radio(network.add_node(), air, options, {real(radios.size()), 0, 0}));
  }
  void send(std::size_t from) { must(network.send(radios[from], {.payload = zeros(50)})); }
  // Until the second radio hears a frame.
  void run_until_on_air() {
    const double noise = network.heard_w(radios[1]);
    while (network.heard_w(radios[1]) == noise && network.now() < Time{1'000'000'000})
      EXPECT_TRUE(network.run(network.now() + Time{100'000}));
    EXPECT_GT(network.heard_w(radios[1]), noise);
  }
};

TEST(Snapshot, AStrongRadioThatJoinsLaterIsTheSameAfterwards) {
  Joined original;
  original.join(1e-3), original.join(1e-3);
  original.send(0);
  EXPECT_TRUE(original.network.run(Time{100'000'000}));
  original.join(10);
  const auto bytes = save(original.network);
  Joined copy;
  for (const double power_w : {1e-3, 1e-3, 10.0}) copy.join(power_w);
  LoadArchive load(bytes);
  copy.network.archive(load);
  ASSERT_TRUE(load.ok());
  for (Joined* each : {&original, &copy}) each->send(2), each->run_until_on_air();
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(original.network.heard_w(original.radios[i]), copy.network.heard_w(copy.radios[i])) << i;
  EXPECT_EQ(original.network.hash(), copy.network.hash());
}

TEST(Snapshot, AStrongRadioThatJoinsWhileFramesAreOnTheAir) {
  Joined original;
  original.join(1e-3), original.join(1e-3);
  original.send(0), original.run_until_on_air();
  const auto bytes = save(original.network);
  Joined copy;
  copy.join(1e-3), copy.join(1e-3);
  LoadArchive load(bytes);
  copy.network.archive(load);
  ASSERT_TRUE(load.ok());
  for (Joined* each : {&original, &copy}) {
    each->join(10), each->send(2);
    EXPECT_TRUE(each->network.run(Time{100'000'000}));
  }
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(original.network.heard_w(original.radios[i]), copy.network.heard_w(copy.radios[i])) << i;
  EXPECT_EQ(original.network.hash(), copy.network.hash());
}

TEST(Snapshot, RestoresInTheMiddleOfEverything) {
  for (const double cull : {0.0, 4.0}) {
    Busy original(5, cull);
    for (int k = 0; k < 60; ++k) {
      original.tick(k);
      if (k % 6 != 5) continue;
      const auto bytes = save(original.network);
      Busy copy(k % 2 == 0 ? 5 : 6, cull);  // with another seed, because the random streams come from the snapshot
      copy.tick(0), copy.tick(1);           // loading must replace this state
      LoadArchive load(bytes);
      copy.network.archive(load);
      ASSERT_EQ(load.failure(), "");
      EXPECT_EQ(copy.network.hash(), original.network.hash());
      EXPECT_EQ(save(copy.network), bytes);
      Busy straight(5, cull);
      LoadArchive again(bytes);
      straight.network.archive(again);
      copy.recorder.heard.clear();
      for (int later = k + 1; later < k + 8; ++later) copy.tick(later), straight.tick(later);
      EXPECT_EQ(copy.network.hash(), straight.network.hash());
    }
    // Compares the last copy with the original, which was never restored.
    Busy copy(5, cull);
    const auto bytes = save(original.network);
    LoadArchive load(bytes);
    copy.network.archive(load);
    copy.recorder.heard.clear();
    const std::size_t before = original.recorder.heard.size();
    for (int k = 60; k < 90; ++k) {
      original.tick(k), copy.tick(k);
      ASSERT_EQ(original.network.hash(), copy.network.hash()) << k;
    }
    ASSERT_EQ(original.recorder.heard.size() - before, copy.recorder.heard.size());
    for (std::size_t i = 0; i < copy.recorder.heard.size(); ++i) {
      EXPECT_EQ(original.recorder.heard[before + i].at, copy.recorder.heard[i].at);
      EXPECT_EQ(original.recorder.heard[before + i].interface, copy.recorder.heard[i].interface);
    }
    const Counters& counters = original.network.counters();
    EXPECT_GT(counters.deliveries, 100u);
    EXPECT_GT(counters.collisions, 10u);
    EXPECT_GT(counters.retries, 10u);
    EXPECT_GT(counters.unplugged, 0u);
  }
}

TEST(Snapshot, HashesTellStatesApart) {
  Busy a(5), b(5), c(6);
  for (int k = 0; k < 5; ++k) a.tick(k), b.tick(k), c.tick(k);
  EXPECT_EQ(a.network.hash(), b.network.hash());
  EXPECT_NE(a.network.hash(), c.network.hash());
}

TEST(Snapshot, ForeignAndDamagedOnesAreRefused) {
  Busy original(5);
  for (int k = 0; k < 10; ++k) original.tick(k);
  const auto bytes = save(original.network);
  {
    Network other;
    other.add_node();
    LoadArchive load(bytes);
    other.archive(load);
    EXPECT_FALSE(load.ok());
  }
  RandomStream random(1, 0, "damage");
  for (int i = 0; i < 300; ++i) {
    Busy copy(5);
    auto damaged = bytes;
    if (i % 2 == 0) damaged.resize(random.below(bytes.size()));
    else damaged[random.below(damaged.size())] ^= std::byte(1 + random.below(255));
    LoadArchive load(damaged);
    copy.network.archive(load);
    EXPECT_TRUE(i % 2 != 0 || !load.ok());
    EXPECT_TRUE(!load.ok() || copy.network.hash() == original.network.hash());
  }
}

}  // namespace
}  // namespace volvox::net
