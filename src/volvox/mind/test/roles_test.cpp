#include "volvox/mind/roles.h"
#include "volvox/base/index.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fixture.h"

namespace volvox::mind {
namespace {

constexpr double period = 60, delay = 12;  // steps of one tick

// All modules play the same role; a module to the east is `delay` steps behind.
RoleBook follow() {
  RoleBook book;
  book.parent = "west";
  book.step = 1.0 / 60;
  book.roles = {{"follow", period, {}, {{"east", delay}}}};
  return book;
}

struct Chain {
  Theatre theatre;
  std::uint64_t seed = 1;

  // m0 is the root. Clocks start anywhere within a period, unless they are exact.
  void open(const RoleBook& book, int count, std::map<std::string, std::string> parameters = {},
            model::ClockSpread clocks = {1, 50}) {
    theatre.registries.behaviors.add("player", role_player(book));
    model::ModuleModel player = actor();
    player.mind = model::Mind{"player", std::move(parameters), "actor.sdf", 3};
    model::WorldBuilder builder("chain");
    builder.set_gravity({});
    builder.set_clocks(clocks);
    builder.add_chain(world::share(std::move(player)), count, "east", "west", 0, Pose{}, "m");
    const auto opened = theatre.open(builder, seed);
    ASSERT_TRUE(opened.ok()) << opened.error().text();
  }
  const RolePlayed& played(std::size_t i) const { return std::as_const(*theatre.minds).agent(i).model<RolePlayed>(); }
  // The phase error of a module relative to its parent, in steps, between -T/2 and T/2.
  double error(std::size_t i) const {
    const double off = played(i).t - (played(i - 1).t - delay);
    return off - period * std::round(off / period);
  }
  bool in_step() const {
    for (std::size_t i = 1; i < theatre.minds->size(); ++i)
      if (std::abs(error(i)) > 1.5) return false;  // a signal takes a tick to cross a dock
    return true;
  }
};

TEST(Roles, ChildrenFollowByTheirDelays) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    Chain chain;
    chain.seed = seed;
    chain.open(follow(), 7);
    double begun = -1;
    for (double last = -1; begun < 0; last = chain.played(0).t) {
      chain.theatre.ticks(1);
      if (chain.played(0).t < last) begun = real(chain.theatre.now);
    }
    // Every module is correct, and stays so, one delay and one tick after its parent.
    while (!chain.in_step()) chain.theatre.ticks(1);
    EXPECT_LE(real(chain.theatre.now) - begun, 6 * (delay + 1) + 1) << "seed " << seed;
    for (int tick = 0; tick < 600; ++tick) {
      chain.theatre.ticks(1);
      ASSERT_TRUE(chain.in_step()) << "seed " << seed << ", tick " << chain.theatre.now;
    }
  }
}

// A module that waits neither moves by its clock nor signals: its child hears nothing before it is in step itself.
TEST(Roles, AWaitingModuleBeginsInStep) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    RoleBook book = follow();
    book.roles.front().waits_at = period / 2;
    Chain chain;
    chain.seed = seed;
    chain.open(book, 7);
    for (int tick = 0; tick < 300; ++tick) {
      chain.theatre.ticks(1);
      for (std::size_t i = 2; i < 7; ++i) {
        if (chain.played(i).beats == 0) continue;
        EXPECT_GT(chain.played(i - 1).beats, 0) << "seed " << seed << ": m" << i << " heard a parent that waits";
        ASSERT_LE(std::abs(chain.error(i)), 1.5) << "seed " << seed << ", tick " << tick;
      }
    }
    EXPECT_TRUE(chain.in_step());
  }
}

TEST(Roles, WithoutSignalsNothingIsInStep) {
  Chain chain;
  chain.open(follow(), 7, {{"transmits", "false"}});
  for (int tick = 0; tick < 600; ++tick) {
    chain.theatre.ticks(1);
    ASSERT_FALSE(chain.in_step()) << tick;
  }
  EXPECT_EQ(chain.played(6).beats, 0);
}

