#include "volvox/mind/minds.h"
#include "volvox/base/index.h"

#include <gtest/gtest.h>

#include "fixture.h"

namespace volvox::mind {
namespace {

struct Note {
  int number = 0;
  std::string text;
};
VOLVOX_TYPE(Note, number, text)

struct Memory {
  std::vector<int> seen;
};
VOLVOX_TYPE(Memory, seen)

model::WorldBuilder chain_of(int count, model::ModuleModel model = actor()) {
  model::WorldBuilder builder("chain");
  builder.set_gravity({});
  builder.add_chain(world::share(std::move(model)), count, "east", "west", 0, Pose{}, "m");
  return builder;
}

// Seed 000: a message sent in tick t is read in tick t + 1; every further module takes one more tick.
TEST(Minds, AMessageTakesATickAHop) {
  Theatre theatre;
  std::map<std::string, std::vector<std::int64_t>> read_at;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0" && theatre.now == 2) agent.send("east", Note{7, "hop"});
      while (auto message = agent.read("west")) {
        ASSERT_TRUE(message->as<Note>());
        EXPECT_EQ(message->as<Note>()->text, "hop");
        EXPECT_FALSE(message->as<double>());
        EXPECT_EQ(agent.where(*message), "west");
        read_at[agent.name()].push_back(theatre.now);
        agent.send("east", *message->as<Note>());
      }
    };
  };
  auto builder = chain_of(4);
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(10);
  EXPECT_EQ(read_at["m1"], (std::vector<std::int64_t>{3}));
  EXPECT_EQ(read_at["m2"], (std::vector<std::int64_t>{4}));
  EXPECT_EQ(read_at["m3"], (std::vector<std::int64_t>{5}));
  EXPECT_EQ(theatre.minds->network().sent, 4);
  EXPECT_EQ(theatre.minds->network().delivered, 3);
  EXPECT_EQ(theatre.minds->network().lost, 1);  // m3's east dock is free
}

TEST(Minds, MessagesWaitUntilReadAndAreConsumed) {
  Theatre theatre;
  std::vector<int> numbers;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0" && theatre.now < 3) agent.send("east", Note{narrow<int>(theatre.now), ""});
      if (agent.name() == "m1" && theatre.now == 6) {
        EXPECT_EQ(agent.waiting(), 3u);
        while (auto m = agent.read()) numbers.push_back(m->as<Note>()->number);
        EXPECT_EQ(agent.waiting(), 0u);
      }
    };
  };
  auto builder = chain_of(2);
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(10);
  EXPECT_EQ(numbers, (std::vector<int>{0, 1, 2}));
}

TEST(Minds, WhatReceiveTakesDoesNotWait) {
  Theatre theatre;
  int taken = 0;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [](Agent& agent) { agent.broadcast(Note{1, "x"}); };
    b.on_receive = [&](Agent& agent, const Message& message) {
      if (agent.name() != "m1") return false;
      ++taken;
      EXPECT_EQ(message.arrived, theatre.dt.start_of(theatre.now + 1));
      return true;
    };
  };
  auto builder = chain_of(2);
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(5);
  EXPECT_EQ(taken, 5);
  EXPECT_EQ(theatre.minds->agent(1).waiting(), 0u);
  EXPECT_EQ(theatre.minds->agent(0).waiting(), 5u);
}

TEST(Minds, AFullMailboxDropsTheOldest) {
  Theatre theatre;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [](Agent& agent) {
      if (agent.name() == "m0")
        for (int i = 0; i < 100; ++i) agent.send("east", Note{i, ""});
    };
  };
  auto builder = chain_of(2);
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(50);
  EXPECT_EQ(theatre.minds->agent(1).waiting(), Agent::mailbox_capacity);
  EXPECT_EQ(theatre.minds->network().lost, 5000 - narrow<std::int64_t>(Agent::mailbox_capacity));
}

TEST(Minds, AFlakyConnectorLosesMessages) {
  Theatre theatre;
  int arrived = 0;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [](Agent& agent) {
      if (agent.name() == "m0") agent.send("east", Note{});
    };
    b.on_receive = [&](Agent&, const Message&) {
      ++arrived;
      return true;
    };
  };
  model::ModuleModel flaky = actor();
  flaky.message_noise["*"] = {{"dropout", {{"probability", "0.3"}}, 5}};
  auto builder = chain_of(2, flaky);
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(2000);
  EXPECT_NEAR(arrived, 1400, 5 * std::sqrt(0.21 * 2000));
}

