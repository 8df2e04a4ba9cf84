// Modules that talk over the discrete-event network.
#include "volvox/mind/exchange.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fixture.h"
#include "volvox/net/power.h"

namespace volvox::mind {
namespace {

struct Packet {  // 45 bytes; with the mark of its type 53, as in seed 001
  std::uint32_t number = 0;
  std::array<std::uint8_t, 41> filler{};
};
VOLVOX_TYPE(Packet, number, filler)

constexpr std::int64_t packet_ns = 70'666'667;  // 53 bytes at 6 kb/s

model::ModuleModel wired(double bit_rate = 6000) {
  model::ModuleModel model = actor();
  for (std::size_t d = 0; d < model.docks.size(); ++d) {
    model::Wire wire;
    wire.dock = static_cast<int>(d);
    wire.bit_rate = bit_rate;
    wire.line = 7;
    model.wires.push_back(wire);
  }
  return model;
}

model::ModuleModel with_radio(model::ModuleModel model = actor()) {
  model::Radio radio;
  radio.name = "radio";
  radio.bit_rate = 6000;
  radio.window = 1;  // no backoff: times are exact
  radio.slot = 1e-3;
  radio.line = 9;
  // Heard up to 10 m at 2.4 GHz: far above the noise, so that only distance matters.
  radio.receive_threshold = 1e-3 * net::Friis(2.4e9).gain({}, {10, 0, 0});
  radio.carrier_threshold = radio.receive_threshold;
  model.radios.push_back(radio);
  return model;
}

model::ModuleModel with_bus(model::BusKind kind = model::BusKind::can, bool master = false) {
  model::ModuleModel model = actor();
  model::Bus bus;
  bus.name = "bus";
  bus.kind = kind;
  bus.master = master;
  bus.line = 11;
  model.buses.push_back(bus);
  return model;
}

model::SceneBuilder chain_of(int count, model::ModuleModel model) {
  model::SceneBuilder scene("chain");
  scene.set_gravity({});
  scene.add_chain(world::share(std::move(model)), count, "east", "west", 0, Pose{}, "m");
  return scene;
}

// Modules in a row along x that are not docked.
model::SceneBuilder spread(const std::vector<double>& places, model::ModuleModel model) {
  model::SceneBuilder scene("spread");
  scene.set_gravity({});
  const auto shared = world::share(std::move(model));
  for (std::size_t i = 0; i < places.size(); ++i) scene.add(shared, Pose{{places[i], 0, 0}, {}}, "m" + std::to_string(i));
  return scene;
}

struct Heard {
  std::string module;
  Time at;
  std::uint32_t number = 0;
  friend bool operator==(const Heard&, const Heard&) = default;
};
void PrintTo(const Heard& h, std::ostream* out) { *out << h.module << " at " << h.at.ns << " ns: " << h.number; }

TEST(Exchange, ThereIsNoneWithoutInterfaces) {
  Theatre theatre;
  auto scene = chain_of(2, actor());
  ASSERT_TRUE(theatre.open(scene).ok());
  EXPECT_EQ(theatre.minds->exchange(), nullptr);
}

// Seed 001: live callbacks, so that small messages go back and forth within one tick.
TEST(Exchange, AnswersComeAndGoWithinATick) {
  Theatre theatre;
  theatre.dt = TickLength{1, 1};
  std::vector<Heard> heard;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0" && theatre.now == 0) agent.send("east", Packet{0, {}});
    };
    b.on_receive = [&](Agent& agent, const Message& message) {
      EXPECT_EQ(agent.time(), message.arrived.seconds()) << "its clock shows the exact time";
      heard.push_back({agent.name(), message.arrived, message.as<Packet>()->number});
      agent.send(agent.where(message), Packet{message.as<Packet>()->number + 1, {}});
      return true;
    };
  };
  auto scene = chain_of(2, wired());
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(1);
  ASSERT_EQ(heard.size(), 14u);  // 1 s holds 14 frames of 70.667 ms
  theatre.ticks(1);
  ASSERT_EQ(heard.size(), 28u) << "the frame on the way at the tick's end arrived in the next";
  for (std::size_t i = 0; i < heard.size(); ++i)
    EXPECT_EQ(heard[i], (Heard{i % 2 == 0 ? "m1" : "m0", Time{static_cast<std::int64_t>(i + 1) * packet_ns}, static_cast<std::uint32_t>(i)}));
}

