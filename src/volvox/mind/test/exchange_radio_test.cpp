// Radios of modules: range, carrier, addresses and occlusion.
#include "volvox/exchange/exchange.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "network_fixture.h"

namespace volvox::mind {
namespace {

TEST(Exchange, RadioReachesThoseInRange) {
  Theatre theatre;
  std::map<std::string, Message> heard;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0" && theatre.now == 0) agent.send("radio", Packet{});
    };
    b.on_receive = [&](Agent& agent, const Message& message) {
      heard[agent.name()] = message;
      return true;
    };
  };
  auto builder = spread({0, 3, 9.9, 10.1}, with_radio());
  ASSERT_TRUE(theatre.open(builder).ok());
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
  auto builder = spread({0, 3}, with_radio());
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(7);  // the frame is on the air for 4.24 ticks
  EXPECT_EQ(busy, (std::vector<bool>{false, true, true, true, true, false, false}));
}

// The network uses the positions at the start of the tick.
TEST(Exchange, RadiosMoveWithTheirModules) {
  Theatre theatre;
  int received = 0;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0") agent.send("radio", 1.0);
    };
    b.on_receive = [&](Agent&, const Message&) { return ++received > 0; };
  };
  auto model = with_radio();
  model.radios[0].bit_rate = 1e6;
  auto builder = spread({0, 20}, model);
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(3);
  EXPECT_EQ(received, 0);
  theatre.world->place_link(1, Pose{{5, 0, 0}, {}}, {});
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
  auto builder = spread({0, 2, 4}, with_radio());
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(20);
  EXPECT_EQ(heard, (std::vector<std::string>{"m2", "m0"}));
}

TEST(Exchange, BodiesBetweenDimTheSignal) {
  for (const double passes : {1.0, 0.25, 0.0}) {
    Theatre theatre;
    std::map<std::string, double> power;
    theatre.prepare = [&](Scripted& b) {
      b.on_step = [&](Agent& agent) {
        if (agent.name() == "m0" && theatre.now == 0) agent.send("radio", 1.0);
      };
      b.on_receive = [&](Agent& agent, const Message& message) { return (power[agent.name()] = message.power) > 0; };
    };
    auto builder = spread({0, 1, 2}, with_radio());
    builder.add(world::share(with_radio()), Pose{{0, 1, 0}, {}}, "beside");
    builder.add_channel({.name = "air", .passes_bodies = passes});
    ASSERT_TRUE(theatre.open(builder).ok());
    theatre.ticks(3);
    const auto free_space = [](double d) { return 1e-3 * net::Friis(2.4e9).gain({}, {d, 0, 0}); };
    EXPECT_NEAR(power["m1"], free_space(1), 1e-6 * free_space(1));
    EXPECT_NEAR(power["beside"], free_space(1), 1e-6 * free_space(1));
    EXPECT_NEAR(power["m2"], passes * free_space(2), 1e-6 * free_space(2)) << "m1 stands between";
  }
}

// A wall between the radios weakens the signal once, whether it is a box or a closed mesh, which rays meet twice.
TEST(Exchange, AMeshDimsTheSignalAsABoxDoes) {
  const Vec3 half{0.05, 0.5, 0.5};
  model::MeshData wall;
  for (int corner = 0; corner < 8; ++corner)
    wall.vertices.push_back(
        {corner & 1 ? half.x : -half.x, corner & 2 ? half.y : -half.y, corner & 4 ? half.z : -half.z});
  wall.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  const model::Shape shapes[] = {model::Box{half * 2}, std::make_shared<const model::MeshData>(wall)};
  for (const model::Shape& shape : shapes) {
    Theatre theatre;
    double power = 0;
    theatre.prepare = [&](Scripted& b) {
      b.on_step = [&](Agent& agent) {
        if (agent.name() == "m0" && theatre.now == 0) agent.send("radio", 1.0);
      };
      b.on_receive = [&](Agent&, const Message& message) { return (power = message.power) > 0; };
    };
    auto builder = spread({0, 2}, with_radio());
    builder.add_obstacle(shape, Pose{{1, 0.1, 0.2}, {}});
    builder.add_channel({.name = "air", .passes_bodies = 0.25});
    ASSERT_TRUE(theatre.open(builder).ok());
    theatre.ticks(3);
    const double expected = 0.25e-3 * net::Friis(2.4e9).gain({}, {2, 0, 0});
    EXPECT_NEAR(power, expected, 1e-6 * expected) << model::name(shape);
  }
}

TEST(Exchange, ARadioStopsWithThePowerOfItsModule) {
  Theatre theatre;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0" && theatre.now % 10 == 0) agent.send("radio", 1.0);
    };
  };
  auto builder = spread({0, 1}, with_radio());
  ASSERT_TRUE(theatre.open(builder).ok());
  const auto deliveries = [&] { return theatre.minds->exchange()->network().counters().deliveries; };
  theatre.ticks(20);
  EXPECT_EQ(deliveries(), 2u);
  theatre.minds->switch_off(1);
  theatre.ticks(20);
  EXPECT_EQ(deliveries(), 2u) << "nobody is left to hear it";
}

}  // namespace
}  // namespace volvox::mind