// The signals of every period correct the drift of the clocks over ten minutes.
TEST(Roles, SignalsHoldDriftingClocksTogether) {
  Chain chain;
  chain.open(follow(), 3, {}, {0, 5000});
  chain.theatre.ticks(600);
  ASSERT_TRUE(chain.in_step());
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(chain.theatre.minds->tune(i, "transmits", "false"));
  chain.theatre.ticks(60 * 60);
  EXPECT_FALSE(chain.in_step()) << "clocks that differ by parts in a thousand lose a tick in ten seconds";
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(chain.theatre.minds->tune(i, "transmits", "true"));
  chain.theatre.ticks(200);
  EXPECT_TRUE(chain.in_step());
}

// A module that loses its parent's signals leads its own subtree.
TEST(Roles, ADeadModuleLeavesTheOthersInStep) {
  Chain chain;
  chain.open(follow(), 6);
  chain.theatre.ticks(400);
  ASSERT_TRUE(chain.in_step());
  chain.theatre.minds->switch_off(2);
  const double t = chain.played(2).t;
  const int beats = chain.played(3).beats;
  chain.theatre.ticks(300);
  EXPECT_TRUE(chain.theatre.minds->is_off(2));
  EXPECT_EQ(chain.played(2).t, t) << "its behaviour stands still";
  EXPECT_LE(chain.played(3).beats, beats + 1);
  for (const std::size_t i : {1, 4, 5}) EXPECT_LT(std::abs(chain.error(i)), 1.5) << i;
  // 3 receives nothing, and keeps the phase that the dead module would give it.
  const double apart = chain.played(3).t - (chain.played(1).t - 2 * delay);
  EXPECT_LT(std::abs(apart - period * std::round(apart / period)), 3);
}

// Section 2.2: the three modules in the middle have the same neighbourhood, and are distinguished by induction.
RoleBook arm() {
  RoleBook book;
  book.parent = "west";
  book.step = 1.0 / 60;
  for (const char* name : {"unknown", "shoulder", "upper arm", "elbow", "lower arm", "wrist"})
    book.roles.push_back({name, period, {}, {{"east", 0}}});
  book.rules.push_back({{}, "shoulder", [](const Situation& s) { return s.is_root(); }});
  const char* order[] = {"shoulder", "upper arm", "elbow", "lower arm", "wrist"};
  for (int k = 1; k < 5; ++k) {
    const std::string parent = order[k - 1];
    book.rules.push_back({{}, order[k], [parent](const Situation& s) { return s.neighbor_role("west") == parent; }});
  }
  return book;
}

TEST(Roles, AnArmFindsItsPartsByInduction) {
  Chain chain;
  chain.open(arm(), 5);
  chain.theatre.ticks(2 * 5);
  std::string found;
  for (std::size_t i = 0; i < 5; ++i) found += chain.played(i).role + " ";
  EXPECT_EQ(found, "shoulder upper arm elbow lower arm wrist ");
  const int changes = chain.played(4).changes;
  chain.theatre.ticks(300);
  EXPECT_EQ(chain.played(4).changes, changes) << "and they stay";
}

TEST(Roles, ChangeOnTimeOnAPerceptAndOnNeighbors) {
  RoleBook book;
  book.parent = "west";
  book.step = 1.0 / 60;
  for (const char* name : {"fresh", "ripe", "cut off", "beside ripe"}) book.roles.push_back({name, period, {}, {}});
  book.rules = {{{"fresh"}, "cut off", [](const Situation& s) { return !s.percept<DockState>("east.dock").enabled; }},
                {{"fresh"}, "ripe", [](const Situation& s) { return s.is_root() && s.time_in_role() > 0.5; }},
                {{"fresh"}, "beside ripe", [](const Situation& s) {
                   return s.neighbor_role("west") == "ripe" && s.neighbor("west") == "east";
                 }}};
  Chain chain;
  chain.open(book, 3);
  chain.theatre.ticks(30);
  EXPECT_EQ(chain.played(0).role, "fresh");
  EXPECT_EQ(chain.played(1).role, "fresh");
  chain.theatre.ticks(5);
  EXPECT_EQ(chain.played(0).role, "ripe");
  EXPECT_EQ(chain.played(1).role, "beside ripe");
  EXPECT_EQ(chain.played(2).role, "fresh");
  chain.theatre.world->enable_dock(chain.theatre.world->part(2).first_dock + actor().dock_index("east"), false);
  chain.theatre.ticks(2);
  EXPECT_EQ(chain.played(2).role, "cut off");
  EXPECT_EQ(chain.played(2).changes, 1);
}