TEST(Minds, ModelsAndRandomStreamsAreTheirOwn) {
  Theatre theatre;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [](Agent& agent) { agent.model<Memory>().seen.push_back(narrow<int>(agent.random().below(1000))); };
  };
  auto builder = chain_of(2);
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(5);
  const Minds& minds = *theatre.minds;
  const auto& a = minds.agent(0).model<Memory>().seen;
  const auto& b = minds.agent(1).model<Memory>().seen;
  EXPECT_EQ(a.size(), 5u);
  EXPECT_NE(a, b);
}

TEST(Minds, APeriodAndAClockOfItsOwn) {
  Theatre theatre;
  int steps = 0;
  double time = -1;
  theatre.prepare = [&](Scripted& b) {
    b.step_period = 0.1;
    b.on_step = [&](Agent& agent) {
      ++steps;
      time = agent.time();
    };
  };
  model::WorldBuilder builder("clock");
  builder.set_gravity({});
  model::PlacementOptions options;
  options.clock = model::Clock{5.0, 1000};  // 5 s ahead, and 0.1 % fast
  builder.add(world::share(actor()), Pose{}, "m", options);
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(61);
  EXPECT_EQ(steps, 11);  // at 0, 0.1, ..., 1.0 s
  EXPECT_NEAR(time, 5.0 + 1.0 * 1.001, 1e-9);
}

// The modules' own clocks at 1 s; the last module has an exact clock.
std::vector<double> times_after_a_second(std::uint64_t seed) {
  Theatre theatre;
  std::vector<double> times;
  theatre.prepare = [&](Scripted& b) { b.on_step = [&](Agent& agent) { times.push_back(agent.time()); }; };
  model::WorldBuilder builder("clocks");
  builder.set_gravity({});
  builder.set_clocks({2.5, 50});
  const auto model = world::share(actor());
  for (int i = 0; i < 20; ++i) builder.add(model, Pose{{i * 1.0, 0, 0}, {}}, "m" + std::to_string(i));
  model::PlacementOptions exact;
  exact.clock = model::Clock{};
  builder.add(model, Pose{{0, 5, 0}, {}}, "exact", exact);
  EXPECT_TRUE(theatre.open(builder, seed).ok());
  theatre.ticks(60);
  times.clear();
  theatre.ticks(1);
  return times;
}

TEST(Minds, ClocksAreDrawnOnceFromTheSeed) {
  const std::vector<double> times = times_after_a_second(1);
  ASSERT_EQ(times.size(), 21u);
  EXPECT_EQ(times.back(), 1.0);
  const auto [least, most] = std::minmax_element(times.begin(), times.end() - 1);
  EXPECT_GE(*least, 1.0 - 50e-6);
  EXPECT_LE(*most, 3.5 + 50e-6);
  EXPECT_GT(*most - *least, 1.5) << "20 draws fill the spread";
  EXPECT_EQ(times, times_after_a_second(1));
  EXPECT_NE(times, times_after_a_second(2));
}

TEST(Minds, ClocksDriftApartAndAreSaved) {
  Theatre theatre;
  std::vector<double> times;
  theatre.prepare = [&](Scripted& b) { b.on_step = [&](Agent& agent) { times.push_back(agent.time()); }; };
  const auto open = [&](const model::ClockSpread& clocks) {
    auto builder = chain_of(2);
    builder.set_clocks(clocks);
    ASSERT_TRUE(theatre.open(builder).ok());
    theatre.now = 0;
  };
  const auto apart_after = [&](std::int64_t tick) {
    theatre.now = tick;
    times.clear();
    theatre.ticks(1);
    return times[1] - times[0];
  };
  open({0, 50});
  EXPECT_EQ(apart_after(0), 0) << "without offsets they start together";
  const double an_hour = std::abs(apart_after(60 * 3600));
  EXPECT_GT(an_hour, 1e-3);
  EXPECT_LE(an_hour, 2 * 50e-6 * 3600);

  SaveArchive saved;
  theatre.minds->archive(saved);
  const std::vector<std::byte> bytes = saved.take();
  open({0, 0});
  EXPECT_EQ(apart_after(60 * 3600), 0);
  LoadArchive loaded(bytes);
  theatre.minds->archive(loaded);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(std::abs(apart_after(60 * 3600)), an_hour);
}

