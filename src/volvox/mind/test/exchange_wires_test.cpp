// Wires through docks: they connect and disconnect with the docks.
#include "volvox/exchange/exchange.h"

#include <gtest/gtest.h>

#include <map>

#include "network_fixture.h"

namespace volvox::mind {
namespace {

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
  auto builder = chain_of(2, model);
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(4);
  using Reads = std::vector<std::pair<std::int64_t, std::uint32_t>>;
  EXPECT_EQ(read_at, (Reads{{1, 0}, {1, 1}, {2, 2}, {2, 3}}));
}

// A frame in flight is lost when the docks release, and its sender is informed.
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
  auto builder = chain_of(2, wired());
  ASSERT_TRUE(theatre.open(builder).ok());
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
  ASSERT_TRUE(early.open(builder = chain_of(2, wired())).ok());
  early.ticks(4);
  EXPECT_EQ(received, 0);
  EXPECT_EQ(early.minds->exchange()->network().counters().unplugged, 1u);
  EXPECT_EQ(early.minds->agent(0).link("east").lost, 1);
}

// A link follows its dock.
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
  auto builder = spread({0, 0.1, 5}, wired(1e6));
  builder.connect("m0.east", "m1.west");
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(25);
  EXPECT_EQ(heard.back(), "m1");
  // A hand takes m1 away and puts m2 in its place.
  theatre.world->place_link(1, Pose{{9, 0, 0}, {}}, {});
  theatre.world->place_link(2, Pose{{0.1, 0, 0}, {}}, {});
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
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0") agent.send("down", 1.0);
    };
    b.on_receive = [&](Agent&, const Message&) { return ++received > 0; };
  };
  model::ModuleModel weak = wired(1e6), base = wired(1e6);
  for (model::Dock& dock : weak.docks) dock.strength.axial = 1;  // N; a cube weighs ten times as much
  base.fixed_in_place = true;
  model::WorldBuilder builder("hanging");
  builder.add(world::share(base), Pose{{0, 0, 2}, {}}, "m0");
  builder.add(world::share(weak), std::nullopt, "m1");
  builder.connect("m0.down", "m1.up");
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(30);
  EXPECT_EQ(theatre.world->docks_broken(), 1);
  EXPECT_GT(received, 0);
  EXPECT_LT(received, 10);
  EXPECT_FALSE(theatre.minds->agent(0).link("down").up);
  EXPECT_EQ(theatre.minds->network().sent, theatre.minds->network().delivered + theatre.minds->network().lost);
}

// Docks without a wire stay ideal when other docks of the module have one.
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
  auto builder = chain_of(3, model);
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(6);
  EXPECT_EQ(heard["m0"], (std::vector<Time>{theatre.dt.start_of(4)}));
  EXPECT_TRUE(heard["m2"].empty()) << "a wire that ends at a dock without one carries nothing";
  EXPECT_EQ(theatre.minds->network().lost, 1);
}

}  // namespace
}  // namespace volvox::mind