// NC(i) arrives as a message, as in the paper: a module that is docked, but whose neighbour says nothing, does not know
// to which dock it is connected, nor how far it is from the root.
TEST(Roles, TheNeighborsConnectorAndThePlaceAreHeard) {
  RoleBook book;
  book.parent = "west";
  book.step = 1.0 / 60;
  for (const char* name : {"alone", "docked", "behind an east dock", "third"})
    book.roles.push_back({name, period, {}, {}});
  book.rules = {{{"alone"}, "docked", [](const Situation& s) { return s.connected("west"); }},
                {{"docked"}, "behind an east dock", [](const Situation& s) { return s.neighbor("west") == "east"; }},
                {{"behind an east dock"}, "third", [](const Situation& s) { return s.place() == 2; }}};
  const auto roles = [&](const char* transmits) {
    Chain chain;
    chain.open(book, 4, {{"transmits", transmits}});
    chain.theatre.ticks(20);
    std::string found;
    for (std::size_t i = 0; i < 4; ++i) found += chain.played(i).role + ", ";
    return found;
  };
  EXPECT_EQ(roles("false"), "alone, docked, docked, docked, ");
  EXPECT_EQ(roles("true"), "alone, behind an east dock, third, behind an east dock, ");
}

TEST(Roles, ARoleLetsGoOfADock) {
  RoleBook book;
  book.parent = "west";
  book.step = 1.0 / 60;
  book.roles = {{"hold", period, {}, {}}, {"let go", period, {}, {}}};
  book.roles[1].docks = {{"east", false}};
  book.rules = {{{"hold"}, "let go", [](const Situation& s) { return s.place() == 1 && s.time_in_role() > 0.5; }}};
  Chain chain;
  chain.open(book, 3);
  const world::DockGraph& graph = chain.theatre.world->graph();
  const auto east = [&](std::uint32_t module) {
    return graph.neighbor(chain.theatre.world->part(module).first_dock + actor().dock_index("east"));
  };
  chain.theatre.ticks(30);
  EXPECT_EQ(east(1), 2u);
  chain.theatre.ticks(5);
  EXPECT_EQ(chain.played(1).role, "let go");
  EXPECT_EQ(east(0), 1u) << "only the dock that the role names";
  EXPECT_EQ(east(1), world::nobody);
}

TEST(Roles, GoOnAfterARestore) {
  const auto hash = [](Chain& chain) {
    HashArchive ar;
    chain.theatre.minds->archive(ar);
    return ar.value();
  };
  Chain chain, restored;
  chain.open(arm(), 5);
  chain.theatre.ticks(3);  // in the middle of finding their roles
  SaveArchive saved;
  chain.theatre.minds->archive(saved);
  restored.seed = 2;  // other clocks, until the snapshot restores the saved ones
  restored.open(arm(), 5);
  restored.theatre.ticks(3);
  ASSERT_NE(hash(chain), hash(restored));
  const std::vector<std::byte> bytes = saved.take();
  LoadArchive load(bytes);
  restored.theatre.minds->archive(load);
  ASSERT_TRUE(load.ok());
  ASSERT_EQ(hash(chain), hash(restored));
  chain.theatre.ticks(100);
  restored.theatre.ticks(100);
  EXPECT_EQ(hash(chain), hash(restored));
  EXPECT_EQ(restored.played(4).role, "wrist");
}

