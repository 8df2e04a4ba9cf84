// Invalid input gives a clear error or a counted drop; nothing hangs or crashes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "volvox/net/scenarios/flood.h"
#include "volvox/net/test/recorder.h"

namespace volvox::net {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

template <class T>
void expect_error(const Result<T>& result, std::string_view about) {
  ASSERT_FALSE(result.ok()) << about;
  EXPECT_NE(result.error().text().find(about), std::string::npos) << result.error().text();
  EXPECT_FALSE(result.error().diagnostics()[0].fix.empty());
}

TEST(BadInput, ImpossibleOptions) {
  Network network;
  const NodeId node = network.add_node();
  const MediumId air = *network.add_medium();
  const auto radio = [&](auto change) {
    RadioOptions options;
    change(options);
    return network.add_radio(node, air, options, {});
  };
  expect_error(radio([](auto& o) { o.power_w = -1; }), "power");
  expect_error(radio([](auto& o) { o.power_w = nan; }), "power");
  expect_error(radio([](auto& o) { o.bit_rate = 0; }), "bit rate");
  expect_error(radio([](auto& o) { o.bandwidth_hz = -5; }), "bandwidth");
  expect_error(radio([](auto& o) { o.receive_threshold_w = 0; }), "receive threshold");
  expect_error(radio([](auto& o) { o.carrier_threshold_w = nan; }), "carrier threshold");
  expect_error(radio([](auto& o) { o.carrier_threshold_w = 1e-18; }), "carrier threshold");
  expect_error(radio([](auto& o) { o.capture_ratio = 0.5; }), "capture ratio");
  expect_error(radio([](auto& o) { o.window = 0; }), "window");
  expect_error(radio([](auto& o) { o.slot = Time{0}; }), "slot");
  expect_error(radio([](auto& o) { o.slot = Time{std::numeric_limits<std::int64_t>::max()}; }), "slot");
  expect_error(radio([](auto& o) { o.acknowledgement_timeout = Time{0}; }), "timeout");
  expect_error(radio([](auto& o) { o.retry_limit = 1000; }), "retry");
  expect_error(radio([](auto& o) { o.queue_limit = 0; }), "queue");
  expect_error(network.add_radio(node, air, {}, {nan, 0, 0}), "not finite");
  expect_error(network.add_radio(node, MediumId{}, {}, {}), "medium");
  expect_error(network.add_radio(NodeId{7, 0}, air, {}, {}), "node");
  expect_error(network.add_medium({.frequency_hz = 0}), "frequency");
  expect_error(network.add_medium({.frequency_hz = 1e9, .cull_radius = -1}), "culling");
  expect_error(network.add_wire(node, {.bit_rate = 0}), "bit rate");
  expect_error(network.add_wire(node, {.bit_rate = nan}), "bit rate");
  expect_error(network.add_wire(node, {.delay = Time{-1}}), "delay");
  expect_error(network.add_wire(node, {.timing = Timing::delayed, .capacity = 0}), "capacity");
  expect_error(network.add_bus({.bit_rate = infinite}), "bit rate");
  EXPECT_EQ(network.interfaces(), 0u);
}

TEST(BadInput, MisuseOfInterfaces) {
  Network network;
  const NodeId node = network.add_node();
  const MediumId air = *network.add_medium();
  const InterfaceId wire = *network.add_wire(node), other = *network.add_wire(node);
  const InterfaceId radio = *network.add_radio(node, air, {}, {}), port = *network.add_bus_port(node);
  const BusId can = *network.add_bus({}), serial = *network.add_bus({.kind = BusKind::serial});
  expect_error(network.plug(wire, radio), "not a wire");
  expect_error(network.plug(wire, wire), "itself");
  expect_error(network.plug(wire, InterfaceId{99, 0}), "not a wire");
  ASSERT_TRUE(network.plug(wire, other));
  expect_error(network.plug(wire, other), "already plugged");
  expect_error(network.unplug(radio), "not a wire");
  expect_error(network.join_bus(wire, can), "not a bus");
  expect_error(network.join_bus(port, BusId{}), "no such bus");
  expect_error(network.join_bus(port, can, true), "no master");
  ASSERT_TRUE(network.join_bus(port, serial, true));
  expect_error(network.join_bus(port, can), "already on a bus");
  expect_error(network.poll(wire, port), "not the master");
  expect_error(network.poll(port, wire), "not a bus");
  expect_error(network.switch_radio(wire, false), "not a radio");
  expect_error(network.move_radio(radio, {0, infinite, 0}), "not finite");
  expect_error(network.move_radio(wire, {}), "not a radio");

  expect_error(network.send(InterfaceId{}, {}), "no interface");
  expect_error(network.send(InterfaceId{1234, 0}, {}), "no interface");
  expect_error(network.send(radio, {.payload = zeros(128)}), "over the limit");
  expect_error(network.send(radio, {.destination = InterfaceId{55, 0}}), "does not exist");
  expect_error(network.send(port, {.identifier = 0xffffffff}), "29 bits");
  ASSERT_TRUE(network.run(Time{1000}));
  expect_error(network.send(wire, {.at = Time{999}}), "cannot be sent");
  expect_error(network.set_timer(node, Time{999}, 0), "timer");
  expect_error(network.run(Time{std::numeric_limits<std::int64_t>::max()}), "clock");
}

TEST(BadInput, ACallbackThatFillsItsQueueOnlyDrops) {
  Network network;
  Recorder recorder;
  network.set_listener(&recorder);
  const NodeId a = network.add_node(), b = network.add_node();
  const InterfaceId from = *network.add_wire(a, {.bit_rate = 8e3, .queue_limit = 5});
  const InterfaceId to = *network.add_wire(b, {.bit_rate = 8e3, .queue_limit = 5});
  ASSERT_TRUE(network.plug(from, to));
  recorder.on_receive = [](Network& n, const Reception& r) {
    while (n.send(r.interface, {.payload = r.payload})->status == SendStatus::accepted) continue;
  };
  ASSERT_TRUE(network.send(from, {.payload = zeros(1)}));
  ASSERT_TRUE(network.run(Time::seconds(0.1)));
  EXPECT_GT(network.counters().queue_drops, 100u);
  EXPECT_LE(network.queued(from), 5u);
}

TEST(BadInput, AbsurdRatesDoNotOverflowTheClock) {
  Network network;
  const NodeId a = network.add_node(), b = network.add_node();
  const InterfaceId from = *network.add_wire(a, {.bit_rate = 1e-300}), to = *network.add_wire(b, {.bit_rate = 1e-300});
  ASSERT_TRUE(network.plug(from, to));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(network.send(from, {.payload = zeros(1000)}));
  ASSERT_TRUE(network.run(Time{4'000'000'000'000'000'000}));
}

TEST(BadInput, Floods) {
  expect_error(run_flood({.nodes = 0}), "0 nodes");
  expect_error(run_flood({.nodes = 10, .source = 10}), "source");
  expect_error(run_flood({.nodes = 10, .mode = FloodMode::wired, .layout = FloodLayout::random}), "grid");
  expect_error(run_flood({.nodes = 10, .power_w = -1}), "power");
  expect_error(run_flood({.nodes = 10, .bit_rate = 0}), "rate");
  expect_error(run_flood({.nodes = 10, .spacing = -1}), "positive");
  expect_error(parse_flood_mode("fast"), "fast");
  expect_error(run_flood({.dimension = 4}), "dimensions");
  expect_error(run_flood({.range_spacings = -1}), "range");
  expect_error(parse_flood_layout("ring"), "ring");
  for (const FloodMode mode : {FloodMode::exact, FloodMode::culled, FloodMode::wired})
    ASSERT_TRUE(run_flood({.nodes = 1, .mode = mode}));
}

}  // namespace
}  // namespace volvox::net
