// Buses of organisms and of the world.
#include "volvox/base/index.h"
#include "volvox/exchange/exchange.h"

#include <gtest/gtest.h>

#include "network_fixture.h"

namespace volvox::mind {
namespace {

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
  auto builder = chain_of(4, with_bus());
  ASSERT_TRUE(theatre.open(builder).ok());
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
        agent.send("bus", Bytes{narrow<std::uint8_t>(agent.address())},
                   {.priority = narrow<std::uint32_t>(10 - agent.address())});
    };
    b.on_receive = [&](Agent& agent, const Message& message) {
      if (agent.address() == 0) order.push_back(message.from);
      return true;
    };
  };
  auto builder = chain_of(4, with_bus());
  ASSERT_TRUE(theatre.open(builder).ok());
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
  auto builder = chain_of(3, with_bus(model::BusKind::serial, true));
  ASSERT_TRUE(theatre.open(builder).ok());
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
  model::WorldBuilder builder("two");
  builder.add(world::share(with_bus()), Pose{}, "a");
  builder.add(world::share(other), Pose{{1, 0, 0}, {}}, "b");
  const auto opened = theatre.open(builder);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().diagnostics()[0].line, 5);
  EXPECT_NE(opened.error().text().find("differs from the one of that name at actor.sdf:11"), std::string::npos)
      << opened.error().text();
}

// Modules that cannot dock share a bus of the world, but not a bus of an organism.
TEST(Exchange, ABusInAWorldWithoutDocks) {
  for (const model::BusScope scope : {model::BusScope::world, model::BusScope::organism}) {
    Theatre theatre;
    std::vector<std::string> heard;
    theatre.prepare = [&](Scripted& b) {
      b.on_step = [&](Agent& agent) {
        if (agent.name() == "m0" && theatre.now == 1) agent.send("bus", 1.0);
      };
      b.on_receive = [&](Agent& agent, const Message& message) {
        EXPECT_EQ(message.from, 0);
        heard.push_back(agent.name());
        return true;
      };
    };
    model::ModuleModel model = with_bus();
    model.docks.clear();
    model.buses[0].scope = scope;
    auto builder = spread({0, 1, 2}, model);
    ASSERT_TRUE(theatre.open(builder).ok());
    ASSERT_EQ(theatre.world->docks(), 0u);
    theatre.ticks(5);
    const bool shared = scope == model::BusScope::world;
    EXPECT_EQ(heard, shared ? (std::vector<std::string>{"m1", "m2"}) : std::vector<std::string>{});
    EXPECT_EQ(theatre.minds->agent(2).link("bus").up, shared);
  }
}

}  // namespace
}  // namespace volvox::mind