TEST(Minds, OnlyTheOmniscientSeeOthers) {
  for (const bool allowed : {true, false}) {
    Theatre theatre;
    bool saw = false;
    theatre.prepare = [&](Scripted& b) {
      b.sees_all = allowed;
      b.on_step = [&](Agent& agent) { saw = agent.other<DockState>(1, "west.dock").engaged; };
    };
    auto builder = chain_of(2);
    ASSERT_TRUE(theatre.open(builder).ok());
    const StepStatus failure = theatre.tick();
    EXPECT_EQ(failure.ok(), allowed);
    EXPECT_EQ(saw, allowed);
    if (!allowed) {
      EXPECT_NE(failure.what.find("omniscient"), std::string::npos);
    }
  }
}

TEST(Minds, MistakesOfABehaviorNameTheModule) {
  const std::pair<std::function<void(Agent&)>, const char*> mistakes[] = {
      {[](Agent& a) { a.percept<double>("yaw.angle"); }, "no percept named 'yaw.angle'"},
      {[](Agent& a) { a.percept<double>("east.doc"); }, "did you mean 'east.dock'?"},
      {[](Agent& a) { a.percept<double>("east.dock"); }, "is of type DockState, not double"},
      {[](Agent& a) { a.move_to("pitch", 0); }, "no action named 'pitch'"},
      {[](Agent& a) { a.act("east", 1.0); }, "is of type bool, not double"},
      {[](Agent& a) { a.send("front", 1.0); }, "no dock named 'front'"},
      {[](Agent&) { throw std::runtime_error("boom"); }, "boom"},
      {[](Agent&) { throw 7; }, "unknown type"},
  };
  for (const auto& [mistake, expected] : mistakes) {
    Theatre theatre;
    theatre.prepare = [&](Scripted& b) {
      b.on_step = [&](Agent& agent) {
        if (agent.name() == "m1") mistake(agent);
      };
    };
    auto builder = chain_of(3);
    ASSERT_TRUE(theatre.open(builder).ok());
    const StepStatus failure = theatre.tick();
    EXPECT_EQ(failure.who, "module 'm1'") << expected;
    EXPECT_NE(failure.what.find(expected), std::string::npos) << failure.what;
    EXPECT_NE(failure.what.find("'scripted'"), std::string::npos);
  }
}

TEST(Minds, BadDescriptionsAreRefusedBeforeTheRun) {
  const auto error = [](const std::function<void(model::ModuleModel&)>& change) {
    Theatre theatre;
    model::ModuleModel model = actor();
    change(model);
    auto builder = chain_of(2, model);
    const auto opened = theatre.open(builder);
    return opened.ok() ? "" : opened.error().text();
  };
  EXPECT_EQ(error([](model::ModuleModel&) {}), "");
  EXPECT_NE(
      error([](auto& m) { m.mind->behavior = "scriptd"; }).find("actor.sdf:3: there is no behavior named 'scriptd'"),
      std::string::npos);
  EXPECT_NE(error([](auto& m) { m.mind->parameters["speed"] = "3"; }).find("has no parameter 'speed'"),
            std::string::npos);
  EXPECT_NE(error([](auto& m) {
              m.sensors.push_back({"x", "radar", 0, {}, {}, 9});
            }).find("actor.sdf:9: there is no sensor type named 'radar'"),
            std::string::npos);
  EXPECT_NE(error([](auto& m) {
              m.sensors.push_back({"x", "range", 0, {}, {{"rayz", "3"}}, 9});
            }).find("did you mean 'rays'?"),
            std::string::npos);
  EXPECT_NE(error([](auto& m) {
              m.sensors.push_back({"east.dock", "pose", 0, {}, {}, 9});
            }).find("two percepts named 'east.dock'"),
            std::string::npos);
  EXPECT_NE(error([](auto& m) {
              m.percept_noise["nose"] = {{"gaussian", {}, 4}};
            }).find("actor.sdf:4: noise on the percept 'nose'"),
            std::string::npos);
  EXPECT_NE(error([](auto& m) {
              m.action_noise["est"] = {{"gaussian", {}, 4}};
            }).find("did you mean 'east'?"),
            std::string::npos);
}