// The length of a tick does not change when anything happens.
TEST(Exchange, TicksDoNotMatter) {
  std::vector<std::vector<Heard>> histories;
  for (const TickLength dt : {TickLength{1, 60}, TickLength{1, 7}, TickLength{2, 1}}) {
    Theatre theatre;
    theatre.dt = dt;
    auto& heard = histories.emplace_back();
    theatre.prepare = [&](Scripted& b) {
      b.on_start = [](Agent& agent) { if (agent.name() == "m0") agent.send("radio", Packet{}); };
      b.on_receive = [&](Agent& agent, const Message& message) {
        heard.push_back({agent.name(), message.arrived, message.as<Packet>()->number});
        if (heard.size() < 40) agent.send("radio", Packet{message.as<Packet>()->number + 1, {}});
        return true;
      };
    };
    auto model = with_radio();
    model.radios[0].window = 30;
    auto scene = spread({0, 3, 7}, model);
    ASSERT_TRUE(theatre.open(scene).ok());
    theatre.ticks(static_cast<int>(std::ceil(2 / dt.seconds())));
  }
  ASSERT_GT(histories[0].size(), 10u);
  EXPECT_EQ(histories[0], histories[1]);
  EXPECT_EQ(histories[0], histories[2]);
}

TEST(Exchange, DelayedWiresCarryTheirCapacityInATick) {
  Theatre theatre;
  std::vector<std::pair<std::int64_t, std::uint32_t>> read_at;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0" && theatre.now == 0)
        for (std::uint32_t i = 0; i < 4; ++i) agent.send("east", Packet{i, {}});
    };
    b.on_receive = [&](Agent&, const Message& message) {
      EXPECT_EQ(message.arrived, theatre.dt.start_of(theatre.now));
      read_at.push_back({theatre.now, message.as<Packet>()->number});
      return true;
    };
  };
  model::ModuleModel model = wired();
  for (model::Wire& wire : model.wires) {
    wire.timing = model::WireTiming::delayed;
    wire.capacity = 106;  // two packets a tick
  }
  auto scene = chain_of(2, model);
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(4);
  using Reads = std::vector<std::pair<std::int64_t, std::uint32_t>>;
  EXPECT_EQ(read_at, (Reads{{1, 0}, {1, 1}, {2, 2}, {2, 3}}));
}

// A frame that is on its way when the docks let go is lost, and its sender knows.
TEST(Exchange, UndockingCutsWhatIsOnTheWay) {
  Theatre theatre;
  theatre.dt = TickLength{1, 20};  // a packet takes a tick and a half
  int received = 0;
  std::vector<bool> up;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() != "m0") return;
      up.push_back(agent.link("east").up);
      if (theatre.now == 0) agent.send("east", Packet{});
      if (theatre.now == 1) agent.disable_dock("east");  // takes effect in this tick
      if (theatre.now == 3) agent.send("east", Packet{});
    };
    b.on_receive = [&](Agent&, const Message&) { return ++received > 0; };
  };
  // The frame ends at 70.7 ms, within tick 1: links stay as they were at its start.
  auto scene = chain_of(2, wired());
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(5);
  EXPECT_EQ(received, 1);
  EXPECT_EQ(up, (std::vector<bool>{true, true, false, false, false}));
  EXPECT_EQ(theatre.minds->agent(0).link("east").lost, 1) << "what it sent afterwards had no link";

  Theatre early;
  early.dt = theatre.dt;
  received = 0;
  early.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() != "m0") return;
      if (early.now == 0) agent.send("east", Packet{}), agent.disable_dock("east");
    };
    b.on_receive = [&](Agent&, const Message&) { return ++received > 0; };
  };
  ASSERT_TRUE(early.open(scene = chain_of(2, wired())).ok());
  early.ticks(4);
  EXPECT_EQ(received, 0);
  EXPECT_EQ(early.minds->exchange()->network().counters().unplugged, 1u);
  EXPECT_EQ(early.minds->agent(0).link("east").lost, 1);
}

