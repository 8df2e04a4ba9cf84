#include "volvox/mixed/mixed_world.h"

#include <gtest/gtest.h>

#include "volvox/lattice/programs/flood.h"
#include "volvox/lattice/programs/gradient.h"
#include "volvox/lattice/programs/roller.h"

namespace volvox::mixed {
namespace {

using lattice::Cell;
using lattice::Flood;
using lattice::Gradient;
using lattice::Kind;

constexpr double pitch = 0.01;

MixedOptions on_the_ground() {
  MixedOptions options;
  options.ground = -pitch / 2;
  return options;
}
MixedOptions weak() {
  MixedOptions options = on_the_ground();
  options.bond = {0.05, 0.05, 2e-4, 2e-4};
  return options;
}
MixedOptions in_free_fall() {
  MixedOptions options;
  options.gravity = {};
  return options;
}

struct Scene {
  explicit Scene(Kind kind, const MixedOptions& options = on_the_ground(), int threads = 1,
                 const lattice::WorldOptions& world_options = {})
      : pool(threads), on_lattice(lattice::Lattice(kind, pitch), world_options), world(on_lattice, options) {}
  void start() {
    const auto started = world.start();
    ASSERT_TRUE(started.ok()) << started.error().text();
    ASSERT_TRUE(world.use(world.options().engine, &pool, 1.0 / 240).ok());
  }
  void run(std::int64_t ticks) {
    for (const std::int64_t end = tick + ticks; tick < end; ++tick) {
      const auto done = world.tick(dt.start_of(tick), dt.start_of(tick + 1));
      ASSERT_TRUE(done.ok()) << done.error().text();
    }
  }
  const lattice::Ensemble& ensemble() const { return world.catoms().ensemble(); }
  lattice::CatomWorld& catoms() { return world.catoms(); }

