#include <gtest/gtest.h>

#include "volvox/net/can_bits.h"
#include "volvox/net/test/recorder.h"

namespace volvox::net {
namespace {

struct Shared {
  Network network;
  Recorder recorder;
  BusId bus;
  std::vector<InterfaceId> ports;

  explicit Shared(const BusOptions& options, int members, bool with_master = false) {
    bus = *network.add_bus(options);
    network.set_listener(&recorder);
    for (int i = 0; i < members; ++i) {
      ports.push_back(*network.add_bus_port(network.add_node()));
      EXPECT_TRUE(network.join_bus(ports.back(), bus, with_master && i == 0));
    }
  }
};

TEST(Can, BitsOfAFrame) {
  EXPECT_EQ(can_frame_bits(1, zeros(8), BitStuffing::none) + interframe_space_bits, 111u);
  EXPECT_EQ(can_frame_bits(1, zeros(8), BitStuffing::worst) + interframe_space_bits, 135u);
  EXPECT_EQ(can_frame_bits(0x800, zeros(8), BitStuffing::none) + interframe_space_bits, 131u);
  // The exact number of bits lies between no stuffing and the worst case.
  for (std::uint32_t id = 0; id <= largest_standard_identifier; id += 37) {
    const auto data = std::vector<std::byte>(8, std::byte(id));
    const std::uint32_t exact = can_frame_bits(id, data, BitStuffing::exact);
    EXPECT_GE(exact, can_frame_bits(id, data, BitStuffing::none));
    EXPECT_LE(exact, can_frame_bits(id, data, BitStuffing::worst));
  }
  // Identifier 0, no data: SOF + 11 + RTR + IDE + r0 + 4 of DLC + 15 of CRC (0) are 34
  // dominant bits: a recessive one is stuffed in after every five.
  EXPECT_EQ(can_frame_bits(0, {}, BitStuffing::exact), 44u + 6u);
}

TEST(Can, EightBytesTakeTheirTime) {
  for (const auto& [rate, expected_ns] : {std::pair{125e3, 1'080'000}, {1e6, 135'000}}) {
    Shared can({.bit_rate = rate, .stuffing = BitStuffing::worst}, 2);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(can.network.send(can.ports[0], {.payload = zeros(8), .identifier = 5}));
    ASSERT_TRUE(can.network.run(Time::seconds(1)));
    ASSERT_EQ(can.recorder.heard.size(), 2u);
    EXPECT_EQ((can.recorder.heard[1].at - can.recorder.heard[0].at).ns, expected_ns);  // with the inter-frame space
  }
}

TEST(Can, TheLowestIdentifierWinsWhenTheBusFallsIdle) {
  Shared can({.bit_rate = 1e6}, 4);
  ASSERT_TRUE(can.network.send(can.ports[0], {.payload = bytes_of("first"), .identifier = 100}));
  ASSERT_TRUE(can.network.run(Time{1000}));  // on the bus: the next frames do not preempt it
  ASSERT_TRUE(can.network.send(can.ports[1], {.payload = bytes_of("low"), .identifier = 30}));
  ASSERT_TRUE(can.network.send(can.ports[2], {.payload = bytes_of("high"), .identifier = 20}));
  ASSERT_TRUE(can.network.run(Time::seconds(1)));
  ASSERT_EQ(can.recorder.heard.size(), 9u);  // three frames, three receivers each
  EXPECT_EQ(can.recorder.heard[0].text, "first");
  EXPECT_EQ(can.recorder.heard[3].text, "high");
  EXPECT_EQ(can.recorder.heard[6].text, "low");
}

TEST(Can, ExtendedIdentifiersLoseAgainstStandardOnesWithTheSameStart) {
  EXPECT_LT(can_priority(5), can_priority((5u << 18) | 1));
  EXPECT_LT(can_priority((5u << 18) | 1), can_priority(6));
  EXPECT_LT(can_priority((5u << 18) | 1), can_priority((5u << 18) | 2));
}

TEST(Can, FiftyThreeBytesAreSevenFramesThatOthersMayComeBetween) {
  Shared can({.bit_rate = 1e6}, 3);
  ASSERT_TRUE(can.network.send(can.ports[0], {.payload = zeros(53), .identifier = 100}));
  ASSERT_TRUE(can.network.send(can.ports[1], {.payload = bytes_of("urgent"), .identifier = 1, .at = Time{150'000}}));
  ASSERT_TRUE(can.network.run(Time::seconds(1)));
  EXPECT_EQ(can.network.counters().transmissions, 8u);
  ASSERT_EQ(can.recorder.heard.size(), 4u);
  EXPECT_EQ(can.recorder.heard[0].text, "urgent");
  EXPECT_EQ(can.recorder.heard[0].at.ns, 222'000 + 92'000);  // after the second segment
  EXPECT_EQ(can.recorder.heard[2].text.size(), 53u);
  EXPECT_EQ(can.recorder.heard[2].at.ns, (6 * 111 + 95 + 44 + 40) * 1000);
}

TEST(Can, EqualIdentifiersClash) {
  Shared can({.bit_rate = 1e6}, 3);
  ASSERT_TRUE(can.network.send(can.ports[0], {.payload = zeros(8), .identifier = 7}));
  ASSERT_TRUE(can.network.send(can.ports[1], {.payload = zeros(8), .identifier = 7}));
  ASSERT_TRUE(can.network.send(can.ports[2], {.payload = bytes_of("later"), .identifier = 9}));
  ASSERT_TRUE(can.network.run(Time::seconds(1)));
  EXPECT_EQ(can.network.counters().clashes, 2u);
  ASSERT_EQ(can.recorder.reports.size(), 2u);
  EXPECT_EQ(can.recorder.reports[0].fate, Fate::clashed);
  EXPECT_EQ(can.recorder.heard.size(), 2u);
}

TEST(Can, LeavingCutsTheFrame) {
  Shared can({.bit_rate = 1e6}, 3);
  ASSERT_TRUE(can.network.send(can.ports[0], {.payload = zeros(8), .identifier = 7}));
  ASSERT_TRUE(can.network.send(can.ports[1], {.payload = bytes_of("next"), .identifier = 9}));
  ASSERT_TRUE(can.network.run(Time{50'000}));
  ASSERT_TRUE(can.network.leave_bus(can.ports[0]));
  ASSERT_TRUE(can.network.run(Time::seconds(1)));
  EXPECT_EQ(can.network.counters().unplugged, 1u);
  ASSERT_EQ(can.recorder.heard.size(), 1u);
  EXPECT_EQ(can.recorder.heard[0].text, "next");
  EXPECT_EQ(can.network.send(can.ports[0], {.payload = zeros(1)})->status, SendStatus::unplugged);
  EXPECT_TRUE(can.network.join_bus(can.ports[0], can.bus));
}

TEST(SerialBus, TheMasterWritesAndPolls) {
  Shared bus({.kind = BusKind::serial, .bit_rate = 100e3}, 3, true);
  Network& network = bus.network;
  ASSERT_TRUE(network.send(bus.ports[1], {.payload = bytes_of("value")}));  // waits to be polled
  ASSERT_TRUE(network.run(Time::seconds(1)));
  EXPECT_TRUE(bus.recorder.heard.empty());

  ASSERT_TRUE(network.send(bus.ports[0], {.payload = bytes_of("set"), .destination = bus.ports[2]}));
  ASSERT_TRUE(network.poll(bus.ports[0], bus.ports[1]));
  ASSERT_TRUE(network.poll(bus.ports[0], bus.ports[1]));  // its queue is empty
  ASSERT_TRUE(network.send(bus.ports[0], {.payload = bytes_of("all")}));
  ASSERT_TRUE(network.run(Time::seconds(2)));
  ASSERT_EQ(bus.recorder.heard.size(), 4u);
  EXPECT_EQ(bus.recorder.heard[0].text, "set");
  EXPECT_EQ(bus.recorder.heard[0].interface, bus.ports[2].index);
  EXPECT_EQ(bus.recorder.heard[0].at.ns, 1'000'000'000 + 380'000);  // 2 + 9 * 4 bits at 100 kb/s
  EXPECT_EQ(bus.recorder.heard[1].text, "value");
  EXPECT_EQ(bus.recorder.heard[1].interface, bus.ports[0].index);
  EXPECT_EQ(bus.recorder.heard[2].text, "all");
  EXPECT_EQ(bus.recorder.heard[3].interface, bus.ports[2].index);
}

TEST(SerialBus, ASlaveThatLeftDoesNotAnswer) {
  Shared bus({.kind = BusKind::serial, .bit_rate = 100e3}, 2, true);
  ASSERT_TRUE(bus.network.leave_bus(bus.ports[1]));
  ASSERT_TRUE(bus.network.poll(bus.ports[0], bus.ports[1]));
  ASSERT_TRUE(bus.network.run(Time::seconds(1)));
  EXPECT_EQ(bus.network.counters().unanswered, 1u);
  ASSERT_EQ(bus.recorder.reports.size(), 1u);
  EXPECT_EQ(bus.recorder.reports[0].fate, Fate::unanswered);
}

}  // namespace
}  // namespace volvox::net