// A dock link goes where the dock goes.
TEST(Exchange, LinksFollowTheDocks) {
  Theatre theatre;
  std::vector<std::string> heard;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0") agent.send("east", 1.0);
      if (agent.name() == "m1" && theatre.now == 20) agent.disable_dock("west");
    };
    b.on_receive = [&](Agent& agent, const Message&) {
      heard.push_back(agent.name());
      return true;
    };
  };
  auto scene = spread({0, 0.1, 5}, wired(1e6));
  scene.connect("m0.east", "m1.west");
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(25);
  EXPECT_EQ(heard.back(), "m1");
  // A hand takes m1 away and puts m2 in its place.
  auto& engine = theatre.world->engine();
  engine.set_body(theatre.world->body(1), Pose{{9, 0, 0}, {}}, {});
  engine.set_body(theatre.world->body(2), Pose{{0.1, 0, 0}, {}}, {});
  heard.clear();
  theatre.ticks(40);
  ASSERT_FALSE(heard.empty());
  EXPECT_EQ(heard.front(), "m2");
  EXPECT_EQ(heard.back(), "m2");
}

TEST(Exchange, BreakageCutsTheLink) {
  Theatre theatre;
  int received = 0;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) { if (agent.name() == "m0") agent.send("down", 1.0); };
    b.on_receive = [&](Agent&, const Message&) { return ++received > 0; };
  };
  model::ModuleModel weak = wired(1e6), base = wired(1e6);
  for (model::Dock& dock : weak.docks) dock.strength.axial = 1;  // N; a cube weighs ten times as much
  base.fixed_in_place = true;
  model::SceneBuilder scene("hanging");
  scene.add(world::share(base), Pose{{0, 0, 2}, {}}, "m0");
  scene.add(world::share(weak), std::nullopt, "m1");
  scene.connect("m0.down", "m1.up");
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(30);
  EXPECT_EQ(theatre.world->docks_broken(), 1);
  EXPECT_GT(received, 0);
  EXPECT_LT(received, 10);
  EXPECT_FALSE(theatre.minds->agent(0).link("down").up);
  EXPECT_EQ(theatre.minds->network().sent, theatre.minds->network().delivered + theatre.minds->network().lost);
}

// Docks without a wire stay ideal beside those that have one.
TEST(Exchange, TheIdealNetworkStaysBesideIt) {
  Theatre theatre;
  std::map<std::string, std::vector<Time>> heard;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() != "m1" || theatre.now != 3) return;
      agent.send("east", 1.0);
      agent.send("west", 1.0);
    };
    b.on_receive = [&](Agent& agent, const Message& message) {
      heard[agent.name()].push_back(message.arrived);
      return true;
    };
  };
  model::ModuleModel model = wired(1e6);
  std::erase_if(model.wires, [](const model::Wire& w) { return w.dock != 0 && w.dock != 1; });  // east and west
  model.wires[0].dock = 0;
  model.wires.resize(1);  // east only: m1 sends by wire to m2, whose west dock has none
  auto scene = chain_of(3, model);
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(6);
  EXPECT_EQ(heard["m0"], (std::vector<Time>{theatre.dt.start_of(4)}));
  EXPECT_TRUE(heard["m2"].empty()) << "a wire that ends at a dock without one carries nothing";
  EXPECT_EQ(theatre.minds->network().lost, 1);
}

TEST(Exchange, RadioReachesThoseInRange) {
  Theatre theatre;
  std::map<std::string, Message> heard;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) { if (agent.name() == "m0" && theatre.now == 0) agent.send("radio", Packet{}); };
    b.on_receive = [&](Agent& agent, const Message& message) {
      heard[agent.name()] = message;
      return true;
    };
  };
  auto scene = spread({0, 3, 9.9, 10.1}, with_radio());
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(10);
  ASSERT_EQ(heard.size(), 2u);
  const double expected = 1e-3 * net::Friis(2.4e9).gain({}, {3, 0, 0});
  EXPECT_NEAR(heard["m1"].power, expected, 1e-6 * expected);
  EXPECT_EQ(heard["m1"].from, 0);
  EXPECT_EQ(heard["m1"].arrived, Time{packet_ns});
  const Signal& signal = theatre.minds->agent(1).signal("radio");
  EXPECT_NEAR(signal.last_dbm, net::dbm(expected), 1e-3);
  EXPECT_EQ(signal.last_from, 0);
  EXPECT_EQ(signal.received, 1);
  EXPECT_FALSE(signal.busy);
  EXPECT_NEAR(signal.level_dbm, net::dbm(net::thermal_noise_w(2e6)), 0.1);
  EXPECT_EQ(theatre.minds->agent(3).signal("radio").last_dbm, Signal::silence);
}