  ThreadPool pool;
  TickLength dt;
  std::int64_t tick = 0;
  lattice::CatomWorld on_lattice;
  MixedWorld world;
};

std::vector<Cell> box(const Cell& low, const Cell& high) {
  std::vector<Cell> cells;
  for (std::int32_t z = low.z; z <= high.z; ++z)
    for (std::int32_t y = low.y; y <= high.y; ++y)
      for (std::int32_t x = low.x; x <= high.x; ++x) cells.push_back({x, y, z});
  return cells;
}

TEST(MixedWorld, WhoIsLetGoFallsAndGoesBackWhereItLies) {
  for (const char* engine : {"native", "bullet", "ode"}) {
    MixedOptions options = on_the_ground();
    options.engine = engine;
    Scene scene(Kind::fcc, options);
    ASSERT_TRUE(scene.catoms().add_box({0, 0, 0}, {5, 5, 0}).ok());
    ASSERT_TRUE(scene.catoms().add(std::vector<Cell>{{2, 2, 3}}).ok());  // above a hollow
    scene.start();
    ASSERT_TRUE(scene.world.release(36).ok());
    scene.run(1);
    EXPECT_TRUE(scene.world.in_dynamics(36));
    EXPECT_EQ(scene.world.count_in_dynamics(), 1u);
    EXPECT_NEAR(scene.world.velocity(36).linear.z, -9.81 / 60, 1e-6);
    EXPECT_EQ(scene.world.walls(), 0u) << "nobody is in reach yet";
    scene.run(2);
    EXPECT_GT(scene.world.walls(), 0u);
    EXPECT_LT(scene.world.walls(), 20u);
    scene.run(120);
    EXPECT_FALSE(scene.world.in_dynamics(36)) << engine;
    EXPECT_EQ(scene.ensemble().cell(36), (Cell{2, 2, 1})) << engine;
    EXPECT_EQ(scene.world.walls(), 0u);
    EXPECT_EQ(scene.world.changes().asked, 1u);
    EXPECT_EQ(scene.world.changes().over(), 1u) << "it did not hit the others hard";
    EXPECT_EQ(scene.world.changes().back, 1u);
    EXPECT_LT(scene.world.changes().farthest, 0.1 * pitch);
  }
}

// Without weight and hits nothing moves, and going over is seen by nobody: the same messages and states as on the
// lattice alone, also of those that wait for capacity.
template <class Program>
void compare_with_lattice(Kind kind, std::uint32_t capacity, std::uint64_t seed) {
  lattice::WorldOptions options;
  options.seed = seed, options.capacity = capacity;
  const std::vector<Cell> cells = lattice::Lattice(kind).flat() ? box({0, 0, 0}, {8, 8, 0}) : box({0, 0, 0}, {4, 4, 4});
  lattice::CatomWorld alone(lattice::Lattice(kind, pitch), options);
  MixedOptions still = in_free_fall();
  still.rest_time = 0.1;  // some go back while messages are on their way
  Scene scene(kind, still, 1, options);
  for (lattice::CatomWorld* world : {&alone, &scene.catoms()}) {
    ASSERT_TRUE(world->load<Program>().ok());
    ASSERT_TRUE(world->add(cells).ok());
    world->template state<Program>(0)->source = true;
  }
  ASSERT_TRUE(alone.start().ok());
  scene.start();
  RandomStream random(seed, 0, "mixed");
  for (int tick = 0; tick < 60; ++tick) {
    const auto one = random.below(narrow<std::uint32_t>(cells.size()));
    if (tick < 30 && !scene.world.in_dynamics(one)) {
      ASSERT_TRUE(scene.world.release(one).ok());
    }
    ASSERT_TRUE(alone.tick().ok());
    scene.run(1);
    ASSERT_EQ(scene.catoms().traffic().sent, alone.traffic().sent) << tick;
    ASSERT_EQ(scene.catoms().traffic().delivered, alone.traffic().delivered) << tick;
  }
  EXPECT_EQ(alone.traffic().lost, scene.catoms().traffic().lost);
  EXPECT_GT(scene.world.changes().over(), 20u);
  EXPECT_GT(scene.world.changes().back, 10u);
  EXPECT_EQ(scene.world.changes().bonds_broken, 0u);
  for (std::uint32_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(describe(*alone.state<Program>(i)), describe(*scene.catoms().template state<Program>(i))) << i;
  }
}

TEST(MixedWorld, ProgramsDoNotNotice) {
  for (const Kind kind : lattice::all_kinds)
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      compare_with_lattice<Flood>(kind, lattice::unlimited, seed);
      compare_with_lattice<Flood>(kind, 1, seed);
      compare_with_lattice<Gradient>(kind, lattice::unlimited, seed);
      compare_with_lattice<Gradient>(kind, 3, seed);
    }
}

// Half of a bar is in dynamics and swings down on its bonds; the flood goes over the bonds all the same.
TEST(MixedWorld, MessagesCrossBondsAndWhatLiesSideBySide) {
  MixedOptions options = on_the_ground();
  options.bond = {100, 100, 1, 1};
  Scene scene(Kind::cubic, options);
  ASSERT_TRUE(scene.catoms().load<Flood>().ok());
  ASSERT_TRUE(scene.catoms().add_box({0, 0, 0}, {0, 0, 3}).ok());
  ASSERT_TRUE(scene.catoms().add_box({1, 0, 3}, {6, 0, 3}).ok());
  scene.catoms().state<Flood>(0)->source = true;
  scene.start();
  for (std::uint32_t i = 4; i < 10; ++i) ASSERT_TRUE(scene.world.release(i).ok());
  scene.run(30);
  EXPECT_EQ(scene.catoms().traffic().lost, 0u);
  for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(scene.catoms().state<Flood>(i)->hops, i) << i;
}

TEST(MixedWorld, WhatStoodOnThemFalls) {
  Scene scene(Kind::cubic);
  ASSERT_TRUE(scene.catoms().add_box({0, 0, 0}, {0, 0, 5}).ok());  // a pillar
  ASSERT_TRUE(scene.catoms().add_box({1, 0, 5}, {4, 0, 5}).ok());  // a beam
  ASSERT_TRUE(scene.catoms().add_box({5, 0, 0}, {5, 0, 5}).ok());  // another pillar
  scene.start();
  ASSERT_TRUE(scene.world.release(2).ok());
  scene.run(1);
  // What is above it hangs on the beam, and that on the other pillar.
  EXPECT_EQ(scene.world.count_in_dynamics(), 1u);
  EXPECT_EQ(scene.world.changes().fell, 0u);
  ASSERT_TRUE(scene.world.release(12).ok());
  scene.run(1);
  EXPECT_EQ(scene.world.changes().fell, 3u + 4 + 3);
  EXPECT_FALSE(scene.world.in_dynamics(0));
}

// A fast catom hits a wall: those that are hit go over before it touches them, and energy only falls.
TEST(MixedWorld, WhoIsHitGoesOverAndEnergyIsNotMade) {
  for (const Kind kind : {Kind::cubic, Kind::fcc, Kind::hex, Kind::square}) {
    MixedOptions options = in_free_fall();
    options.bond = {0.02, 0.02, 1e-4, 1e-4};
    Scene scene(kind, options);
    const int top = lattice::Lattice(kind).flat() ? 0 : 6;
    ASSERT_TRUE(scene.catoms().add(box({0, 0, 0}, {1, 6, top})).ok());
    ASSERT_TRUE(scene.catoms().add(std::vector<Cell>{{8, 3, top / 2}}).ok());
    scene.start();
    const std::uint32_t ball = narrow<std::uint32_t>(scene.ensemble().count() - 1);
    ASSERT_TRUE(scene.world.release(ball, {{-3, 0, 0}, {}}).ok());
    double energy = 0.5 * options.body.mass * 9;
    for (int tick = 0; tick < 60; ++tick) {
      scene.run(1);
      EXPECT_LE(scene.world.kinetic_energy(), energy * (1 + 1e-9)) << name(kind) << tick;
      energy = std::max(1e-9, scene.world.kinetic_energy());
    }
    EXPECT_GT(scene.world.changes().hit, 0u) << name(kind);
    EXPECT_GT(scene.world.changes().bonds_broken, 0u) << name(kind);
    EXPECT_LT(scene.world.velocity(ball).linear.x, 0.1) << name(kind);
  }
}

// A heap that falls, with a program that runs all the time.
void make_heap(Scene& scene) {
  ASSERT_TRUE(scene.catoms().load<Gradient>().ok());
  ASSERT_TRUE(scene.catoms().add_box({0, 0, 0}, {9, 9, 0}).ok());
  ASSERT_TRUE(scene.catoms().add_box({4, 4, 1}, {5, 5, 9}).ok());
  ASSERT_TRUE(scene.catoms().add_box({13, 4, 7}, {14, 5, 8}).ok());
  scene.catoms().state<Gradient>(0)->source = true;
  scene.start();
  for (std::uint32_t i = 136; i < 144; ++i) ASSERT_TRUE(scene.world.release(i, {{-3, 0.3, 0}, {}}).ok());
}

TEST(MixedWorld, TheSameAtAnyNumberOfThreadsAndAfterASnapshot) {
  std::vector<std::uint64_t> hashes;
  for (const int threads : {1, 2, 3}) {
    Scene scene(Kind::fcc, weak(), threads);
    make_heap(scene);
    std::vector<std::byte> saved;
    std::vector<std::uint64_t> own;
    for (int part = 0; part < 6; ++part) {
      scene.run(20);
      own.push_back(scene.world.hash());
      if (part == 1) {
        SaveArchive ar;
        scene.world.archive(ar);
        saved = ar.take();
      }
    }
    EXPECT_GT(scene.world.changes().over(), 12u);
    EXPECT_GT(scene.world.changes().back, 0u);
    EXPECT_GT(scene.world.changes().bonds_broken, 0u);
    if (hashes.empty()) hashes = own;
    EXPECT_EQ(own, hashes) << threads;
    // Into the world that went on, and into a new one.
    Scene again(Kind::fcc, weak(), 4 - threads);
    make_heap(again);
    for (Scene* other : {&scene, &again}) {
      LoadArchive ar(saved);
      other->world.archive(ar);
      ASSERT_TRUE(ar.ok()) << ar.failure();
      EXPECT_EQ(ar.remaining(), 0u);
      other->tick = 40;
      EXPECT_EQ(other->world.hash(), hashes[1]);
      other->run(20);
      EXPECT_EQ(other->world.hash(), hashes[2]);
      other->run(60);
      EXPECT_EQ(other->world.hash(), hashes[5]);
    }
  }
}

// In the middle of a fall. Who is where, and how fast, is the same before and after; bonds go over, too.
TEST(MixedWorld, AnotherEngineTakesOverAndReadsSnapshots) {
  for (const auto& [from, to] :
       {std::pair("native", "bullet"), std::pair("ode", "native"), std::pair("bullet", "ode")}) {
    MixedOptions options = weak();
    options.engine = from;
    Scene scene(Kind::fcc, options);
    make_heap(scene);
    scene.run(30);
    const std::size_t bonds = scene.world.bonds(), count = scene.world.count_in_dynamics();
    ASSERT_GT(bonds, 10u);
    std::vector<Pose> poses;
    std::vector<Twist> velocities;
    for (std::uint32_t i = 0; i < 144; ++i)
      poses.push_back(scene.world.pose(i)), velocities.push_back(scene.world.velocity(i));
    SaveArchive ar;
    scene.world.archive(ar);
    options.engine = to;
    Scene other(Kind::fcc, options);
    make_heap(other);
    LoadArchive back(ar.bytes());
    other.world.archive(back);  // read by the engine that wrote it
    ASSERT_TRUE(back.ok()) << back.failure();
    EXPECT_EQ(other.world.options().engine, from);
    EXPECT_EQ(other.world.hash(), scene.world.hash());
    for (Scene* one : {&scene, &other}) {
      const auto used = one->world.use(to, &one->pool, 1.0 / 240);
      ASSERT_TRUE(used.ok()) << used.error().text();
      EXPECT_EQ(one->world.engine_info().name, to);
      EXPECT_EQ(one->world.bonds(), bonds);
      EXPECT_EQ(one->world.count_in_dynamics(), count);
      for (std::uint32_t i = 0; i < 144; ++i) {
        EXPECT_LT(length(one->world.pose(i).position - poses[i].position), 1e-9) << i;
        EXPECT_LT(length(one->world.velocity(i).linear - velocities[i].linear), 1e-9) << i;
      }
      one->tick = 30;
      one->run(60);
    }
    EXPECT_EQ(scene.world.hash(), other.world.hash()) << from << " to " << to;
    const auto settled = [](const Scene& one) { return one.world.changes().back > 0; };
    EXPECT_TRUE(settled(scene)) << from << " to " << to;
  }
}

TEST(MixedWorld, TheEngineHasTheThreadsThatItWasGivenBeforeOrAfterTheStart) {
  for (const bool before : {true, false}) {
    ThreadPool pool(3);
    lattice::CatomWorld catoms(lattice::Lattice(Kind::fcc, pitch));
    MixedWorld world(catoms, on_the_ground());
    const auto use = [&] { return world.use("native", &pool, 1.0 / 240); };
    const Result<void> first = before ? use() : world.start(), then = before ? world.start() : use();
    ASSERT_TRUE(first.ok() && then.ok());
    EXPECT_NE(world.engine_info().settings.find("3 threads"), std::string::npos) << world.engine_info().settings;
  }
}

TEST(MixedWorld, ADamagedSnapshotIsRefused) {
  Scene scene(Kind::fcc, weak());
  make_heap(scene);
  scene.run(30);
  SaveArchive ar;
  scene.world.archive(ar);
  const std::vector<std::byte> good = ar.take();
  const std::uint64_t hash = scene.world.hash();
  RandomStream random(1, 0, "damage");
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    std::vector<std::byte> bad = good;
    if (i % 3 == 0) bad.resize(random.below(narrow<std::uint32_t>(good.size())));
    else bad[random.below(narrow<std::uint32_t>(good.size()))] ^= std::byte{1} << random.below(8);
    LoadArchive load(bad);
    scene.world.archive(load);
    const bool taken = load.ok() && load.remaining() == 0;
    refused += taken ? 0 : 1;
    EXPECT_FALSE(taken && i % 3 == 0) << bad.size();
    LoadArchive back(good);
    scene.world.archive(back);
    ASSERT_TRUE(back.ok()) << back.failure();
    ASSERT_EQ(scene.world.hash(), hash);
  }
  EXPECT_GE(refused, 100);
  scene.run(10);
}

