#include <gtest/gtest.h>

#include <cmath>

#include "volvox/base/random.h"
#include "volvox/net/scenarios/flood.h"
#include "volvox/net/test/recorder.h"

namespace volvox::net {
namespace {

TEST(Flood, WiredBoardOf20By20) {
  const auto corner = run_flood({.nodes = 400, .mode = FloodMode::wired, .source = 0});
  ASSERT_TRUE(corner);
  EXPECT_EQ(corner->reached, 400u);
  EXPECT_NEAR(corner->latency_max_s, 2.685333, 1e-6);
  const auto middle = run_flood({.nodes = 400, .mode = FloodMode::wired, .source = 210});  // (10, 10)
  ASSERT_TRUE(middle);
  EXPECT_NEAR(middle->latency_max_s, 1.413333, 1e-6);
}

TEST(Flood, WiredCubeTakesAsManyHopsAsItsDiameter) {
  const auto report = run_flood({.nodes = 125, .mode = FloodMode::wired, .dimension = 3, .source = 0});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->reached, 125u);
  EXPECT_NEAR(report->latency_max_s, 12 * 53 * 8 / 6e3, 1e-6);
}

TEST(Flood, SameSeedSameBits) {
  for (const FloodMode mode : {FloodMode::exact, FloodMode::culled, FloodMode::wired}) {
    const auto a = run_flood({.nodes = 400, .mode = mode, .seed = 3}),
               b = run_flood({.nodes = 400, .mode = mode, .seed = 3});
    const auto c = run_flood({.nodes = 400, .mode = mode, .seed = 4});
    ASSERT_TRUE(a && b && c);
    EXPECT_EQ(a->state_hash, b->state_hash);
    EXPECT_EQ(a->deliveries, b->deliveries);
    EXPECT_TRUE(mode == FloodMode::wired || a->state_hash != c->state_hash);
  }
}

// All instruction sets give the same result, because powers are integers and IEEE operations are not contracted.
// The golden value detects a machine or compiler that differs.
constexpr std::uint64_t golden_deliveries = 4260;

TEST(Flood, TheSameBitsOnEveryMachine) {
  const auto exact = run_flood({.nodes = 900,
                                .mode = FloodMode::exact,
                                .layout = FloodLayout::random,
                                .dimension = 3,
                                .window = 30,
                                .range_spacings = 3.05});
  ASSERT_TRUE(exact);
  EXPECT_EQ(exact->deliveries, golden_deliveries);
}

// Culling beyond the whole scene changes nothing; culling within it does, and the report says so.
TEST(Flood, CullingIsExactWhenItCutsNothing) {
  for (int scene = 0; scene < 4; ++scene) {
    FloodOptions options{.nodes = 300,
                         .mode = FloodMode::exact,
                         .layout = scene % 2 == 0 ? FloodLayout::grid : FloodLayout::random,
                         .dimension = 2 + scene / 2,
                         .seed = 8,
                         .range_spacings = 3.05};
    const auto exact = run_flood(options);
    options.mode = FloodMode::culled;
    options.cull_spacings = 100;
    const auto wide = run_flood(options);
    options.cull_spacings = 3.5;
    const auto narrow = run_flood(options);
    ASSERT_TRUE(exact && wide && narrow);
    EXPECT_EQ(exact->state_hash, wide->state_hash);
    EXPECT_NE(exact->deliveries, narrow->deliveries);
    EXPECT_EQ(exact->cull_radius_m, 0);
    EXPECT_NE(exact->json().find("\"cull_radius_m\":null"), std::string::npos) << exact->json();
    EXPECT_EQ(narrow->cull_radius_m, 3.5);
  }
}

// The defaults are as documented, in the plane and in space.
TEST(Flood, SomeNeighborsAreInRangeAndCullingStartsAtTheNoise) {
  for (const int dimension : {2, 3}) {
    const auto flood = run_flood({.nodes = 8000,
                                  .mode = FloodMode::culled,
                                  .layout = FloodLayout::random,
                                  .dimension = dimension,
                                  .source = -1,
                                  .spacing = 2,
                                  .longest = Time{1}});
    ASSERT_TRUE(flood);
    EXPECT_NEAR(flood->cull_radius_m, flood->range_m * std::sqrt(10.0), 1e-9);
    const double in_range =
        dimension == 2 ? pi * flood->range_m * flood->range_m / 4 : 4.0 / 3 * pi * std::pow(flood->range_m / 2, 3);
    EXPECT_NEAR(in_range, dimension == 2 ? 28 : 22, 1.5);
  }
}

// By default, a flood must not stop near its source.
TEST(Flood, SpreadsInSpaceWithTheDefaults) {
  for (const FloodLayout layout : {FloodLayout::grid, FloodLayout::random})
    for (const FloodMode mode : {FloodMode::exact, FloodMode::culled})
      for (const std::uint64_t seed : {1, 2, 3}) {
        const auto flood = run_flood({.nodes = 2000, .mode = mode, .layout = layout, .dimension = 3, .seed = seed});
        ASSERT_TRUE(flood);
        EXPECT_GT(flood->reached, 1000u) << name(layout) << ' ' << name(mode) << " seed " << seed;
      }
}

// Random positions in 3-D: exact and culled agree to the last bit if the radius covers everything, and given
// positions keep their order.
TEST(Flood, ArbitraryPositionsInSpace) {
  FloodOptions options{.mode = FloodMode::exact, .dimension = 3, .seed = 5};
  RandomStream random(9, 0, "cloud");
  for (int i = 0; i < 1500; ++i)
    options.positions.push_back({random.uniform(-6, 6), random.uniform(-6, 6), random.uniform(100, 112)});
  const auto exact = run_flood(options);
  options.mode = FloodMode::culled;
  options.cull_spacings = 25;
  const auto culled = run_flood(options);
  ASSERT_TRUE(exact && culled);
  EXPECT_GT(exact->reached, 1u);
  EXPECT_EQ(exact->state_hash, culled->state_hash);
  EXPECT_EQ(exact->latency_max_s, culled->latency_max_s);
}

// The cells against the definition: exactly the radios within the radius.
TEST(Flood, CellsFindExactlyWhoIsWithinTheRadius) {
  RandomStream random(4, 0, "cells");
  for (int scene = 0; scene < 20; ++scene) {
    Network network;
    const double radius = random.uniform(0.5, 6);
    const MediumId air = *network.add_medium({.frequency_hz = 2.4e9, .cull_radius = radius});
    RadioOptions options;
    options.window = 1;
    options.receive_threshold_w = 1e-13;
    options.carrier_threshold_w = 1e-13;
    std::vector<Vec3> places;
    std::vector<InterfaceId> radios;
    const double depth = scene % 2 == 0 ? 0 : 8;
    for (int i = 0; i < 200; ++i) {
      places.push_back({random.uniform(-9, 9), random.uniform(0, 20), depth * random.uniform()});
      if (i % 50 == 49) places.back() = {1e4 * random.uniform(), -1e5, 3};  // far outliers
      radios.push_back(*network.add_radio(network.add_node(), air, options, places.back()));
    }
    const double noise = network.heard_w(radios[0]);
    for (int round = 0; round < 10; ++round) {
      const std::size_t sender = random.below(200);
      ASSERT_TRUE(network.send(radios[sender], {.payload = zeros(100)}));
      ASSERT_TRUE(network.run(network.now() + Time{1000}));
      for (std::size_t i = 0; i < 200; ++i) {
        const bool within = i != sender && length_squared(places[i] - places[sender]) <= radius * radius;
        EXPECT_EQ(network.heard_w(radios[i]) > noise, within);
      }
      ASSERT_TRUE(network.run(network.now() + Time::seconds(1)));
    }
  }
}

TEST(Flood, GivenPositionsAndJson) {
  FloodOptions options{.mode = FloodMode::exact};
  for (int i = 0; i < 50; ++i) options.positions.push_back({0.7 * i, 0.1 * (i % 5), 0.2 * (i % 3)});
  const auto report = run_flood(options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->nodes, 50u);
  EXPECT_EQ(report->layout, "given");
  const std::string json = report->json();
  for (const char* key : {"reached", "deliveries", "collisions", "weak", "drops", "sim_time_s", "cpu_s", "link_updates",
                          "events", "peak_mb", "latency_s", "p99", "state_hash"})
    EXPECT_NE(json.find(std::string("\"") + key + "\":"), std::string::npos) << key;
  EXPECT_EQ(json.front(), '{');
  EXPECT_EQ(json.back(), '}');
}

}  // namespace
}  // namespace volvox::net