TEST(Exchange, TheCarrierIsAPercept) {
  Theatre theatre;
  std::vector<bool> busy;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0" && theatre.now == 0) agent.send("radio", Packet{});
      if (agent.name() == "m1") busy.push_back(agent.signal("radio").busy);
    };
  };
  auto scene = spread({0, 3}, with_radio());
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(7);  // the frame is on the air for 4.24 ticks
  EXPECT_EQ(busy, (std::vector<bool>{false, true, true, true, true, false, false}));
}

// Positions are those of the start of the tick.
TEST(Exchange, RadiosMoveWithTheirModules) {
  Theatre theatre;
  int received = 0;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) { if (agent.name() == "m0") agent.send("radio", 1.0); };
    b.on_receive = [&](Agent&, const Message&) { return ++received > 0; };
  };
  auto model = with_radio();
  model.radios[0].bit_rate = 1e6;
  auto scene = spread({0, 20}, model);
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(3);
  EXPECT_EQ(received, 0);
  theatre.world->engine().set_body(theatre.world->body(1), Pose{{5, 0, 0}, {}}, {});
  theatre.ticks(3);
  EXPECT_EQ(received, 3);
}

TEST(Exchange, AddressedFramesAreForOne) {
  Theatre theatre;
  std::vector<std::string> heard;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0" && theatre.now == 0) agent.send("radio", Packet{}, {.to = 2});
    };
    b.on_receive = [&](Agent& agent, const Message& message) {
      heard.push_back(agent.name());
      if (agent.address() == 2) agent.send("radio", Packet{}, {.to = message.from});
      return true;
    };
  };
  auto scene = spread({0, 2, 4}, with_radio());
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(20);
  EXPECT_EQ(heard, (std::vector<std::string>{"m2", "m0"}));
}

TEST(Exchange, BytesTravelWithoutAMark) {
  Theatre theatre;
  std::optional<Bytes> got;
  Time at;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) { if (agent.name() == "m0" && theatre.now == 0) agent.send("east", Bytes(53, 7)); };
    b.on_receive = [&](Agent&, const Message& message) {
      got = message.as<Bytes>();
      at = message.arrived;
      return true;
    };
  };
  auto scene = chain_of(2, wired());
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(6);
  EXPECT_EQ(got, Bytes(53, 7));
  EXPECT_EQ(at, Time{packet_ns});
}

// --- several behaviours on one module ------------------------------------------------------

struct Sees {
  std::vector<int> mailboxes;
};
VOLVOX_TYPE(Sees, mailboxes)

class Clerk : public Behavior {
 public:
  void start(Agent& agent) override {
    const int first = agent.parameter("first", 10);
    for (int box = 1; box <= agent.parameter("boxes", 0); ++box) agent.open(static_cast<MailboxNumber>(first + box));
    spoke_ = !agent.parameter("speaks", false) || agent.name() != "m0";
  }
  void step(Agent& agent) override {
    if (!spoke_)
      for (const int box : {0, 11, 12, 21, 99}) agent.send("east", 1.0, {.mailbox = static_cast<MailboxNumber>(box)});
    spoke_ = true;
    while (const auto message = agent.read()) agent.model<Sees>().mailboxes.push_back(100 + message->mailbox);
  }
  bool receive(Agent& agent, const Message& message) override {
    if (message.mailbox == 12) return false;  // waits to be read
    agent.model<Sees>().mailboxes.push_back(message.mailbox);
    return true;
  }
  VOLVOX_STATE(spoke_)

 private:
  bool spoke_ = false;
};

class TwoClerks : public testing::TestWithParam<bool> {};