// Rolling catoms cannot roll into a body, and who is in dynamics cannot roll at all.
TEST(MixedWorld, BodiesAreInTheWayOfMotions) {
  MixedOptions options = in_free_fall();
  options.goes_back = false;
  Scene scene(Kind::hex, options);
  ASSERT_TRUE(scene.catoms().load<lattice::Roller>().ok());
  ASSERT_TRUE(scene.catoms().add_box({0, 0, 0}, {9, 0, 0}).ok());
  ASSERT_TRUE(scene.catoms().add(std::vector<Cell>{{8, 1, 0}, {3, 1, 0}}).ok());
  scene.catoms().state<lattice::Roller>(10)->rolls = true;
  scene.start();
  ASSERT_TRUE(scene.world.release(11).ok());
  scene.run(50);
  EXPECT_EQ(scene.ensemble().cell(10), (Cell{4, 1, 0}));
  EXPECT_GT(scene.catoms().motion().moves, 2u);
  EXPECT_GT(scene.catoms().motion().blocked, 10u);
  ASSERT_TRUE(scene.world.release(10).ok());
  const std::uint64_t moves = scene.catoms().motion().moves;
  scene.run(10);
  EXPECT_EQ(scene.catoms().motion().moves, moves);
}

// On a plane, where nothing else stops a ball, in any direction.
TEST(MixedWorld, DragSlowsDown) {
  MixedOptions options = in_free_fall();
  options.body.drag = 2;
  Scene scene(Kind::hex, options);
  ASSERT_TRUE(scene.catoms().add(std::vector<Cell>{{0, 0, 0}}).ok());
  scene.start();
  ASSERT_TRUE(scene.world.release(0, {{0.3, 0, 0.4}, {0, 3, 4}}).ok());
  scene.run(60);
  const double left = volvox::exp(-2.0);
  EXPECT_NEAR(length(scene.world.velocity(0).linear), 0.5 * left, 0.02 * 0.5);
  EXPECT_NEAR(length(scene.world.velocity(0).angular), 5 * left, 0.05 * 5);
}

