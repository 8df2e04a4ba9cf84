// Docks with jaws, against closed forms: docs/decisions/0072.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "cubes.h"
#include "volvox/base/random.h"
#include "volvox/world/latches.h"
#include "volvox/world/start_check.h"

namespace volvox::world {
namespace {

model::Latch jaws(bool form) {
  model::Latch latch;
  latch.form = form;
  latch.travel = 0.01, latch.speed = 0.02;  // 0.5 s
  latch.force = 60, latch.friction = 0.25;  // holds 15 N by friction
  return latch;
}

model::ModuleModel with_jaws(const model::Latch& latch) {
  model::ModuleModel module = cube();
  for (model::Dock& dock : module.docks) dock.latch = latch;
  return module;
}

struct Couple {
  explicit Couple(const Pose& second, const model::Latch& latch, bool both = false,
                  const std::string& engine = physics::default_engine)
      : Couple(second, share(with_jaws(latch)), both ? share(with_jaws(latch)) : share(cube()), engine) {}
  Couple(const Pose& second, std::shared_ptr<const model::ModuleModel> a, std::shared_ptr<const model::ModuleModel> b,
         const std::string& engine)
      : builder("space") {
    builder.set_gravity({});
    builder.add(a, Pose{}, "a");
    builder.add(b, second, "b");
    bench.emplace(builder, TickLength{1, 60}, engine);
  }
  DockIndex east() const { return bench->dock("a", "east"); }
  DockPhase phase() { return bench->world().dock_status(east()).phase; }
  const Latches::Jaws& state() { return bench->world().latches()->jaws(east()); }
  // Pulls b off a along x, or across, by equal and opposite forces.
  void pull(double force, int ticks, const Vec3& direction = {1, 0, 0}) {
    for (int i = 0; i < ticks; ++i) {
      bench->world().push(1, {direction * force, {}});
      bench->world().push(0, {direction * -force, {}});
      bench->tick();
    }
  }
  int count(DockEvent::Kind kind) const {
    int n = 0;
    for (const DockEvent& event : bench->events) n += event.kind == kind;
    return n;
  }

