// The fast radio against a direct implementation of its definition: from the log of transmissions, a simple
// quadratic algorithm computes all receptions.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/net/power.h"
#include "volvox/net/test/recorder.h"

namespace volvox::net {
namespace {

using Receptions = std::set<std::pair<std::uint64_t, std::uint32_t>>;  // (frame, receiver)

struct Oracle {
  std::vector<Vec3> places;
  RadioOptions options;
  double cull_radius = 0;
  Receptions received;

  // The state: the transmissions on the air, and the frame that each radio is locked on.
  std::map<std::uint32_t, std::uint64_t> on_air;  // radio -> frame
  struct Lock {
    std::uint32_t sender;
    bool spoiled;
  };
  std::map<std::uint32_t, Lock> locks;

  PowerUnits power(std::uint32_t from, std::uint32_t to) const {
    if (from == to || (cull_radius > 0 && length_squared(places[to] - places[from]) > cull_radius * cull_radius))
      return 0;
    return truncated<PowerUnits>(Friis(2.4e9).gain(places[from], places[to]) * (options.power_w * units_per_watt));
  }
  bool passes(std::uint32_t sender, std::uint32_t receiver) const {
    PowerUnits others = to_units(thermal_noise_w(options.bandwidth_hz, options.noise_factor));
    for (const auto& [other, frame] : on_air)
      if (other != sender) others += power(other, receiver);
    return real(power(sender, receiver)) >= options.capture_ratio * real(others);
  }
  void end(std::uint32_t sender) {
    for (auto lock = locks.begin(); lock != locks.end();) {
      if (lock->second.sender != sender) {
        ++lock;
        continue;
      }
      if (!lock->second.spoiled) received.insert({on_air[sender], lock->first});
      lock = locks.erase(lock);
    }
    on_air.erase(sender);
  }
  void start(const std::map<std::uint32_t, std::uint64_t>& starting) {
    for (const auto& [sender, frame] : starting) {
      locks.erase(sender);
      on_air[sender] = frame;
    }
    for (auto& [receiver, lock] : locks) lock.spoiled = lock.spoiled || !passes(lock.sender, receiver);
    for (std::uint32_t receiver = 0; receiver < places.size(); ++receiver) {
      if (on_air.contains(receiver) || locks.contains(receiver)) continue;
      for (const auto& [sender, frame] : starting)
        if (power(sender, receiver) >= to_units(options.receive_threshold_w) && passes(sender, receiver))
          locks[receiver] = {sender, false};
    }
  }
};

void compare(std::uint64_t seed, double cull_radius, bool listens) {
  RandomStream random(seed, 0, "oracle");
  Network network({.seed = seed});
  FrameLog log;
  network.set_log(&log);
  const MediumId air = *network.add_medium({.frequency_hz = 2.4e9, .cull_radius = cull_radius});
  Oracle oracle;
  oracle.cull_radius = cull_radius;
  oracle.options.window = 8;
  oracle.options.receive_threshold_w = 1e-9;
  if (!listens) oracle.options.carrier_threshold_w = 1;  // no carrier sense
  oracle.options.capture_ratio = random.uniform(1, 12);
  std::vector<InterfaceId> radios;
  for (int i = 0; i < 80; ++i) {
    oracle.places.push_back({random.uniform(0, 30), random.uniform(0, 30), random.uniform(0, 3)});
    radios.push_back(*network.add_radio(network.add_node(), air, oracle.options, oracle.places.back()));
  }
  // Whole microseconds, so that starts and ends often coincide.
  for (int k = 0; k < 600; ++k)
    ASSERT_TRUE(
        network.send(radios[random.below(80)], {.payload = zeros(10 * (1 + random.below(10))),
                                                .at = Time{narrow<std::int64_t>(random.below(2000)) * 320'000}}));
  ASSERT_TRUE(network.run(Time::seconds(10)));

  Receptions actual;
  std::map<Time, std::pair<std::vector<std::uint32_t>, std::map<std::uint32_t, std::uint64_t>>> instants;
  for (const LogEntry& entry : log.entries()) {
    if (entry.kind == LogKind::transmit_end) instants[entry.time].first.push_back(entry.interface);
    if (entry.kind == LogKind::transmit_start) instants[entry.time].second[entry.interface] = entry.frame;
    if (entry.kind == LogKind::received) actual.insert({entry.frame, entry.interface});
  }
  for (const auto& [time, what] : instants) {
    for (const std::uint32_t sender : what.first) oracle.end(sender);
    oracle.start(what.second);
  }
  EXPECT_EQ(actual, oracle.received);
  EXPECT_GT(actual.size(), 100u);
}

TEST(Oracle, ReceptionsAreWhatTheDefinitionSays) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    compare(seed, 0, true);
    compare(seed, 0, false);
    compare(seed, 9, true);
    compare(seed, 9, false);
  }
}

}  // namespace
}  // namespace volvox::net