// Asks once for a roll.
struct RollOnce {
  std::uint8_t pivot = 0;
  bool rolls = false, clockwise = false, asked = false;
  void new_tick(lattice::Catom& catom) {
    if (!rolls || asked || catom.tick() < 5 || catom.moving()) return;
    asked = catom.roll(pivot, clockwise ? lattice::Turn::clockwise : lattice::Turn::counter_clockwise);
  }
};
VOLVOX_TYPE(RollOnce, pivot, rolls, clockwise, asked)

// Planar catoms on a table, held by magnets: one of three rolls about another by a sixth of a turn, either way, and the
// others stay; who holds two together may not.
TEST(MixedWorld, RollsByMagnetsAlone) {
  constexpr double wide = 0.044;
  for (const bool clockwise : {false, true}) {
    MixedOptions options;
    options.body = {.mass = 0.06, .friction = 0.6, .ground_friction = 0.3};
    options.ground = -wide / 4;
    options.goes_back = false;
    options.rings.emplace();
    lattice::CatomWorld catoms(lattice::Lattice(Kind::hex, wide));
    MixedWorld world(catoms, options);
    ASSERT_TRUE(catoms.load<RollOnce>().ok());
    // A row of three and one above the second: it rolls on along the row, about the second and third.
    ASSERT_TRUE(catoms.add(std::vector<Cell>{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {1, 1, 0}}).ok());
    // Beside the gap of the second and third; clockwise over the third, counter-clockwise over the second.
    *catoms.state<RollOnce>(3) = {narrow<std::uint8_t>(clockwise ? 5 : 3), true, clockwise, false};
    ASSERT_TRUE(world.start().ok());
    for (std::uint32_t i = 0; i < 4; ++i) ASSERT_TRUE(world.release(i).ok());
    ASSERT_TRUE(world.use("native", nullptr, 1.0 / 480).ok());
    const TickLength dt;
    const Vec3 before = world.pose(3).position;
    std::vector<Vec3> others;
    for (std::uint32_t i = 0; i < 3; ++i) others.push_back(world.pose(i).position);
    for (std::int64_t t = 0; t < 60; ++t) {
      const auto done = world.tick(dt.start_of(t), dt.start_of(t + 1));
      ASSERT_TRUE(done.ok()) << done.error().text();
    }
    EXPECT_EQ(world.changes().rolls, 1u) << clockwise;
    EXPECT_EQ(world.changes().steps_missed, 0u) << clockwise;
    const double moved = world.pose(3).position.x - before.x;
    EXPECT_NEAR(moved, (clockwise ? 1 : -1) * wide, 0.25 * wide) << clockwise;
    for (std::uint32_t i = 0; i < 3; ++i)
      EXPECT_LT(length(world.pose(i).position - others[i]), 0.25 * wide) << clockwise << i;
  }
}

