// Modules on the discrete-event network without minds: the tests implement the receiver.
#include "volvox/exchange/exchange.h"
#include "volvox/base/index.h"

#include <gtest/gtest.h>

#include "volvox/exchange/neighborhood.h"
#include "volvox/world/test/cubes.h"

namespace volvox::exchange {
namespace {

model::ModuleModel wired() {
  model::ModuleModel model = world::cube();
  for (int dock = 0; dock < narrow<int>(model.docks.size()); ++dock) {
    model::Wire wire;
    wire.dock = dock;
    wire.bit_rate = 8000;  // a byte takes 1 ms
    model.wires.push_back(wire);
  }
  return model;
}

// Answers every message with one byte less.
struct Echo final : Receiver {
  Exchange* exchange = nullptr;
  std::vector<Time> arrivals;
  std::vector<AgentIndex> agents;
  std::vector<Fate> fates;
  void received(AgentIndex agent, AgentIndex, Message message) override {
    arrivals.push_back(message.arrived);
    agents.push_back(agent);
    Bytes bytes = *message.as<Bytes>();
    if (bytes.empty()) return;
    bytes.pop_back();
    EXPECT_TRUE(*exchange->send(agent, {.outlet = message.outlet, .payload = Payload::of(bytes)}, Time{-1}));
  }
  void sent(AgentIndex, const SendReport& report) override { fates.push_back(report.fate); }
};

TEST(Exchange, calls_its_receiver_live_and_takes_answers_within_a_run) {
  model::WorldBuilder builder("pair");
  builder.set_gravity({});
  builder.add_chain(world::share(wired()), 2, "east", "west", 0, Pose{}, "m");
  world::Bench bench(builder);
  Echo echo;
  auto made = Exchange::create(bench.world(), PropagationRegistry{"law of propagation"}, 1, echo);
  ASSERT_TRUE(made.ok() && *made);
  Exchange& exchange = **made;
  echo.exchange = &exchange;
  exchange.begin_tick(bench.world());
  const int east = bench.world().module_model(0).dock_index("east");
  ASSERT_TRUE(
      *exchange.send(0, {.outlet = east, .payload = Payload::of(Bytes(3)), .options = {.report = true}}, Time{-1}));
  Sight sight;
  exchange.all_sent(bench.world(), sight);
  ASSERT_TRUE(exchange.run(Time::seconds(0.1)).ok());
  EXPECT_EQ(echo.arrivals, (std::vector<Time>{Time{3'000'000}, Time{5'000'000}, Time{6'000'000}, Time{6'000'000}}));
  EXPECT_EQ(echo.agents, (std::vector<AgentIndex>{1, 0, 1, 0}));
  EXPECT_EQ(echo.fates, std::vector<Fate>{Fate::sent});
  EXPECT_EQ(exchange.link(0, east).received, 2);
}

TEST(Neighborhood, finds_modules_by_distance_and_then_by_number) {
  model::WorldBuilder builder("row");
  builder.set_gravity({});
  const auto cube = world::share(world::cube());
  for (const double x : {0.0, 1.0, -1.0, 2.5, 7.0}) builder.add(cube, Pose{{x, 0, 0}, {}}, "m" + std::to_string(x));
  world::Bench bench(builder);
  Neighborhood neighborhood;
  neighborhood.update(bench.world(), 3);
  std::vector<Neighborhood::Near> near;
  neighborhood.near({}, 3, 0, near);
  ASSERT_EQ(near.size(), 3u);
  EXPECT_EQ(near[0].module, 1u);
  EXPECT_EQ(near[1].module, 2u) << "as near as the first";
  EXPECT_EQ(near[2].distance, 2.5);
}

}  // namespace
}  // namespace volvox::exchange