  model::WorldBuilder builder;
  std::optional<Bench> bench;
};

TEST(Latches, CloseOverTheirTravelTime) {
  Couple pair({{0.104, 0.0005, 0}, {}}, jaws(true));
  pair.bench->tick(15);
  EXPECT_EQ(pair.phase(), DockPhase::latching);
  EXPECT_NEAR(pair.state().opening, 1 - 15.0 / 60 * 0.02 / 0.01, 1e-9);
  pair.bench->tick(15);
  EXPECT_NEAR(pair.state().opening, 0, 1e-9);
  EXPECT_EQ(pair.phase(), DockPhase::latching) << "the minds hear of it in the next dock phase";
  pair.bench->tick(1);
  EXPECT_EQ(pair.phase(), DockPhase::engaged);
  EXPECT_LT(pair.bench->world().largest_dock_error().distance, 1e-4);
}

TEST(Latches, OpenOverTheirTravelTimeAndAreReadyOnlyThen) {
  Couple pair({{0.104, 0, 0}, {}}, jaws(true));
  pair.bench->tick(40);
  ASSERT_EQ(pair.phase(), DockPhase::engaged);
  pair.bench->world().enable_dock(pair.bench->dock("b", "west"), false);
  pair.bench->tick(60);
  EXPECT_EQ(pair.phase(), DockPhase::engaged) << "a dock without jaws cannot make them let go";
  pair.bench->world().enable_dock(pair.bench->dock("b", "west"), true);
  pair.bench->world().enable_dock(pair.east(), false);
  pair.bench->tick(30);
  EXPECT_EQ(pair.phase(), DockPhase::engaged) << "teeth hold until they are out";
  pair.bench->tick(1);
  EXPECT_EQ(pair.phase(), DockPhase::free);
  EXPECT_EQ(pair.count(DockEvent::Kind::released), 1);
  pair.bench->world().enable_dock(pair.east(), true);
  pair.bench->tick(40);
  EXPECT_EQ(pair.phase(), DockPhase::engaged) << "and again";
}

// The pair slides at mu F, not below; beyond it the bodies accelerate by what is left, until the partner is out.
TEST(Latches, FrictionHoldsUpToNormalForceTimesCoefficient) {
  for (const bool both : {false, true}) {
    const double held = both ? 30 : 15;
    Couple pair({{0.1, 0, 0}, {}}, jaws(false), both);
    pair.bench->tick(40);
    ASSERT_EQ(pair.phase(), DockPhase::engaged);
    pair.pull(0.97 * held, 300);
    EXPECT_EQ(pair.phase(), DockPhase::engaged);
    EXPECT_EQ(pair.bench->world().dock_slip(pair.east()), 0) << "in 5 s";
    EXPECT_NEAR(pair.bench->world().dock_load(pair.east()).axial, 0.97 * held, 0.01 * held);
    // Relative motion of two masses of 1 kg: a = 2 (F - held) m/s^2, and 3 mm take sqrt(2 s / a).
    const double force = 1.02 * held, expected = std::sqrt(2 * 0.003 / (2 * (force - held)));
    int ticks = 0;
    while (pair.phase() != DockPhase::free && ticks < 300) pair.pull(force, 1), ++ticks;
    EXPECT_NEAR(ticks / 60.0, expected, 4.0 / 60 + 0.05 * expected) << held;  // the window is two ticks
    EXPECT_EQ(pair.count(DockEvent::Kind::slipped), 1);
    EXPECT_EQ(pair.count(DockEvent::Kind::broken), 0);
    EXPECT_FALSE(pair.bench->world().dock_status(pair.east()).broken) << "it can close again";
  }
}

// What has slid a little stays there, and holds again.
TEST(Latches, WhatHasSlidSticksWhereItIs) {
  Couple pair({{0.1, 0, 0}, {}}, jaws(false));
  pair.bench->tick(40);
  pair.pull(15.5, 6);
  pair.bench->tick(60);
  World& world = pair.bench->world();
  const double slid = world.dock_slip(pair.east());
  EXPECT_GT(slid, 1e-4);
  EXPECT_LT(slid, 3e-3);
  EXPECT_NEAR(world.dock_pose(pair.bench->dock("b", "west")).position.x - world.dock_pose(pair.east()).position.x, slid,
              1e-6);
  EXPECT_LT(world.largest_dock_error().distance, 1e-5) << "it is no error of the dock";
  pair.pull(14.5, 120);
  EXPECT_NEAR(world.dock_slip(pair.east()), slid, 1e-9);
}

// Friction takes out what slides: the energy never rises, but for the engine's correction of joints (up to 4e-5
// of it in a tick after one has stuck).
TEST(Latches, SlidingTakesEnergyOut) {
  RandomStream random(77, 0, "sliding");
  int slid = 0;
  for (int trial = 0; trial < 40; ++trial) {
    Couple pair({{0.1, 0, 0}, {}}, jaws(false));
    pair.bench->tick(40);
    World& world = pair.bench->world();
    const Vec3 aside{0, random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3)};
    pair.pull(random.uniform(16, 26), 3, Vec3{1, 0, 0} + aside);  // and then it slides on
    const bool slides = world.latches()->pair(pair.east()).grip == Latches::Grip::slide;
    slid += slides;
    double energy = kinetic_energy(world);
    const Vec3 p0 = momentum(world), l0 = angular_momentum(world, {});
    for (int tick = 0; tick < 40; ++tick) {
      pair.bench->tick();
      const double now = kinetic_energy(world);
      EXPECT_LE(now, energy * (1 + 1e-4) + 1e-12) << trial << " tick " << tick;
      energy = now;
    }
    EXPECT_LT(length(momentum(world) - p0), 1e-6 * (length(p0) + 0.1));
    EXPECT_LT(length(angular_momentum(world, {}) - l0), 1e-6);
  }
  EXPECT_GE(slid, 30) << "of 40, or this shows nothing";
}

TEST(Latches, FormHoldsWhatFrictionWouldNot) {
  Couple pair({{0.1, 0, 0}, {}}, jaws(true));
  pair.bench->tick(40);
  pair.pull(100, 120);
  EXPECT_EQ(pair.phase(), DockPhase::engaged);
  EXPECT_LT(pair.bench->world().largest_dock_error().distance, 1e-4);
}

// mu F of the load against the motor's force: 60 N / 0.25 = 240 N.
TEST(Latches, TeethUnderLoadStick) {
  Couple pair({{0.1, 0, 0}, {}}, jaws(true));
  pair.bench->tick(40);
  pair.pull(250, 10);
  pair.bench->world().enable_dock(pair.east(), false);
  pair.pull(250, 60);
  EXPECT_TRUE(pair.state().stuck);
  EXPECT_EQ(pair.phase(), DockPhase::engaged);
  pair.pull(230, 40);
  EXPECT_FALSE(pair.state().stuck);
  EXPECT_EQ(pair.phase(), DockPhase::free);
}

// In multiples of what the jaws bear: they stop at 1 - 1 / m of their way back.
TEST(Latches, JamOnWhatStandsAskew) {
  for (const double aside : {0.0019, 0.0021, 0.004, 0.008}) {
    model::Latch latch = jaws(true);
    latch.jam_distance = 0.002;
    Couple pair({{0.104, aside, 0}, {}}, latch);
    pair.bench->tick(45);
    const bool jams = aside > latch.jam_distance;
    EXPECT_EQ(pair.state().jammed, jams) << aside;
    EXPECT_EQ(pair.phase(), jams ? DockPhase::latching : DockPhase::engaged);
    EXPECT_EQ(pair.count(DockEvent::Kind::jammed), jams ? 1 : 0);
    if (!jams) continue;
    EXPECT_NEAR(pair.state().opening, 1 - latch.jam_distance / aside, 1e-6);
    EXPECT_NEAR(pair.bench->world().dock_pose(pair.bench->dock("b", "west")).position.y, aside, 1e-4)
        << "it stays as it was captured";
    pair.pull(11, 30);  // of 15 N, and a moment, because the two are not in line
    EXPECT_EQ(pair.phase(), DockPhase::latching) << "jammed jaws hold by friction";
    pair.bench->world().enable_dock(pair.east(), false);
    pair.bench->tick(40);
    EXPECT_EQ(pair.phase(), DockPhase::free) << "a mind that sees it opens them";
    EXPECT_FALSE(pair.state().jammed);
  }
  model::Latch latch = jaws(true);
  latch.jam_angle = radians(4);
  for (const double degrees : {3.5, 4.5}) {
    const Quat turn = Quat::axis_angle({0, 0, 1}, radians(degrees));
    Couple pair({Vec3{0.054, 0, 0} + turn * Vec3{0.05, 0, 0}, turn}, latch);  // about the dock
    pair.bench->tick(45);
    EXPECT_EQ(pair.state().jammed, degrees > 4) << degrees;
  }
}

TEST(Latches, JammedJawsSlipBeyondTheirFriction) {
  Couple pair({{0.104, 0.005, 0}, {}}, jaws(true));
  pair.bench->tick(45);
  ASSERT_TRUE(pair.state().jammed);
  pair.pull(17, 10);
  EXPECT_EQ(pair.phase(), DockPhase::free);
  EXPECT_EQ(pair.count(DockEvent::Kind::slipped), 1);
}

// Whatever pulls, pushes aside or turns: 15 N of friction when jammed, 60 N while they close, and a moment at the
// capture distance, 20 mm.
TEST(Latches, WhatIsNotClosedHoldsNoMoreThanItsForceInAnyDirection) {
  const auto load = [](Couple& pair, const Vec3& force, const Vec3& moment, int ticks) {
    for (int i = 0; i < ticks; ++i) {
      // Between the docks: at b's, 50 mm from its centre, and at a's.
      const Vec3 arm{0.05, 0, 0};
      pair.bench->world().push(1, {force, moment - cross(arm, force)});
      pair.bench->world().push(0, {-force, -moment - cross(arm, force)});
      pair.bench->tick();
    }
  };
  for (const bool jammed : {false, true})
    for (const Vec3& direction : {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, -1}})
      for (const bool turns : {false, true})
        for (const double part : {0.7, 1.4}) {
          Couple pair({{jammed ? 0.104 : 0.1, jammed ? 0.005 : 0, 0}, {}}, jaws(true));
          pair.bench->tick(jammed ? 45 : 4);
          ASSERT_EQ(pair.state().jammed, jammed);
          const double held = part * (jammed ? 15 : 60);
          load(pair, turns ? Vec3{} : direction * held, turns ? direction * (held * 0.02) : Vec3{}, 6);
          EXPECT_EQ(pair.phase() == DockPhase::free, part > 1)
              << (jammed ? "jammed" : "closing") << (turns ? ", turned" : "") << " about " << direction.x << " "
              << direction.y << " " << direction.z << ", " << part;
        }
}