TEST(MixedWorld, CatomsInDynamicsCanBeRemoved) {
  Scene scene(Kind::cubic);
  ASSERT_TRUE(scene.catoms().load<Gradient>().ok());
  ASSERT_TRUE(scene.catoms().add_box({0, 0, 0}, {2, 2, 2}).ok());
  scene.catoms().state<Gradient>(0)->source = true;
  scene.start();
  for (std::uint32_t i = 9; i < 18; ++i) ASSERT_TRUE(scene.world.release(i).ok());
  scene.run(3);
  EXPECT_EQ(scene.world.count_in_dynamics(), 18u) << "and what stood on them";
  ASSERT_TRUE(scene.catoms().remove(13).ok());
  ASSERT_TRUE(scene.catoms().remove(4).ok());
  scene.run(3);
  EXPECT_EQ(scene.world.count_in_dynamics(), 17u);
  EXPECT_EQ(scene.ensemble().size(), 25u);
  scene.run(120);
  EXPECT_EQ(scene.world.count_in_dynamics(), 0u);
}

TEST(MixedWorld, SaysWhatIsWrong) {
  const auto refusal = [](const auto& change) {
    MixedOptions options = on_the_ground();
    change(options);
    lattice::CatomWorld catoms(lattice::Lattice(Kind::fcc, pitch));
    MixedWorld world(catoms, options);
    const auto started = world.start();
    return started.ok() ? "" : started.error().text();
  };
  EXPECT_EQ(refusal([](MixedOptions&) {}), "");
  EXPECT_NE(refusal([](MixedOptions& o) { o.body.mass = 0; }).find("a mass of 0 kg"), std::string::npos);
  EXPECT_NE(refusal([](MixedOptions& o) { o.body.drag = -1; }).find("a drag of -1"), std::string::npos);
  EXPECT_NE(refusal([](MixedOptions& o) { o.bond.shear = -1; }).find("without strength"), std::string::npos);
  EXPECT_NE(refusal([](MixedOptions& o) { o.hit_speed = 0; }).find("hit_speed"), std::string::npos);
  EXPECT_NE(refusal([](MixedOptions& o) { o.place = 0.6; }).find("at most 0.4"), std::string::npos);
  EXPECT_NE(refusal([](MixedOptions& o) { o.rings.emplace(); }).find("hexagonal"), std::string::npos);
  EXPECT_NE(refusal([](MixedOptions& o) { o.engine = "none"; }).find("moves nothing"), std::string::npos);
  EXPECT_NE(refusal([](MixedOptions& o) { o.engine = "nativ"; }).find("nativ"), std::string::npos);
  Scene scene(Kind::fcc);
  ASSERT_TRUE(scene.catoms().add_box({0, 0, 0}, {1, 1, 0}).ok());
  scene.start();
  ASSERT_TRUE(scene.catoms().remove(3).ok());
  EXPECT_NE(scene.world.release(3).error().text().find("there is no catom 3"), std::string::npos);
  EXPECT_NE(scene.world.release(9).error().text().find("there is no catom 9"), std::string::npos);
  EXPECT_FALSE(scene.world.release(1, {{NAN, 0, 0}, {}}).ok());
  ASSERT_TRUE(scene.world.release(1).ok());
  scene.run(1);
  EXPECT_NE(scene.world.release(1).error().text().find("in dynamics already"), std::string::npos);
  EXPECT_NE(scene.world.use("nativ", nullptr, 0.01).error().text().find("nativ"), std::string::npos);
  EXPECT_NE(scene.world.use("none", nullptr, 0.01).error().text().find("moves nothing"), std::string::npos);
  scene.run(1);  // with the engine of before
  EXPECT_EQ(scene.world.options().engine, "native");
}

}  // namespace
}  // namespace volvox::mixed