TEST(Minds, ABehaviorWithoutAStateListCannotBeSaved) {
  Theatre theatre;
  auto builder = chain_of(2);
  ASSERT_TRUE(theatre.open(builder).ok());
  EXPECT_NE(theatre.minds->cannot_save().find("behavior 'scripted' of module 'm0'"), std::string::npos);
}

TEST(Minds, DockActionsEnableAndDisable) {
  Theatre theatre;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      if (agent.name() == "m0" && theatre.now == 3) agent.disable_dock("east");
    };
  };
  auto builder = chain_of(2);
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(3);
  EXPECT_TRUE(theatre.minds->agent(0).dock("east").engaged);
  EXPECT_EQ(theatre.minds->agent(0).dock("east").neighbor, "west");
  theatre.ticks(3);
  EXPECT_FALSE(theatre.minds->agent(0).dock("east").engaged);
  EXPECT_FALSE(theatre.minds->agent(0).dock("east").enabled);
  EXPECT_TRUE(theatre.minds->agent(1).dock("west").neighbor.empty());
}

// Percepts of docks are read again only where something has changed: nobody may see that. What a module senses at the
// beginning of a tick is what the world said at the end of the one before.
TEST(Minds, PerceptsOfDocksAreThoseOfTheWorld) {
  int parted = 0, joined = 0, back = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Theatre theatre;
    auto builder = chain_of(4);
    ASSERT_TRUE(theatre.open(builder).ok());
    RandomStream random(seed, 0, "docks");
    std::vector<std::byte> saved;
    std::vector<world::DockIndex> held;
    for (world::DockIndex d = 0; d < theatre.world->docks(); ++d)
      if (theatre.world->graph().partner(d) != world::nobody) held.push_back(d);
    for (int tick = 0; tick < 60; ++tick) {
      world::World& world = *theatre.world;
      if (random.chance(0.4)) world.enable_dock(held[random.below(held.size())], random.chance(0.6));
      if (tick == 20) {
        SaveArchive ar;
        theatre.minds->archive(ar), world.archive(ar);
        saved = ar.take();
      }
      if (tick == 40) {
        LoadArchive ar(saved);
        theatre.minds->archive(ar), world.archive(ar);
        ASSERT_TRUE(ar.ok());
        ++back;
      }
      std::vector<DockState> states;
      std::vector<world::DockLoad> loads;
      for (world::DockIndex d = 0; d < world.docks(); ++d) {
        const world::DockStatus& status = world.dock_status(d);
        const world::DockIndex partner = world.graph().partner(d);
        states.push_back({status.enabled, status.phase == world::DockPhase::engaged,
                          status.phase == world::DockPhase::latching, status.broken,
                          partner == world::nobody ? "" : world.dock_model(partner).name});
        loads.push_back(world.dock_load(d));
      }
      const std::int64_t released = world.docks_released(), formed = world.docks_formed();
      theatre.ticks(1);
      parted += world.docks_released() > released, joined += world.docks_formed() > formed;
      for (world::DockIndex d = 0; d < world.docks(); ++d) {
        const std::uint32_t module = world.graph().owner(d);  // all have minds
        const Agent& agent = theatre.minds->agent(module);
        const std::string& name = world.dock_model(d).name;
        ASSERT_EQ(describe(agent.dock(name)), describe(states[d])) << "seed " << seed << ", tick " << tick;
        const DockLoad& load = agent.percept<DockLoad>(name + ".load");
        ASSERT_EQ(load.axial, loads[d].axial) << "seed " << seed << ", tick " << tick;
        ASSERT_EQ(load.bending, loads[d].bending);
      }
    }
  }
  EXPECT_GT(parted, 12);
  EXPECT_GT(joined, 12);
  EXPECT_EQ(back, 12);
}

}  // namespace
}  // namespace volvox::mind