TEST(Latches, WhatIsNotClosedIsNoStrongerThanItsDock) {
  for (const double strength : {20.0, 1e3}) {
    model::ModuleModel module = with_jaws(jaws(true));
    for (model::Dock& dock : module.docks) dock.strength.axial = strength;
    Couple pair({{0.1, 0, 0}, {}}, share(module), share(cube()), physics::default_engine);
    pair.bench->tick(4);
    ASSERT_EQ(pair.phase(), DockPhase::latching);
    pair.pull(30, 6);
    EXPECT_EQ(pair.count(DockEvent::Kind::broken), strength < 30 ? 1 : 0);
  }
}

// What has slid out is pushed back in against the same friction, and is flush then.
TEST(Latches, WhatHasSlidOutSlidesBackIn) {
  Couple pair({{0.1, 0, 0}, {}}, jaws(false));
  pair.bench->tick(40);
  pair.pull(15.5, 6);
  pair.bench->tick(60);
  World& world = pair.bench->world();
  const double slid = world.dock_slip(pair.east());
  ASSERT_GT(slid, 1e-4);
  pair.pull(-14, 60);
  EXPECT_NEAR(world.dock_slip(pair.east()), slid, 1e-9) << "friction holds";
  pair.pull(-17, 60);
  EXPECT_LT(world.dock_slip(pair.east()), 2e-5);
  pair.bench->tick(10);
  EXPECT_EQ(pair.phase(), DockPhase::engaged);
  EXPECT_LT(world.largest_dock_error().distance, 1e-4);
}

