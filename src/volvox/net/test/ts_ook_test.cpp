// Radios that send pulses (TS-OOK): only pulses collide.
#include <gtest/gtest.h>

#include <cmath>

#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/net/power.h"
#include "volvox/net/test/recorder.h"
#include "volvox/net/ts_ook.h"

namespace volvox::net {
namespace {

RadioOptions nano_radio(std::uint32_t spread, std::int64_t pulse_fs = 100) {
  RadioOptions options;
  options.pulse_fs = pulse_fs;
  options.spread = spread;
  options.bit_rate = TimeSpreadKeying{pulse_fs, spread}.bit_rate();
  options.bandwidth_hz = 1e9;
  options.receive_threshold_w = 1e-9;
  options.carrier_threshold_w = 1e300;
  options.window = 1;
  return options;
}

std::vector<std::byte> ones(std::size_t size) { return std::vector<std::byte>(size, std::byte{0xff}); }

// Every pulse against the place of every bit. (With spread 1 a pulse lies over two places, and one was missed.)
TEST(TsOok, BitsAreSpoiledWherePulsesOverlap) {
  RandomStream random(1, 0, "pulses");
  for (int trial = 0; trial < 2000; ++trial) {
    const TimeSpreadKeying keying{.pulse_fs = 10, .spread = 1 + static_cast<std::int64_t>(random.below(4))};
    std::vector<std::byte> frame(3), other(2);
    for (auto* bytes : {&frame, &other})
      for (std::byte& byte : *bytes) byte = static_cast<std::byte>(random.below(256));
    const std::int64_t offset = static_cast<std::int64_t>(random.below(80 * 40)) - 40 * 40;
    const auto is_one = [](const std::vector<std::byte>& bytes, std::int64_t i) {
      return (std::to_integer<int>(bytes[static_cast<std::size_t>(i / 8)]) >> (7 - i % 8) & 1) != 0;
    };
    std::vector<std::uint32_t> expected, found = {7};
    for (std::uint32_t i = 0; i < 24; ++i) {
      bool hit = false;
      for (int k = 0; k < 16; ++k)
        hit = hit || (is_one(other, k) && std::abs(offset + k * keying.bit_fs() - i * keying.bit_fs()) < 10);
      if (hit && !is_one(frame, i)) expected.push_back(i);
    }
    EXPECT_EQ(keying.spoiled_bits(frame, other, offset), expected.size()) << keying.spread << " " << offset;
    keying.spoil(frame, other, offset, found);
    expected.insert(expected.begin(), 7);
    EXPECT_EQ(found, expected) << keying.spread << " " << offset;
  }
}

// Senders in a ring, all as far from the receiver in the middle: the last interface.
struct PulseRing {
  Network network;
  Recorder recorder;
  std::vector<InterfaceId> radios;