TEST(Roles, BadBooksAreRefused) {
  const auto refusal = [](const std::function<void(RoleBook&)>& spoil) {
    RoleBook book = follow();
    spoil(book);
    const auto checked = book.check();
    return checked.ok() ? std::string() : checked.error().text();
  };
  EXPECT_EQ(refusal([](RoleBook&) {}), "");
  EXPECT_NE(refusal([](RoleBook& b) { b.roles.clear(); }).find("no roles"), std::string::npos);
  EXPECT_NE(refusal([](RoleBook& b) { b.roles[0].period = 0; }).find("period of 0"), std::string::npos);
  EXPECT_NE(refusal([](RoleBook& b) { b.roles[0].delays["east"] = 60; }).find("less than its period"),
            std::string::npos);
  EXPECT_NE(refusal([](RoleBook& b) { b.roles[0].delays["west"] = 1; }).find("parent"), std::string::npos);
  EXPECT_NE(refusal([](RoleBook& b) { b.roles.push_back(b.roles[0]); }).find("two roles 'follow'"), std::string::npos);
  EXPECT_NE(refusal([](RoleBook& b) {
              b.rules.push_back({{}, "lead", [](const Situation&) { return true; }});
            }).find("'lead'"),
            std::string::npos);
  EXPECT_NE(refusal([](RoleBook& b) {
              b.rules.push_back({{}, "follow", nullptr});
            }).find("condition"),
            std::string::npos);
  EXPECT_NE(refusal([](RoleBook& b) {
              b.roles[0].motion["bend"] = [](double) { return 0.0; };
              b.roles[0].postures["bend"] = [](int) { return 0.0; };
            }).find("both a motion and a posture"),
            std::string::npos);
  EXPECT_NE(refusal([](RoleBook& b) { b.roles[0].postures["bend"] = nullptr; }).find("no posture"), std::string::npos);
  EXPECT_NE(refusal([](RoleBook& b) { b.step = 0; }).find("step"), std::string::npos);

  Theatre theatre;
  RoleBook book = follow();
  book.parent = "tail";
  theatre.registries.behaviors.add("player", role_player(book));
  model::ModuleModel player = actor();
  player.mind = model::Mind{"player", {}, "actor.sdf", 3};
  model::WorldBuilder builder("one");
  builder.add(world::share(std::move(player)), Pose{}, "m");
  const auto opened = theatre.open(builder);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().text().find("'tail'"), std::string::npos) << opened.error().text();
}

// Roles, docks and times of a snapshot are indices into other things: what does not exist is refused, whatever byte of
// it is wrong, and what is accepted can be played.
TEST(Roles, DamagedSnapshotsAreRefusedOrPlayed) {
  Chain chain;
  RoleBook book = follow();
  book.roles.push_back({"stand", period, {}, {}});
  book.rules = {{{"stand"}, "follow", [](const Situation& s) { return s.neighbor_role("west") == "stand"; }}};
  chain.open(book, 2);
  chain.theatre.ticks(100);
  RolePlayer player(std::make_shared<const RoleBook>(book));
  player.start(chain.theatre.minds->agent(0));
  SaveArchive saved;
  player.archive_state(saved);
  int refused = 0, played = 0;
  for (std::size_t at = 0; at < saved.bytes().size(); ++at)
    for (const int value : {0x01, 0x7f, 0x80, 0xff}) {
      std::vector<std::byte> bytes = saved.bytes();
      bytes[at] = static_cast<std::byte>(value);
      LoadArchive damaged(bytes);
      player.archive_state(damaged);
      if (damaged.ok()) player.step(chain.theatre.minds->agent(0)), ++played;
      else ++refused;
      LoadArchive good(saved.bytes());
      player.archive_state(good);
      ASSERT_TRUE(good.ok()) << good.failure();
    }
  EXPECT_GT(refused, 40);
  EXPECT_GT(played, 40);
}

}  // namespace
}  // namespace volvox::mind
