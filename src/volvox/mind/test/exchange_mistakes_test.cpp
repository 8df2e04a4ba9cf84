// Errors for mistakes and bad input.
#include "volvox/exchange/exchange.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "network_fixture.h"

namespace volvox::mind {
namespace {

std::string failure_of(model::WorldBuilder builder, const std::function<void(Agent&)>& step) {
  Theatre theatre;
  theatre.prepare = [&](Scripted& b) { b.on_step = step; };
  if (const auto opened = theatre.open(builder); !opened.ok()) return opened.error().text();
  for (int i = 0; i < 3; ++i)
    if (const StepStatus failure = theatre.tick(); !failure.ok()) return failure.who + ": " + failure.what;
  return {};
}

TEST(Exchange, MistakesNameTheModule) {
  const auto radio = [](auto step) { return failure_of(spread({0, 1}, with_radio()), step); };
  EXPECT_NE(radio([](Agent& a) {
              a.send("radio", Bytes(128));
            }).find("module 'm0': a message at 'radio' cannot be sent: a payload of 128 bytes"),
            std::string::npos);
  EXPECT_NE(radio([](Agent& a) { a.send("radoi", 1.0); }).find("did you mean 'radio'?"), std::string::npos);
  EXPECT_NE(radio([](Agent& a) {
              a.send("radio", 1.0, {.to = 2});
            }).find("it sent to the address 2; the modules have the addresses 0 to 1"),
            std::string::npos);
  EXPECT_NE(radio([](Agent& a) { a.send("radio", 1.0, {.to = -7}); }).find("address -7"), std::string::npos);
  EXPECT_NE(radio([](Agent& a) { a.send("radio", 1.0, {.mailbox = 40000}); }).find("mailbox 40000"), std::string::npos);
  EXPECT_NE(radio([](Agent& a) { a.poll("radio", 1); }).find("polled"), std::string::npos);
  EXPECT_NE(failure_of(chain_of(2, with_bus()), [](Agent& a) { a.send("bus", 1.0, {.priority = 0x20000000}); })
                .find("29 bits"),
            std::string::npos);
  model::WorldBuilder mixed = spread({0}, with_radio());
  mixed.add(world::share(actor()), Pose{{1, 0, 0}, {}}, "deaf");
  EXPECT_NE(failure_of(std::move(mixed),
                       [](Agent& a) {
                         if (a.name() == "m0") a.send("radio", 1.0, {.to = 1});
                       })
                .find("that module has no radio there"),
            std::string::npos);
}

TEST(Exchange, BadOptionsNameFileAndLine) {
  const auto error = [](auto change) {
    model::ModuleModel model = with_radio(wired());
    change(model);
    Theatre theatre;
    auto builder = spread({0}, model);
    const auto opened = theatre.open(builder);
    return opened.ok() ? std::string() : opened.error().text();
  };
  EXPECT_EQ(error([](auto&) {}), "");
  EXPECT_NE(error([](auto& m) {
              m.radios[0].power = -1;
            }).find("actor.sdf:9: radio 'radio': the transmitting power in W is -1"),
            std::string::npos);
  EXPECT_NE(
      error([](auto& m) { m.wires[0].bit_rate = 0; }).find("actor.sdf:7: <volvox:wire>: the bit rate of the wire is 0"),
      std::string::npos);
  EXPECT_NE(error([](auto& m) { m.radios[0].carrier_threshold = 1e-30; }).find("busy for ever"), std::string::npos);
}

TEST(Exchange, WarnsOfWhatIsHardlyMeant) {
  Theatre theatre;
  auto builder = spread({0, 0.001}, with_radio());  // 1 mm apart: nearer than the far field of 2.4 GHz
  builder.add_channel({.name = "ari"});
  ASSERT_TRUE(theatre.open(builder).ok());
  const auto warnings = theatre.minds->exchange()->warnings(*theatre.world);
  ASSERT_EQ(warnings.size(), 3u);
  EXPECT_NE(warnings[0].find("2 radios have another within"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[1].find("which the world does not describe: it is free space (friis) at 2.4 GHz"),
            std::string::npos)
      << warnings[1];
  EXPECT_NE(warnings[1].find("<volvox:channel name="), std::string::npos) << warnings[1];
  EXPECT_NE(warnings[2].find("no radio uses the channel 'ari'"), std::string::npos) << warnings[2];
}

TEST(Exchange, WarnsOfTwoRaysOnTheGround) {
  const auto warnings_at = [](double height) {
    Theatre theatre;
    model::ModuleModel model = with_radio();
    model.radios[0].pose.position.z = height;
    auto builder = spread({0, 1}, model);
    builder.add_channel({.name = model.radios[0].channel, .law = model::PropagationLaw::two_ray});
    EXPECT_TRUE(theatre.open(builder).ok());
    const auto all = theatre.minds->exchange()->warnings(*theatre.world);
    return all.empty() ? std::string() : all[0];
  };
  EXPECT_NE(warnings_at(0).find("2 radios start at z = 0, the ground of two_ray"), std::string::npos) << warnings_at(0);
  EXPECT_EQ(warnings_at(0.1), "");
}

TEST(Exchange, AnUnknownLawOfPropagationListsThoseThereAre) {
  Theatre theatre;
  auto builder = spread({0, 1}, with_radio());
  builder.add_channel({.name = with_radio().radios[0].channel, .custom_law = "fris"});
  const auto opened = theatre.open(builder);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().text().find("did you mean 'friis'? There are: friis, log_distance, two_ray, terahertz"),
            std::string::npos)
      << opened.error().text();
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
  auto builder = chain_of(2, wired(std::numeric_limits<double>::infinity()));
  ASSERT_TRUE(theatre.open(builder).ok());
  const StepStatus failure = theatre.tick();
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
  auto builder = spread({0, 1}, with_radio());
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(2);
  EXPECT_EQ(theatre.minds->network().lost, 100 - 64);  // the queue holds 64
  EXPECT_EQ(theatre.minds->agent(0).signal("radio").lost, 36);
}

}  // namespace
}  // namespace volvox::mind