TEST_P(TwoClerks, HaveTheirOwnMailboxesAndModels) {
  Theatre theatre;
  theatre.registries.behaviors.add("clerk", [] { return std::make_unique<Clerk>(); });
  model::ModuleModel model = GetParam() ? wired(1e6) : actor();
  model.mind = model::Mind{"clerk", {{"speaks", "true"}, {"boxes", "2"}}, "f", 1, {model::Mind{"clerk", {{"first", "20"}, {"boxes", "1"}}, "f", 2}}};
  auto scene = chain_of(2, model);
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(3);
  // Of the two, the first has mailboxes 0, 11 and 12, the second 21; 99 is nobody's.
  Agent& agent = theatre.minds->agent(1);
  EXPECT_EQ(agent.model<Sees>().mailboxes, (std::vector<int>{0, 11, 112}));
  EXPECT_EQ(theatre.minds->network().sent, 5);
  EXPECT_EQ(theatre.minds->network().lost, 1);
  EXPECT_EQ(theatre.minds->network().delivered, 5);
}
INSTANTIATE_TEST_SUITE_P(OverBothNetworks, TwoClerks, testing::Bool());

TEST(Exchange, AMailboxIsOneBehaviors) {
  Theatre theatre;
  theatre.registries.behaviors.add("clerk", [] { return std::make_unique<Clerk>(); });
  model::ModuleModel model = actor();
  model.mind = model::Mind{"clerk", {{"boxes", "1"}}, "f", 1, {model::Mind{"clerk", {{"boxes", "1"}}, "f", 2}}};
  auto scene = chain_of(1, model);
  const auto opened = theatre.open(scene);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().text().find("mailbox 11, which is another behavior's"), std::string::npos) << opened.error().text();
}

// --- buses -----------------------------------------------------------------------------------

TEST(Exchange, ABusRunsThroughTheDocks) {
  Theatre theatre;
  std::vector<std::string> heard;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0" && (theatre.now == 1 || theatre.now == 10)) agent.send("bus", 1.0);
      if (agent.name() == "m1" && theatre.now == 5) agent.disable_dock("east");
    };
    b.on_receive = [&](Agent& agent, const Message& message) {
      EXPECT_EQ(message.from, 0);
      heard.push_back(agent.name());
      return true;
    };
  };
  auto scene = chain_of(4, with_bus());
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(5);
  EXPECT_EQ(heard, (std::vector<std::string>{"m1", "m2", "m3"}));
  EXPECT_TRUE(theatre.minds->agent(3).link("bus").up);
  heard.clear();
  theatre.ticks(10);
  EXPECT_EQ(heard, (std::vector<std::string>{"m1"})) << "the bus came apart with the organism";
}

TEST(Exchange, TheLowestPriorityNumberGoesFirst) {
  Theatre theatre;
  std::vector<int> order;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (theatre.now == 0 && agent.address() > 0)
        agent.send("bus", Bytes{static_cast<std::uint8_t>(agent.address())}, {.priority = static_cast<std::uint32_t>(10 - agent.address())});
    };
    b.on_receive = [&](Agent& agent, const Message& message) {
      if (agent.address() == 0) order.push_back(message.from);
      return true;
    };
  };
  auto scene = chain_of(4, with_bus());
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(3);
  EXPECT_EQ(order, (std::vector<int>{3, 2, 1}));
}

TEST(Exchange, AMasterPollsItsSlaves) {
  Theatre theatre;
  std::vector<std::string> heard;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (theatre.now == 0 && agent.address() == 2) agent.send("bus", Bytes{9}, {.to = 0});
      if (theatre.now == 2 && agent.address() == 0) agent.poll("bus", 2);
      if (theatre.now == 2 && agent.address() == 1) agent.poll("bus", 2);  // is not the master: refused and counted
    };
    b.on_receive = [&](Agent& agent, const Message& message) {
      heard.push_back(agent.name());
      EXPECT_GT(message.arrived, theatre.dt.start_of(2)) << "it waited to be polled";
      return true;
    };
  };
  auto scene = chain_of(3, with_bus(model::BusKind::serial, true));
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(6);
  EXPECT_EQ(heard, (std::vector<std::string>{"m0"}));
  EXPECT_EQ(theatre.minds->agent(1).link("bus").lost, 1);
}