  PulseRing(int senders, const RadioOptions& options, std::uint64_t seed) : network({.seed = seed}) {
    const MediumId air = *network.add_medium();
    for (int i = 0; i < senders; ++i) {
      const double angle = 2 * pi * i / senders;
      radios.push_back(*network.add_radio(network.add_node(), air, options,
                                          {0.1 * volvox::cos(angle), 0.1 * volvox::sin(angle), 0}));
    }
    radios.push_back(*network.add_radio(network.add_node(), air, options, {}));
    network.set_listener(&recorder);
  }
  int received() const {
    int count = 0;
    for (const auto& heard : recorder.heard) count += heard.interface == radios.back().index;
    return count;
  }
};

// A frame of zeros against frames of ones, which begin anywhere within a bit: one of them hits if its pulse lies within
// a pulse of a place of the frame's, (2 pulse - 1 fs) of spread pulses. It is then the frame that is lost, or, where
// bits are repaired, not.
TEST(TsOok, FramesAreLostAsOftenAsPulsesMeet) {
  for (const int others : {1, 3, 8})
    for (const std::uint32_t repairs : {0u, 400u}) {
      const int trials = 1500;
      int lost = 0;
      for (int trial = 0; trial < trials; ++trial) {
        RadioOptions options = nano_radio(20);
        options.repairs = repairs;
        PulseRing ring(others + 1, options, 9000 + narrow<std::uint64_t>(trial));
        ASSERT_TRUE(ring.network.send(ring.radios[0], {.payload = zeros(50)}));
        for (int i = 1; i <= others; ++i) ASSERT_TRUE(ring.network.send(ring.radios[i], {.payload = ones(50)}));
        ASSERT_TRUE(ring.network.run(Time{100'000}));
        lost += ring.received() == 0;
      }
      // 400 bits, of which more than 400 are never spoiled.
      const double one = repairs > 0 ? 0 : (2.0 * 100 - 1) / (20 * 100), p = 1 - std::pow(1 - one, others);
      EXPECT_NEAR(real(lost) / trials, p, 4.5 * std::sqrt(p * (1 - p) / trials) + 1e-12) << others << " others";
    }
}

TEST(TsOok, SilenceAndEqualOnesSpoilNothing) {
  for (int trial = 0; trial < 40; ++trial) {
    for (const bool silent : {false, true}) {
      PulseRing ring(2, nano_radio(2), 500 + narrow<std::uint64_t>(trial));
      ASSERT_TRUE(ring.network.send(ring.radios[0], {.payload = silent ? zeros(20) : ones(20)}));
      ASSERT_TRUE(ring.network.send(ring.radios[1], {.payload = silent ? zeros(20) : ones(20)}));
      ASSERT_TRUE(ring.network.run(Time{100'000}));
      EXPECT_EQ(ring.received(), 1) << "the one that the receiver follows";
      EXPECT_EQ(ring.network.counters().collisions, 1u) << "the other";
    }
  }
}

// A frame that was on the air before the receiver could follow one, and one that begins later.
TEST(TsOok, FramesThatOverlapInPartSpoilOnlyThere) {
  int lost = 0;
  const int trials = 1500;
  for (int trial = 0; trial < trials; ++trial) {
    PulseRing ring(2, nano_radio(20, 100'000), 700 + narrow<std::uint64_t>(trial));
    ASSERT_TRUE(ring.network.send(ring.radios[0], {.payload = zeros(50)}));  // 800 ns
    ASSERT_TRUE(ring.network.send(ring.radios[1], {.payload = ones(50), .at = Time{trial % 2 == 0 ? 790 : 900}}));
    ASSERT_TRUE(ring.network.run(Time{100'000}));
    bool first = false;
    for (const auto& heard : ring.recorder.heard)
      first = first || (heard.interface == ring.radios.back().index && heard.from == ring.radios[0].index);
    lost += !first;
    if (trial % 2 != 0) {
      EXPECT_TRUE(first) << "they do not meet";
    }
  }
  const double p = 0.5 * 2 / 20;
  EXPECT_NEAR(real(lost) / trials, p, 4.5 * std::sqrt(p * (1 - p) / trials));
}

TEST(TsOok, SnapshotsInTheMiddleOfFramesGoOn) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto set_up = [&](PulseRing& ring) {
      for (std::uint32_t i = 0; i < 6; ++i)
        ASSERT_TRUE(ring.network.send(
            ring.radios[i], {.payload = i % 2 == 0 ? zeros(50) : ones(50), .at = Time{std::int64_t{i} * 90}}));
    };
    PulseRing one(6, nano_radio(20, 100'000), seed), other(6, nano_radio(20, 100'000), seed);
    set_up(one);
    ASSERT_TRUE(one.network.run(Time{350}));
    SaveArchive save;
    one.network.archive(save);
    LoadArchive load(save.bytes());
    other.network.archive(load);
    ASSERT_TRUE(load.ok()) << load.failure();
    EXPECT_EQ(one.network.hash(), other.network.hash());
    ASSERT_TRUE(one.network.run(Time{100'000}));
    ASSERT_TRUE(other.network.run(Time{100'000}));
    EXPECT_EQ(one.network.hash(), other.network.hash()) << seed;
  }
}

TEST(TsOok, BadOptionsAreRefused) {
  Network network;
  const MediumId air = *network.add_medium();
  RadioOptions options = nano_radio(1000);
  options.bit_rate = 6e3;
  const auto rate = network.add_radio(network.add_node(), air, options, {});
  ASSERT_FALSE(rate.ok());
  EXPECT_NE(rate.error().text().find("bit rate of a radio with pulses"), std::string::npos) << rate.error().text();
  ASSERT_TRUE(network.add_radio(network.add_node(), air, nano_radio(1000), {}).ok());
  for (const RadioOptions& other : {nano_radio(20), RadioOptions{}}) {
    const auto mixed = network.add_radio(network.add_node(), air, other, {1, 0, 0});
    ASSERT_FALSE(mixed.ok());
    EXPECT_NE(mixed.error().text().find("same modulation"), std::string::npos) << mixed.error().text();
  }
}

}  // namespace
}  // namespace volvox::net
