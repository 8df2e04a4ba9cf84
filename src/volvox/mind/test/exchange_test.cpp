// Modules on the discrete-event network: properties of all interfaces.
#include "volvox/exchange/exchange.h"
#include "volvox/base/index.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "network_fixture.h"

namespace volvox::mind {
namespace {

TEST(Exchange, ThereIsNoneWithoutInterfaces) {
  Theatre theatre;
  auto builder = chain_of(2, actor());
  ASSERT_TRUE(theatre.open(builder).ok());
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
  auto builder = chain_of(2, wired());
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(1);
  ASSERT_EQ(heard.size(), 14u);  // 1 s holds 14 frames of 70.667 ms
  theatre.ticks(1);
  ASSERT_EQ(heard.size(), 28u) << "the frame on the way at the tick's end arrived in the next";
  for (std::size_t i = 0; i < heard.size(); ++i)
    EXPECT_EQ(heard[i], (Heard{i % 2 == 0 ? "m1" : "m0", Time{narrow<std::int64_t>(i + 1) * packet_ns},
                               narrow<std::uint32_t>(i)}));
}

// The times of events do not depend on the length of a tick.
TEST(Exchange, TicksDoNotMatter) {
  std::vector<std::vector<Heard>> histories;
  for (const TickLength dt : {TickLength{1, 60}, TickLength{1, 7}, TickLength{2, 1}}) {
    Theatre theatre;
    theatre.dt = dt;
    auto& heard = histories.emplace_back();
    theatre.prepare = [&](Scripted& b) {
      b.on_start = [](Agent& agent) {
        if (agent.name() == "m0") agent.send("radio", Packet{});
      };
      b.on_receive = [&](Agent& agent, const Message& message) {
        heard.push_back({agent.name(), message.arrived, message.as<Packet>()->number});
        if (heard.size() < 40) agent.send("radio", Packet{message.as<Packet>()->number + 1, {}});
        return true;
      };
    };
    auto model = with_radio();
    model.radios[0].window = 30;
    auto builder = spread({0, 3, 7}, model);
    ASSERT_TRUE(theatre.open(builder).ok());
    theatre.ticks(truncated(std::ceil(2 / dt.seconds())));
  }
  ASSERT_GT(histories[0].size(), 10u);
  EXPECT_EQ(histories[0], histories[1]);
  EXPECT_EQ(histories[0], histories[2]);
}

TEST(Exchange, BytesTravelWithoutAMark) {
  Theatre theatre;
  std::optional<Bytes> got;
  Time at;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0" && theatre.now == 0) agent.send("east", Bytes(53, 7));
    };
    b.on_receive = [&](Agent&, const Message& message) {
      got = message.as<Bytes>();
      at = message.arrived;
      return true;
    };
  };
  auto builder = chain_of(2, wired());
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(6);
  EXPECT_EQ(got, Bytes(53, 7));
  EXPECT_EQ(at, Time{packet_ns});
}

TEST(Exchange, NoiseActsOnFramesToo) {
  Theatre theatre;
  std::vector<Time> arrived;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0" && theatre.now == 0) agent.send("east", Packet{});
    };
    b.on_receive = [&](Agent&, const Message& message) {
      arrived.push_back(message.arrived);
      return true;
    };
  };
  model::ModuleModel model = wired();
  model.message_noise["east"] = {{"delay", {{"ticks", "3"}}, 0}};
  auto builder = chain_of(2, model);
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(12);
  EXPECT_EQ(arrived, (std::vector<Time>{Time::seconds(3.0 / 60) + Time{packet_ns}}));
}

TEST(Exchange, FramesOfATickCanBeLookedAt) {
  Theatre theatre;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0" && theatre.now == 1) agent.send("east", 1.0);
    };
  };
  auto builder = chain_of(2, wired(1e6));
  ASSERT_TRUE(theatre.open(builder).ok());
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