TEST(Exchange, BusesOfOneNameMustAgree) {
  Theatre theatre;
  model::ModuleModel other = with_bus();
  other.buses[0].bit_rate = 1e6;
  other.file = "other.sdf";
  other.buses[0].line = 5;
  model::SceneBuilder scene("two");
  scene.add(world::share(with_bus()), Pose{}, "a");
  scene.add(world::share(other), Pose{{1, 0, 0}, {}}, "b");
  const auto opened = theatre.open(scene);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().diagnostics()[0].line, 5);
  EXPECT_NE(opened.error().text().find("differs from the one of that name at actor.sdf:11"), std::string::npos) << opened.error().text();
}

// --- what stands in the way ------------------------------------------------------------------

TEST(Exchange, BodiesBetweenDimTheSignal) {
  for (const double passes : {1.0, 0.25, 0.0}) {
    Theatre theatre;
    std::map<std::string, double> power;
    theatre.prepare = [&](Scripted& b) {
      b.on_step = [&](Agent& agent) { if (agent.name() == "m0" && theatre.now == 0) agent.send("radio", 1.0); };
      b.on_receive = [&](Agent& agent, const Message& message) { return (power[agent.name()] = message.power) > 0; };
    };
    auto scene = spread({0, 1, 2}, with_radio());
    scene.add(world::share(with_radio()), Pose{{0, 1, 0}, {}}, "beside");
    scene.add_channel({.name = "air", .passes_bodies = passes});
    ASSERT_TRUE(theatre.open(scene).ok());
    theatre.ticks(3);
    const auto free_space = [](double d) { return 1e-3 * net::Friis(2.4e9).gain({}, {d, 0, 0}); };
    EXPECT_NEAR(power["m1"], free_space(1), 1e-6 * free_space(1));
    EXPECT_NEAR(power["beside"], free_space(1), 1e-6 * free_space(1));
    EXPECT_NEAR(power["m2"], passes * free_space(2), 1e-6 * free_space(2)) << "m1 stands between";
  }
}

// --- what bad input gets -----------------------------------------------------------------------

std::string failure_of(model::SceneBuilder scene, const std::function<void(Agent&)>& step) {
  Theatre theatre;
  theatre.prepare = [&](Scripted& b) { b.on_step = step; };
  if (const auto opened = theatre.open(scene); !opened.ok()) return opened.error().text();
  for (int i = 0; i < 3; ++i)
    if (const MindFailure failure = theatre.tick(); !failure.ok()) return failure.module + ": " + failure.what;
  return {};
}

TEST(Exchange, MistakesNameTheModule) {
  const auto radio = [](auto step) { return failure_of(spread({0, 1}, with_radio()), step); };
  EXPECT_NE(radio([](Agent& a) { a.send("radio", Bytes(128)); }).find("m0: a message at 'radio' cannot be sent: a payload of 128 bytes"), std::string::npos);
  EXPECT_NE(radio([](Agent& a) { a.send("radoi", 1.0); }).find("did you mean 'radio'?"), std::string::npos);
  EXPECT_NE(radio([](Agent& a) { a.send("radio", 1.0, {.to = 2}); }).find("it sent to the address 2; the modules have the addresses 0 to 1"), std::string::npos);
  EXPECT_NE(radio([](Agent& a) { a.send("radio", 1.0, {.to = -7}); }).find("address -7"), std::string::npos);
  EXPECT_NE(radio([](Agent& a) { a.send("radio", 1.0, {.mailbox = 40000}); }).find("mailbox 40000"), std::string::npos);
  EXPECT_NE(radio([](Agent& a) { a.poll("radio", 1); }).find("polled"), std::string::npos);
  EXPECT_NE(failure_of(chain_of(2, with_bus()), [](Agent& a) { a.send("bus", 1.0, {.priority = 0x20000000}); }).find("29 bits"), std::string::npos);
  model::SceneBuilder mixed = spread({0}, with_radio());
  mixed.add(world::share(actor()), Pose{{1, 0, 0}, {}}, "deaf");
  EXPECT_NE(failure_of(std::move(mixed), [](Agent& a) { if (a.name() == "m0") a.send("radio", 1.0, {.to = 1}); }).find("that module has no radio there"), std::string::npos);
}

