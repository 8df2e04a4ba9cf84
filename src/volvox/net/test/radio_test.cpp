// The radio, event by event: the figures of seed 001, capture, carrier sense, acknowledgement.
#include <gtest/gtest.h>

#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/net/power.h"
#include "volvox/net/test/recorder.h"

namespace volvox::net {
namespace {

// 1 bit a microsecond, no backoff, 10 m range at 2.4 GHz and 1 mW.
RadioOptions plain_radio(double range = 10) {
  RadioOptions options;
  options.bit_rate = 1e6;
  options.window = 1;
  options.slot = Time{100'000};
  options.receive_threshold_w = options.power_w * Friis(2.4e9).gain({}, {range * 1.0001, 0, 0});
  options.carrier_threshold_w = options.receive_threshold_w;
  return options;
}

struct Air {
  Network network;
  Recorder recorder;
  FrameLog log;
  MediumId medium;
  std::vector<InterfaceId> radios;

  explicit Air(const MediumOptions& options = {}, std::uint64_t seed = 1) : network({.seed = seed}) {
    medium = *network.add_medium(options);
    network.set_listener(&recorder);
    network.set_log(&log);
  }
  InterfaceId add(const RadioOptions& options, const Vec3& position) {
    radios.push_back(*network.add_radio(network.add_node(), medium, options, position));
    return radios.back();
  }
  // "time_us who what" of the whole log, radios as letters.
  std::vector<std::string> story() const {
    std::vector<std::string> lines;
    for (const LogEntry& e : log.entries())
      lines.push_back(std::to_string(e.time.ns / 1000) + " " + narrow<char>('A' + e.interface) + " " +
                      std::string(name(e.kind)) + " " + std::to_string(e.detail));
    return lines;
  }
};

// Figure 5: A and C transmit at once; D hears A, E hears C, and at B both collide.
TEST(Radio, Figure5CollisionsAreLocatedInSpace) {
  Air air;
  const RadioOptions options = plain_radio();
  const InterfaceId a = air.add(options, {0, 0, 0}), b = air.add(options, {9, 0, 0}), c = air.add(options, {18, 0, 0});
  const InterfaceId d = air.add(options, {-2, -3, 0}), e = air.add(options, {20, 3, 0});
  ASSERT_TRUE(air.network.send(a, {.payload = zeros(10)}));
  ASSERT_TRUE(air.network.send(c, {.payload = zeros(10)}));
  ASSERT_TRUE(air.network.run(Time::seconds(1)));
  ASSERT_EQ(air.recorder.heard.size(), 2u);
  EXPECT_EQ(air.recorder.heard[0].interface, d.index);
  EXPECT_EQ(air.recorder.heard[0].from, a.index);
  EXPECT_EQ(air.recorder.heard[0].at.ns, 80'000);
  EXPECT_EQ(air.recorder.heard[1].interface, e.index);
  EXPECT_EQ(air.recorder.heard[1].from, c.index);
  EXPECT_EQ(air.story(), (std::vector<std::string>{"0 A queued 0", "0 A backoff 0", "0 C queued 0", "0 C backoff 0",
                                                   "0 A transmit start 1", "0 C transmit start 1", "0 B collided 0",
                                                   "0 B collided 0", "80 A transmit end 0", "80 D received 0",
                                                   "80 C transmit end 0", "80 E received 0"}));
  EXPECT_EQ(air.network.counters().collisions, 2u);
  EXPECT_EQ(air.network.counters().deliveries, 2u);
  (void)b;
}

// A seed with these first backoffs.
std::uint64_t seed_with_backoffs(std::uint32_t window, const std::vector<std::vector<std::uint64_t>>& wanted) {
  for (std::uint64_t seed = 1;; ++seed) {
    bool all = true;
    for (std::uint64_t node = 0; node < wanted.size() && all; ++node) {
      RandomStream stream(seed, node << 32 | node, "backoff");
      for (const std::uint64_t slots : wanted[node]) all = all && stream.below(window) == slots;
    }
    if (all) return seed;
  }
}

// Figure 7: message 1 goes through; message 2 is deferred by it and then ends its backoff
// together with message 3: both collide; message 4 is longer than the tick.
TEST(Radio, Figure7Messages1To4) {
  RadioOptions options = plain_radio();
  options.window = 6;
  // A draws 3 (message 1) and 1 (message 4), B draws 5 (message 2), C draws 2 (message 3).
  Air air({}, seed_with_backoffs(6, {{3, 1}, {5}, {2}}));
  const InterfaceId a = air.add(options, {0, 0, 0}), b = air.add(options, {5, 0, 0}), c = air.add(options, {2.5, 4, 0});
  Network& network = air.network;
  const Time tick{3'000'000};
  ASSERT_TRUE(network.send(a, {.payload = zeros(50)}));                          // message 1: 400 us
  ASSERT_TRUE(network.send(b, {.payload = zeros(50), .at = Time{50'000}}));      // message 2
  ASSERT_TRUE(network.send(c, {.payload = zeros(50), .at = Time{500'000}}));     // message 3, during message 1
  ASSERT_TRUE(network.send(a, {.payload = zeros(125), .at = Time{2'500'000}}));  // message 4: 1000 us
  ASSERT_TRUE(network.run(tick));
  const std::size_t heard_in_first_tick = air.recorder.heard.size();
  ASSERT_TRUE(network.run(tick + tick));
  EXPECT_EQ(air.story(),
            (std::vector<std::string>{"0 A queued 0",          "0 A backoff 3",          "50 B queued 0",
                                      "50 B backoff 5",        "300 A transmit start 1",
                                      "300 B frozen 3",  // 2.5 slots were left: an interrupted slot is repeated
                                      "500 C queued 0",        "500 C backoff 2",        "500 C frozen 2",
                                      "700 A transmit end 0",  "700 B received 0",       "700 C received 0",
                                      "700 B resumed 3",       "700 C resumed 2",        "900 C transmit start 1",
                                      "900 B frozen 1",        "1300 C transmit end 0",  "1300 A received 0",
                                      "1300 B received 0",     "1300 B resumed 1",       "1400 B transmit start 1",
                                      "1800 B transmit end 0", "1800 A received 0",      "1800 C received 0",
                                      "2500 A queued 0",       "2500 A backoff 1",       "2600 A transmit start 1",
                                      "3600 A transmit end 0", "3600 B received 0",      "3600 C received 0"}));
  EXPECT_EQ(heard_in_first_tick, 6u);
}

// As printed in figure 7: on slot boundaries the deferred backoff of message 2 meets message 3.
TEST(Radio, Figure7DeferredBackoffCollides) {
  RadioOptions options = plain_radio();
  options.window = 6;
  Air air({}, seed_with_backoffs(6, {{3, 1}, {5}, {2}}));
  const InterfaceId a = air.add(options, {0, 0, 0}), b = air.add(options, {5, 0, 0}), c = air.add(options, {2.5, 4, 0});
  Network& network = air.network;
  const Time tick{2'000'000};
  std::vector<std::pair<std::uint32_t, Time>> live;
  air.recorder.on_receive = [&](Network& n, const Reception& r) { live.push_back({r.interface.index, n.now()}); };
  ASSERT_TRUE(network.send(a, {.payload = zeros(50)}));
  ASSERT_TRUE(network.send(b, {.payload = zeros(50)}));
  ASSERT_TRUE(network.send(c, {.payload = zeros(50), .at = Time{500'000}}));
  ASSERT_TRUE(network.send(a, {.payload = zeros(125), .at = Time{1'400'000}}));
  ASSERT_TRUE(network.run(tick));
  EXPECT_EQ(live.size(), 2u);  // message 1 at B and C, live, within the first tick
  ASSERT_TRUE(network.run(tick + tick));
  EXPECT_EQ(air.story(), (std::vector<std::string>{"0 A queued 0",
                                                   "0 A backoff 3",
                                                   "0 B queued 0",
                                                   "0 B backoff 5",
                                                   "300 A transmit start 1",
                                                   "300 B frozen 2",
                                                   "500 C queued 0",
                                                   "500 C backoff 2",
                                                   "500 C frozen 2",
                                                   "700 A transmit end 0",
                                                   "700 B received 0",
                                                   "700 C received 0",
                                                   "700 B resumed 2",
                                                   "700 C resumed 2",
                                                   "900 B transmit start 1",
                                                   "900 C transmit start 1",
                                                   "900 A collided 0",
                                                   "900 C aborted 0",
                                                   "900 A collided 0",
                                                   "900 B aborted 0",
                                                   "1300 B transmit end 0",
                                                   "1300 C transmit end 0",
                                                   "1400 A queued 0",
                                                   "1400 A backoff 1",
                                                   "1500 A transmit start 1",
                                                   "2500 A transmit end 0",
                                                   "2500 B received 0",
                                                   "2500 C received 0"}));
  ASSERT_EQ(live.size(), 4u);
  EXPECT_EQ(live[2].second.ns, 2'500'000);  // depends on size and bit rate only, not on the tick
}

TEST(Radio, CaptureAtTenDecibelNeedsAFactorOf3Point1623InDistance) {
  for (const auto& [ratio, passes] : {std::pair{3.0, false}, {3.162, false}, {3.1623, true}, {4.0, true}}) {
    Air air;
    RadioOptions options = plain_radio(100);
    options.noise_factor = 1;
    options.bandwidth_hz = 1;  // almost no noise
    options.carrier_threshold_w = 1;
    const InterfaceId wanted = air.add(options, {10, 0, 0}), other = air.add(options, {-10 * ratio, 0, 0});
    const InterfaceId receiver = air.add(options, {0, 0, 0});
    ASSERT_TRUE(air.network.send(wanted, {.payload = zeros(10)}));
    ASSERT_TRUE(air.network.send(other, {.payload = zeros(10)}));
    ASSERT_TRUE(air.network.run(Time::seconds(1)));
    std::size_t heard = 0;
    for (const auto& h : air.recorder.heard) heard += h.interface == receiver.index && h.from == wanted.index;
    EXPECT_EQ(heard, passes ? 1u : 0u) << ratio;
  }
}

TEST(Radio, InterferenceThatBeginsLaterSpoilsTheLockedFrame) {
  Air air;
  RadioOptions options = plain_radio(100);
  options.carrier_threshold_w = 1;
  const InterfaceId wanted = air.add(options, {10, 0, 0}), other = air.add(options, {-20, 0, 0});
  const InterfaceId receiver = air.add(options, {0, 0, 0});
  ASSERT_TRUE(air.network.send(wanted, {.payload = zeros(100)}));
  ASSERT_TRUE(air.network.send(other, {.payload = zeros(10), .at = Time{400'000}}));
  ASSERT_TRUE(air.network.run(Time::seconds(1)));
  for (const auto& h : air.recorder.heard) EXPECT_NE(h.interface, receiver.index);
  EXPECT_GE(air.network.counters().collisions, 2u);  // both frames at the receiver
}

TEST(Radio, IsHalfDuplex) {
  Air air;
  RadioOptions options = plain_radio();
  options.carrier_threshold_w = 1;  // no carrier sense: it transmits while it receives
  const InterfaceId a = air.add(options, {0, 0, 0}), b = air.add(options, {5, 0, 0});
  ASSERT_TRUE(air.network.send(a, {.payload = zeros(100)}));
  ASSERT_TRUE(air.network.send(b, {.payload = zeros(10), .at = Time{200'000}}));
  ASSERT_TRUE(air.network.run(Time::seconds(1)));
  EXPECT_TRUE(air.recorder.heard.empty());
  EXPECT_EQ(air.network.counters().transmit_aborts, 2u);
}

TEST(Radio, CarrierSenseWaitsAndHiddenTerminalsDoNot) {
  for (const bool hidden : {false, true}) {
    Air air;
    const RadioOptions options = plain_radio();
    const double x = hidden ? 9.5 : 4;  // 19 m or 8 m apart; range 10 m
    const InterfaceId a = air.add(options, {-x, 0, 0}), b = air.add(options, {x, 0, 0});
    const InterfaceId middle = air.add(options, {0, 0, 0});
    ASSERT_TRUE(air.network.send(a, {.payload = zeros(100)}));
    ASSERT_TRUE(air.network.send(b, {.payload = zeros(100), .at = Time{100'000}}));
    ASSERT_TRUE(air.network.run(Time::seconds(1)));
    std::size_t heard = 0;
    for (const auto& h : air.recorder.heard) heard += h.interface == middle.index;
    EXPECT_EQ(heard, hidden ? 0u : 2u);
  }
}

TEST(Radio, AddressedFramesReachOnlyTheirDestination) {
  Air air;
  const RadioOptions options = plain_radio();
  const InterfaceId a = air.add(options, {0, 0, 0}), b = air.add(options, {5, 0, 0});
  air.add(options, {0, 5, 0});
  ASSERT_TRUE(air.network.send(a, {.payload = bytes_of("for b"), .destination = b}));
  ASSERT_TRUE(air.network.run(Time::seconds(1)));
  ASSERT_EQ(air.recorder.heard.size(), 1u);
  EXPECT_EQ(air.recorder.heard[0].interface, b.index);
  EXPECT_EQ(air.network.counters().overheard, 1u);
}

TEST(Radio, AcknowledgementConfirmsAndItsAbsenceIsRetried) {
  for (const double distance : {5.0, 50.0}) {
    Air air;
    RadioOptions options = plain_radio();
    options.acknowledge = true;
    options.retry_limit = 3;
    const InterfaceId a = air.add(options, {0, 0, 0}), b = air.add(options, {distance, 0, 0});
    ASSERT_TRUE(air.network.send(a, {.payload = zeros(10), .destination = b, .report = true}));
    ASSERT_TRUE(air.network.run(Time::seconds(1)));
    ASSERT_EQ(air.recorder.reports.size(), 1u);
    const bool near = distance < 10;
    EXPECT_EQ(air.recorder.reports[0].fate, near ? Fate::sent : Fate::unacknowledged);
    EXPECT_EQ(air.recorder.reports[0].attempts, near ? 1u : 4u);
    EXPECT_EQ(air.network.counters().retries, near ? 0u : 3u);
    EXPECT_EQ(air.network.counters().unacknowledged, near ? 0u : 1u);
    EXPECT_EQ(air.recorder.heard.size(), near ? 1u : 0u);
    EXPECT_EQ(air.network.queued(a), 0u);
  }
}

TEST(Radio, ALostAcknowledgementMakesADuplicateThatIsNotDeliveredTwice) {
  Air air;
  RadioOptions options = plain_radio();
  options.acknowledge = true;
  RadioOptions quiet = options;
  quiet.power_w = options.power_w / 1000;  // receives, but cannot be received
  const InterfaceId a = air.add(options, {0, 0, 0}), b = air.add(quiet, {9, 0, 0});
  ASSERT_TRUE(air.network.send(a, {.payload = zeros(10), .destination = b}));
  ASSERT_TRUE(air.network.run(Time::seconds(1)));
  EXPECT_EQ(air.recorder.heard.size(), 1u);
  EXPECT_EQ(air.network.counters().duplicates, 3u);
}

TEST(Radio, SwitchedOffCutsItsFrameAndHearsNothing) {
  Air air;
  const RadioOptions options = plain_radio();
  const InterfaceId a = air.add(options, {0, 0, 0}), b = air.add(options, {5, 0, 0});
  ASSERT_TRUE(air.network.send(a, {.payload = zeros(100)}));
  ASSERT_TRUE(air.network.run(Time{400'000}));
  EXPECT_TRUE(air.network.carrier(b));
  ASSERT_TRUE(air.network.switch_radio(a, false));
  EXPECT_FALSE(air.network.carrier(b));
  EXPECT_EQ(air.network.send(a, {.payload = zeros(1)})->status, SendStatus::off);
  ASSERT_TRUE(air.network.run(Time::seconds(1)));
  EXPECT_TRUE(air.recorder.heard.empty());
  EXPECT_EQ(air.network.counters().switched_off, 3u);  // its frame, the reception by b, and the refused frame
  ASSERT_TRUE(air.network.switch_radio(a, true));
  ASSERT_TRUE(air.network.send(b, {.payload = zeros(1)}));
  ASSERT_TRUE(air.network.run(Time::seconds(2)));
  EXPECT_EQ(air.recorder.heard.size(), 1u);
}

TEST(Radio, PowerReturnsExactlyToTheNoise) {
  Air air;
  RadioOptions options = plain_radio();
  options.window = 30;
  for (int i = 0; i < 40; ++i) air.add(options, {0.37 * i, 0.11 * (i % 7), 0.05 * (i % 3)});
  const double noise = air.network.heard_w(air.radios[0]);
  for (const InterfaceId radio : air.radios) ASSERT_TRUE(air.network.send(radio, {.payload = zeros(20)}));
  ASSERT_TRUE(air.network.run(Time::seconds(5)));
  EXPECT_TRUE(air.network.quiet());
  for (const InterfaceId radio : air.radios) EXPECT_EQ(air.network.heard_w(radio), noise);
}

// Robots move between ticks and the cells are sorted again; the subtracted powers equal the added ones.
TEST(Radio, MovingWhileAFrameIsOnTheAirLeavesNoResidue) {
  Air air({.frequency_hz = 2.4e9, .cull_radius = 30});
  RadioOptions options = plain_radio();
  options.window = 4;
  for (int i = 0; i < 100; ++i) air.add(options, {1.0 * (i % 10), 1.0 * (i / 10), 0});
  const double noise = air.network.heard_w(air.radios[0]);
  RandomStream random(3, 0, "move");
  for (int tick = 0; tick < 50; ++tick) {
    for (std::uint32_t i = 0; i < 100; ++i) {
      const Vec3 to{random.uniform(0, 60), random.uniform(0, 60), random.uniform(0, 20)};
      ASSERT_TRUE(air.network.move_radio(air.radios[i], to));
      if (tick < 40 && random.chance(0.1)) {
        ASSERT_TRUE(air.network.send(air.radios[i], {.payload = zeros(20)}));
      }
    }
    ASSERT_TRUE(air.network.run(Time{(tick + 1) * 100'000}));
  }
  ASSERT_TRUE(air.network.run(Time::seconds(10)));
  for (const InterfaceId radio : air.radios) EXPECT_EQ(air.network.heard_w(radio), noise);
  EXPECT_GT(air.recorder.heard.size(), 50u);
}

TEST(Radio, EachReceiverHasItsOwnThresholdAndAntenna) {
  Air air;
  RadioOptions options = plain_radio(), deafer = plain_radio(), dish = plain_radio();
  deafer.receive_threshold_w *= 100;
  dish.receive_threshold_w *= 100;
  dish.antenna_gain = 100;
  const InterfaceId a = air.add(options, {0, 0, 0}), b = air.add(options, {9, 0, 0});
  air.add(deafer, {0, 9, 0});
  const InterfaceId d = air.add(dish, {0, 0, 9});
  const double noise_b = air.network.heard_w(b), noise_d = air.network.heard_w(d);
  ASSERT_TRUE(air.network.send(a, {.payload = zeros(10)}));
  ASSERT_TRUE(air.network.run(Time{40'000}));  // it is on the air
  EXPECT_NEAR((air.network.heard_w(d) - noise_d) / (air.network.heard_w(b) - noise_b), 100, 1e-3);
  ASSERT_TRUE(air.network.run(Time::seconds(1)));
  ASSERT_EQ(air.recorder.heard.size(), 2u);
  EXPECT_EQ(air.recorder.heard[0].interface, b.index);
  EXPECT_EQ(air.recorder.heard[1].interface, d.index);
  EXPECT_EQ(air.network.counters().weak, 1u);
}

TEST(Radio, ChannelsDoNotHearEachOther) {
  Air air;
  const MediumId other = *air.network.add_medium({.frequency_hz = 5e9});
  const InterfaceId a = air.add(plain_radio(), {0, 0, 0});
  air.add(plain_radio(), {1, 0, 0});
  // A second radio of the same node, on the other channel, with one neighbour there.
  const InterfaceId a2 = *air.network.add_radio(air.network.node_of(a), other, plain_radio(), {0, 0, 0});
  const InterfaceId c = *air.network.add_radio(air.network.add_node(), other, plain_radio(), {1, 0, 0});
  ASSERT_TRUE(air.network.send(a, {.payload = bytes_of("one")}));
  ASSERT_TRUE(air.network.send(a2, {.payload = bytes_of("two")}));
  ASSERT_TRUE(air.network.run(Time::seconds(1)));
  ASSERT_EQ(air.recorder.heard.size(), 2u);
  EXPECT_EQ(air.recorder.heard[1].interface, c.index);
  EXPECT_EQ(air.recorder.heard[1].text, "two");
  EXPECT_EQ(air.network.interfaces_of(air.network.node_of(a)), (std::vector{a, a2}));
}

// At 5 cm a radio of 100 mW is received with 3.95 mW (Friis). An interferer at d captures the receiver unless
// (d / 5 cm)^2 >= z = 10: the boundary is at 15.81 cm.
TEST(Radio, StrongSignalsAreNotLimited) {
  RadioOptions options = plain_radio();
  options.power_w = 0.1;
  const double wanted = options.power_w * Friis(2.4e9).gain({}, {0.05, 0, 0});
  ASSERT_GT(wanted, 3.9e-3);
  for (const double distance : {0.156, 0.160}) {
    Air air;
    RadioOptions weak = options;
    weak.power_w = 1e-3;  // added first: the unit of power is chosen anew when the strong ones come
    const InterfaceId receiver = air.add(weak, {0, 0, 0});
    const InterfaceId sender = air.add(options, {0.05, 0, 0}), interferer = air.add(options, {-distance, 0, 0});
    double received = 0;
    air.recorder.on_receive = [&](Network&, const Reception& r) {
      if (r.interface == receiver) received = r.power_w;
    };
    const double noise = air.network.heard_w(receiver);
    EXPECT_NEAR(noise, thermal_noise_w(weak.bandwidth_hz), 1e-3 * noise);
    ASSERT_TRUE(air.network.send(sender, {.payload = zeros(10)}));
    ASSERT_TRUE(air.network.send(interferer, {.payload = zeros(10)}));
    ASSERT_TRUE(air.network.run(Time::seconds(1)));
    EXPECT_NEAR(received, distance > 0.158 ? wanted : 0, 1e-6 * wanted) << distance;
    EXPECT_EQ(air.network.heard_w(receiver), noise);
    EXPECT_TRUE(air.network.warnings().empty());
  }
}

TEST(Radio, PowersThatCannotBeRepresentedAreWarnedOf) {
  Air air;
  RadioOptions options = plain_radio();
  options.power_w = 1000;
  air.add(options, {0, 0, 0});
  const auto warnings = air.network.warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("counted as 11.8 W"), std::string::npos) << warnings[0];
}

// A sends to B with acknowledgement. C has a frame, too, and draws no slots: it hears A, and must not begin in the
// turnaround of B.
TEST(Radio, AcknowledgementsComeBeforeContention) {
  Air air;
  RadioOptions options = plain_radio();
  options.acknowledge = true;
  options.turnaround = Time{50'000};
  const InterfaceId a = air.add(options, {0, 0, 0}), b = air.add(options, {5, 0, 0});
  RadioOptions other = options;
  other.acknowledge = false;
  const InterfaceId c = air.add(other, {0, 5, 0});
  ASSERT_TRUE(air.network.send(a, {.payload = zeros(10), .destination = b, .report = true}));
  ASSERT_TRUE(air.network.send(c, {.payload = zeros(10), .at = Time{280'000}}));
  ASSERT_TRUE(air.network.run(Time::seconds(1)));
  EXPECT_EQ(air.network.counters().retries, 0u);
  EXPECT_EQ(air.network.counters().collisions, 0u);
  // The space is the turnaround and two slots, 250 us. A: 250 + 80 us; B: 50 later 88 us; C: after 250 us, 80 us.
  ASSERT_EQ(air.recorder.heard.size(), 3u);
  EXPECT_EQ(air.recorder.heard[0].at, Time{330'000});
  EXPECT_EQ(air.recorder.heard[1].at, Time{330'000 + 50'000 + 88'000 + 250'000 + 80'000});
}

// A backoff that is interrupted in the space before its slots has as many slots left as before.
TEST(Radio, TheSpaceBeforeABackoffCostsNoSlots) {
  Air air;
  RadioOptions options = plain_radio();
  options.acknowledge = true;
  options.turnaround = Time{50'000};
  options.window = 1000;
  RadioOptions hasty = options;
  hasty.window = 1;
  const InterfaceId a = air.add(options, {0, 0, 0}), b = air.add(hasty, {5, 0, 0});
  ASSERT_TRUE(air.network.send(b, {.payload = zeros(10)}));                       // on the air from 250 us
  ASSERT_TRUE(air.network.send(a, {.payload = zeros(10), .at = Time{100'000}}));  // its space would end at 350 us
  ASSERT_TRUE(air.network.run(Time::seconds(1)));
  std::uint32_t drawn = 0, left = 1;
  for (const LogEntry& entry : air.log.entries()) {
    if (entry.interface != a.index) continue;
    if (entry.kind == LogKind::backoff) drawn = entry.detail;
    if (entry.kind == LogKind::frozen) left = entry.detail;
  }
  EXPECT_GT(drawn, 2u);
  EXPECT_EQ(left, drawn);
  ASSERT_EQ(air.recorder.heard.size(), 2u);
  EXPECT_EQ(air.recorder.heard[1].at, Time{330'000 + 250'000 + 100'000ll * drawn + 80'000});
}

TEST(Radio, NearFieldIsClampedAndWarned) {
  Air air;
  const RadioOptions options = plain_radio();
  const InterfaceId a = air.add(options, {0, 0, 0}), b = air.add(options, {0.001, 0, 0});
  const double noise = air.network.heard_w(b);
  ASSERT_TRUE(air.network.send(a, {.payload = zeros(10)}));
  ASSERT_TRUE(air.network.run(Time{40'000}));  // it is on the air
  EXPECT_NEAR((air.network.heard_w(b) - noise) / options.power_w, 1, 1e-6) << "not more than was sent";
  const auto warnings = air.network.warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("2 radios"), std::string::npos) << warnings[0];
}

}  // namespace
}  // namespace volvox::net
