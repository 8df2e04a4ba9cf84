#include <gtest/gtest.h>

#include <limits>

#include "volvox/base/index.h"
#include "volvox/net/test/recorder.h"

namespace volvox::net {
namespace {

struct Pair {
  Network network;
  Recorder recorder;
  NodeId a, b;
  InterfaceId wire_a, wire_b;

  explicit Pair(const WireOptions& options) {
    a = network.add_node(), b = network.add_node();
    wire_a = *network.add_wire(a, options), wire_b = *network.add_wire(b, options);
    EXPECT_TRUE(network.plug(wire_a, wire_b));
    network.set_listener(&recorder);
  }
};

TEST(Wire, FiftyThreeBytesTakeTheirBitsOverTheRate) {
  for (const auto& [rate, expected_ns] : {std::pair{6e3, 70'666'667}, {6e6, 70'667}}) {
    Pair pair({.bit_rate = rate});
    ASSERT_TRUE(pair.network.send(pair.wire_a, {.payload = zeros(53)}));
    ASSERT_TRUE(pair.network.run(Time::seconds(1)));
    ASSERT_EQ(pair.recorder.heard.size(), 1u);
    EXPECT_EQ(pair.recorder.heard[0].at.ns, expected_ns);
    EXPECT_EQ(pair.recorder.heard[0].interface, pair.wire_b.index);
  }
}

TEST(Wire, IsFirstInFirstOutAndFullDuplex) {
  Pair pair({.bit_rate = 8e3, .delay = Time{500'000'000}});  // 1 byte a millisecond
  for (const char* text : {"one", "two!"}) ASSERT_TRUE(pair.network.send(pair.wire_a, {.payload = bytes_of(text)}));
  ASSERT_TRUE(pair.network.send(pair.wire_b, {.payload = bytes_of("back")}));
  ASSERT_TRUE(pair.network.run(Time::seconds(1)));
  ASSERT_EQ(pair.recorder.heard.size(), 3u);
  EXPECT_EQ(pair.recorder.heard[0].text, "one");
  EXPECT_EQ(pair.recorder.heard[0].at.ns, 503'000'000);
  EXPECT_EQ(pair.recorder.heard[1].text, "back");
  EXPECT_EQ(pair.recorder.heard[1].at.ns, 504'000'000);
  // The second is on its way while the first still flies.
  EXPECT_EQ(pair.recorder.heard[2].text, "two!");
  EXPECT_EQ(pair.recorder.heard[2].at.ns, 507'000'000);
}

TEST(Wire, RunsUpToButNotIncludingItsEnd) {
  Pair pair({.bit_rate = 8e3});
  ASSERT_TRUE(pair.network.send(pair.wire_a, {.payload = zeros(10)}));
  ASSERT_TRUE(pair.network.run(Time{10'000'000}));
  EXPECT_TRUE(pair.recorder.heard.empty());
  EXPECT_EQ(pair.network.now(), (Time{10'000'000}));
  ASSERT_TRUE(pair.network.run(Time{10'000'001}));
  EXPECT_EQ(pair.recorder.heard.size(), 1u);
}

TEST(Wire, UnpluggedInMidFrameLosesAndCountsIt) {
  Pair pair({.bit_rate = 8e3});
  const auto cut = pair.network.send(pair.wire_a, {.payload = zeros(10)});
  const auto waits = pair.network.send(pair.wire_a, {.payload = zeros(10)});
  ASSERT_TRUE(pair.network.run(Time{5'000'000}));
  ASSERT_TRUE(pair.network.unplug(pair.wire_b));
  ASSERT_TRUE(pair.network.run(Time::seconds(1)));
  EXPECT_TRUE(pair.recorder.heard.empty());
  EXPECT_EQ(pair.network.counters().unplugged, 2u);
  ASSERT_EQ(pair.recorder.reports.size(), 2u);
  EXPECT_EQ(pair.recorder.reports[0].frame, cut->frame);
  EXPECT_EQ(pair.recorder.reports[0].fate, Fate::unplugged);
  EXPECT_EQ(pair.recorder.reports[1].frame, waits->frame);
  EXPECT_EQ(pair.network.send(pair.wire_a, {.payload = zeros(1)})->status, SendStatus::unplugged);

  // A new link starts clean, and the end of the frame that was cut does not disturb it.
  ASSERT_TRUE(pair.network.plug(pair.wire_a, pair.wire_b));
  ASSERT_TRUE(pair.network.send(pair.wire_a, {.payload = bytes_of("new")}));
  ASSERT_TRUE(pair.network.run(Time::seconds(2)));
  ASSERT_EQ(pair.recorder.heard.size(), 1u);
  EXPECT_EQ(pair.recorder.heard[0].at.ns, 1'003'000'000);
}

TEST(Wire, UnpluggedLosesWhatStillFlies) {
  Pair pair({.bit_rate = 8e3, .delay = Time{100'000'000}});
  ASSERT_TRUE(pair.network.send(pair.wire_a, {.payload = zeros(10)}));
  ASSERT_TRUE(pair.network.run(Time{50'000'000}));
  ASSERT_TRUE(pair.network.unplug(pair.wire_a));
  ASSERT_TRUE(pair.network.run(Time::seconds(1)));
  EXPECT_TRUE(pair.recorder.heard.empty());
  EXPECT_EQ(pair.network.counters().unplugged, 1u);
}

TEST(Wire, LiveCallbacksAnswerSeveralTimesWithinOneTick) {
  Pair pair({.bit_rate = 8e6});  // 1 byte a microsecond
  pair.recorder.on_receive = [&](Network& network, const Reception& r) {
    if (pair.recorder.heard.size() < 6) {
      ASSERT_TRUE(network.send(r.interface, {.payload = r.payload}));
    }
  };
  ASSERT_TRUE(pair.network.send(pair.wire_a, {.payload = bytes_of("ping")}));
  ASSERT_TRUE(pair.network.run(Time::seconds(1.0 / 60)));
  ASSERT_EQ(pair.recorder.heard.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(pair.recorder.heard[i].at.ns, 4000 * (narrow<std::int64_t>(i) + 1));
    EXPECT_EQ(pair.recorder.heard[i].interface, i % 2 == 0 ? pair.wire_b.index : pair.wire_a.index);
    EXPECT_EQ(pair.recorder.heard[i].text, "ping");
  }
}

TEST(Wire, DelayedTimingDeliversInTheNextTickAndKeepsItsCapacity) {
  Pair pair({.timing = Timing::delayed, .capacity = 10});
  Network& network = pair.network;
  const Time tick{10'000'000};
  network.begin_tick();
  for (const char* text : {"aaaa", "bbbb", "cccc"}) ASSERT_TRUE(network.send(pair.wire_a, {.payload = bytes_of(text)}));
  ASSERT_TRUE(network.run(tick));
  EXPECT_TRUE(pair.recorder.heard.empty());
  EXPECT_FALSE(network.quiet());  // no event is pending, but the next tick has work

  network.begin_tick();
  ASSERT_TRUE(network.run(tick + tick));
  ASSERT_EQ(pair.recorder.heard.size(), 2u);  // eight bytes; two of "cccc" went ahead
  EXPECT_EQ(pair.recorder.heard[0].text, "aaaa");
  EXPECT_EQ(pair.recorder.heard[1].at, tick);

  network.begin_tick();
  ASSERT_TRUE(network.run(tick + tick + tick));
  ASSERT_EQ(pair.recorder.heard.size(), 3u);
  EXPECT_EQ(pair.recorder.heard[2].text, "cccc");
  EXPECT_EQ(pair.recorder.heard[2].at, tick + tick);
  EXPECT_TRUE(network.quiet());
}

TEST(Wire, ABigMessageHoldsTheDelayedLinkForAsManyTicksAsItNeeds) {
  Pair pair({.timing = Timing::delayed, .capacity = 10});
  Network& network = pair.network;
  ASSERT_TRUE(network.send(pair.wire_a, {.payload = zeros(35)}));
  ASSERT_TRUE(network.send(pair.wire_a, {.payload = bytes_of("after")}));
  std::vector<std::size_t> heard;
  for (int tick = 1; tick <= 5; ++tick) {
    ASSERT_TRUE(network.run(Time{tick * 1000}));
    network.begin_tick();
    ASSERT_TRUE(network.run(Time{tick * 1000 + 1}));
    heard.push_back(pair.recorder.heard.size());
  }
  // 10 + 10 + 10 + 5 bytes, and "after" uses the rest of the fourth tick's ten.
  EXPECT_EQ(heard, (std::vector<std::size_t>{0, 0, 0, 2, 2}));
}

TEST(Wire, FullQueueDropsAndCounts) {
  Pair pair({.bit_rate = 8, .queue_limit = 2});
  std::vector<SendStatus> statuses;
  for (int i = 0; i < 5; ++i) statuses.push_back(pair.network.send(pair.wire_a, {.payload = zeros(1)})->status);
  // One is on the wire, two wait.
  EXPECT_EQ(statuses, (std::vector{SendStatus::accepted, SendStatus::accepted, SendStatus::accepted,
                                   SendStatus::queue_full, SendStatus::queue_full}));
  EXPECT_EQ(pair.network.counters().queue_drops, 2u);
}

TEST(Wire, ACallbackThatAnswersForEverAtOneInstantIsAnError) {
  Pair pair({.bit_rate = std::numeric_limits<double>::infinity()});
  pair.recorder.on_receive = [](Network& network, const Reception& r) {
    ASSERT_TRUE(network.send(r.interface, {.payload = r.payload}));
  };
  ASSERT_TRUE(pair.network.send(pair.wire_a, {.payload = zeros(4)}));
  const auto ran = pair.network.run(Time::seconds(1));
  ASSERT_FALSE(ran);
  EXPECT_NE(ran.error().text().find("at one instant"), std::string::npos) << ran.error().text();
  EXPECT_EQ(pair.network.now().ns, 0);
}

TEST(Wire, ATimerSetForNowForEverIsAnError) {
  Pair pair({});
  pair.recorder.on_timer = [](Network& network, NodeId node, std::uint64_t token) {
    ASSERT_TRUE(network.set_timer(node, network.now(), token));
  };
  ASSERT_TRUE(pair.network.set_timer(pair.a, Time{5}, 7));
  EXPECT_FALSE(pair.network.run(Time::seconds(1)));
}

TEST(Wire, ACallbackCannotRunTheNetwork) {
  Pair pair({});
  pair.recorder.on_receive = [](Network& network, const Reception&) {
    EXPECT_FALSE(network.run(network.now() + Time{5}));
  };
  ASSERT_TRUE(pair.network.send(pair.wire_a, {.payload = zeros(4)}));
  ASSERT_TRUE(pair.network.run(Time::seconds(1)));
  EXPECT_EQ(pair.recorder.heard.size(), 1u);
}

TEST(Wire, MessagesCanBeSentLaterAndTimersFire) {
  Pair pair({.bit_rate = 8e9});
  ASSERT_TRUE(
      pair.network.send(pair.wire_a, {.payload = bytes_of("late"), .port = 3, .at = Time{1000}, .report = true}));
  ASSERT_TRUE(pair.network.set_timer(pair.b, Time{500}, 42));
  ASSERT_TRUE(pair.network.run(Time{2000}));
  ASSERT_EQ(pair.recorder.heard.size(), 1u);
  EXPECT_EQ(pair.recorder.heard[0].at.ns, 1004);
  EXPECT_EQ(pair.recorder.heard[0].port, 3);
  EXPECT_EQ(pair.recorder.timers, (std::vector{std::pair{Time{500}, std::uint64_t{42}}}));
  ASSERT_EQ(pair.recorder.reports.size(), 1u);
  EXPECT_EQ(pair.recorder.reports[0].fate, Fate::sent);
  EXPECT_FALSE(pair.network.send(pair.wire_a, {.payload = {}, .at = Time{1999}}));
}

}  // namespace
}  // namespace volvox::net