// Another engine goes on where it slides.
TEST(Latches, AnotherEngineTakesOverWhatSlides) {
  for (const std::string& engine : physics::built_in_engines().names()) {
    if (engine == "none" || engine == "native") continue;
    Couple pair({{0.1, 0, 0}, {}}, jaws(false));
    pair.bench->tick(40);
    World& world = pair.bench->world();
    for (int tick = 0; tick < 20 && world.dock_slip(pair.east()) < 2e-4; ++tick) pair.pull(15.6, 1);
    ASSERT_EQ(world.latches()->pair(pair.east()).grip, Latches::Grip::slide) << engine;
    auto made = physics::built_in_engines().make(engine, {{}, 1.0 / 240, nullptr, {}});
    ASSERT_TRUE(made.ok());
    const double before = world.dock_slip(pair.east());
    const Result<void> changed = world.change_engine(std::move(*made));
    ASSERT_TRUE(changed.ok()) << engine << ": " << changed.error().text();
    EXPECT_NEAR(world.dock_slip(pair.east()), before, 1e-6) << engine;
    pair.pull(20, 60);
    EXPECT_EQ(pair.count(DockEvent::Kind::slipped), 1) << engine;
  }
}

TEST(Latches, JawsThatCloseArePulledApartByMoreThanTheirForce) {
  for (const double force : {50.0, 70.0}) {
    Couple pair({{0.104, 0, 0}, {}}, jaws(true));
    pair.bench->tick(10);
    ASSERT_EQ(pair.phase(), DockPhase::latching);
    pair.pull(force, 10);
    EXPECT_EQ(pair.phase() == DockPhase::free, force > 60) << force;
  }
}