TEST(Exchange, BadOptionsNameFileAndLine) {
  const auto error = [](auto change) {
    model::ModuleModel model = with_radio(wired());
    change(model);
    Theatre theatre;
    auto scene = spread({0}, model);
    const auto opened = theatre.open(scene);
    return opened.ok() ? std::string() : opened.error().text();
  };
  EXPECT_EQ(error([](auto&) {}), "");
  EXPECT_NE(error([](auto& m) { m.radios[0].power = -1; }).find("actor.sdf:9: radio 'radio': the transmitting power in W is -1"), std::string::npos);
  EXPECT_NE(error([](auto& m) { m.wires[0].bit_rate = 0; }).find("actor.sdf:7: <volvox:wire>: the bit rate of the wire is 0"), std::string::npos);
  EXPECT_NE(error([](auto& m) { m.radios[0].carrier_threshold = 1e-30; }).find("busy for ever"), std::string::npos);
}

TEST(Exchange, WarnsOfWhatIsHardlyMeant) {
  Theatre theatre;
  auto scene = spread({0, 0.001}, with_radio());  // 1 mm apart: nearer than the far field of 2.4 GHz
  scene.add_channel({.name = "ari"});
  ASSERT_TRUE(theatre.open(scene).ok());
  const auto warnings = theatre.minds->exchange()->warnings(*theatre.world);
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].find("2 radios have another within"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[1].find("no radio uses the channel 'ari'"), std::string::npos) << warnings[1];
}

TEST(Exchange, CallbacksThatSendForEverAtOneInstantAreStopped) {
  Theatre theatre;
  theatre.prepare = [&](Scripted& b) {
    b.on_start = [](Agent& agent) { agent.broadcast(1.0); };
    b.on_receive = [](Agent& agent, const Message& message) {
      agent.send(agent.where(message), 1.0);
      return true;
    };
  };
  auto scene = chain_of(2, wired(std::numeric_limits<double>::infinity()));
  ASSERT_TRUE(theatre.open(scene).ok());
  const MindFailure failure = theatre.tick();
  EXPECT_FALSE(failure.ok());
  EXPECT_NE(failure.what.find("time does not pass"), std::string::npos) << failure.what;
}

TEST(Exchange, AFullQueueDropsAndCounts) {
  Theatre theatre;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0" && theatre.now == 0)
        for (int i = 0; i < 100; ++i) agent.send("radio", 1.0);
    };
  };
  auto scene = spread({0, 1}, with_radio());
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(2);
  EXPECT_EQ(theatre.minds->network().lost, 100 - 64);  // as many as wait
  EXPECT_EQ(theatre.minds->agent(0).signal("radio").lost, 36);
}

TEST(Exchange, NoiseActsOnFramesToo) {
  Theatre theatre;
  std::vector<Time> arrived;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) { if (agent.name() == "m0" && theatre.now == 0) agent.send("east", Packet{}); };
    b.on_receive = [&](Agent&, const Message& message) {
      arrived.push_back(message.arrived);
      return true;
    };
  };
  model::ModuleModel model = wired();
  model.message_noise["east"] = {{"delay", {{"ticks", "3"}}, 0}};
  auto scene = chain_of(2, model);
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.ticks(12);
  EXPECT_EQ(arrived, (std::vector<Time>{Time::seconds(3.0 / 60) + Time{packet_ns}}));
}

TEST(Exchange, FramesOfATickCanBeLookedAt) {
  Theatre theatre;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) { if (agent.name() == "m0" && theatre.now == 1) agent.send("east", 1.0); };
  };
  auto scene = chain_of(2, wired(1e6));
  ASSERT_TRUE(theatre.open(scene).ok());
  theatre.minds->keep_frames(true);
  std::vector<std::size_t> entries;
  for (int i = 0; i < 3; ++i) {
    theatre.ticks(1);
    entries.push_back(theatre.minds->exchange()->frames().entries().size());
  }
  EXPECT_EQ(entries, (std::vector<std::size_t>{0, 4, 0}));  // queued, start, end, received
  EXPECT_EQ(theatre.minds->exchange()->owner(0).agent, 0u);
}

}  // namespace
}  // namespace volvox::mind