// Docked from the start, and hanging from a wall: friction slips under what is too heavy.
TEST(Latches, WhatIsDockedFromTheStartHangs) {
  for (const double mass : {1.4, 1.7}) {  // 15 N: 1.53 kg
    model::WorldBuilder builder("hanging");
    builder.set_gravity({0, 0, -g});
    model::ModuleModel ceiling = with_jaws(jaws(false)), load = cube();
    ceiling.fixed_in_place = true, ceiling.mind.reset();
    load.links[0].mass = mass;
    builder.add(share(ceiling), Pose{{0, 0, 1}, {}}, "ceiling");
    builder.add(share(load), Pose{{0, 0, 0.9}, {}}, "load");
    builder.connect("ceiling.down", "load.up", 2);
    Bench bench(builder);
    EXPECT_EQ(bench.world().latches()->jaws(bench.dock("ceiling", "down")).opening, 0);
    bench.tick(120);
    EXPECT_EQ(bench.world().graph().connections(), mass < 1.53 ? 1u : 0u) << mass;
    if (mass < 1.53) {
      EXPECT_EQ(bench.world().dock_slip(bench.dock("load", "up")), 0);
    }
  }
}

// Of other engines: they have the same joints; friction that holds creeps in some.
TEST(Latches, HoldAndSlipInEveryEngine) {
  for (const std::string& engine : physics::built_in_engines().names()) {
    if (engine == "none") continue;
    Couple pair({{0.1, 0, 0}, {}}, jaws(false), false, engine);
    const std::vector<std::string> lines = left_out(pair.bench->world());
    EXPECT_EQ(lines.size(), engine == "ode" || engine == "mujoco" ? 1u : 0u) << engine;
    pair.bench->tick(40);
    ASSERT_EQ(pair.phase(), DockPhase::engaged) << engine;
    pair.pull(0.9 * 15, 60);
    EXPECT_EQ(pair.phase(), DockPhase::engaged) << engine;
    EXPECT_LT(pair.bench->world().dock_slip(pair.east()), 1e-3) << engine;
    pair.pull(1.2 * 15, 60);
    EXPECT_EQ(pair.phase(), DockPhase::free) << engine;
  }
}

// Saved at every moment of a life: closing, jammed, sliding, opening.
TEST(Latches, SnapshotsGoOnWithTheSameBits) {
  for (const double aside : {0.0, 0.005})
    for (const int at : {5, 35, 60, 75, 100}) {
      const auto hash = [](World& world) {
        HashArchive ar;
        world.archive(ar);
        return ar.value();
      };
      const auto live = [&](Couple& pair, int from, int to) {
        pair.bench->start_at(from);
        for (int tick = from; tick < to; ++tick) {
          if (tick == 70) pair.bench->world().enable_dock(pair.east(), false);
          if (tick == 110) pair.bench->world().enable_dock(pair.east(), true);
          pair.pull(tick >= 50 && tick < 70 ? 15.2 : 0, 1);
        }
      };
      Couple one({{0.104, aside, 0}, {}}, jaws(false)), other({{0.104, aside, 0}, {}}, jaws(false));
      live(one, 0, at);
      SaveArchive save;
      one.bench->world().archive(save);
      LoadArchive load(save.bytes());
      other.bench->world().archive(load);
      ASSERT_TRUE(load.ok()) << load.failure();
      live(one, at, 160);
      live(other, at, 160);
      EXPECT_EQ(hash(one.bench->world()), hash(other.bench->world())) << aside << " saved at " << at;
      EXPECT_EQ(one.bench->world().dock_slip(one.east()), other.bench->world().dock_slip(other.east()));
    }
}

}  // namespace
}  // namespace volvox::world
