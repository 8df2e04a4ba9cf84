#include "volvox/world/magnets.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cubes.h"

namespace volvox::world {
namespace {

using model::WorldBuilder;

// A ball of 0.1 kg with one pole in its centre, or off it.
std::shared_ptr<const model::ModuleModel> ball(const Vec3& at = {}, double strength = 100, double range = 2,
                                               bool touches = false) {
  model::ModuleModel ball;
  ball.name = "ball";
  model::Link link;
  link.name = "body";
  link.mass = 0.1;
  link.moments = {1e-4, 1e-4, 1e-4};
  link.geometry = std::make_shared<model::Geometry>();
  if (touches)
    link.geometry = std::make_shared<model::Geometry>(model::Geometry{{{"ball", model::Sphere{0.05}, {}, {0.5, 0.0}}}});
  ball.links.push_back(link);
  ball.magnets.push_back({"m", 0, at, strength, 0.01, range, 0});
  ball.mind = model::Mind{};
  return share(std::move(ball));
}

std::unique_ptr<World> floating(WorldBuilder& builder, const std::string& engine = physics::default_engine) {
  builder.set_gravity({});
  auto made = make_world(builder, engine);
  if (!made.ok()) throw std::runtime_error(made.error().text());
  return std::move(*made);
}

std::uint64_t hash_of(World& world) {
  HashArchive ar;
  world.archive(ar);
  return ar.value();
}

// In ticks of 1/60 s, with that many substeps.
void advance(World& world, int ticks, int substeps = 16, std::int64_t first = 0) {
  const TickLength dt{1, 60};
  for (std::int64_t t = first; t < first + ticks; ++t) {
    const StepStatus status = world.move(dt.start_of(t), dt.start_of(t + 1), 1.0 / 60 / substeps, {});
    ASSERT_TRUE(status.ok()) << status.text();
  }
}

TEST(PolePair, IsCoulombsLawFarAwayAndTheSlopeOfItsEnergyEverywhere) {
  // 1e-7 N/A^2 * 100 A m * 100 A m / (1 m)^2
  EXPECT_NEAR(pole_pair(100, 100, 1, 0.001, 10).push, 1e-3, 1e-8);
  EXPECT_NEAR(pole_pair(100, -100, 2, 0.001, 10).push, -0.25e-3, 1e-8);
  for (const double r : {0.0005, 0.002, 0.01, 0.1, 0.9}) {
    const double h = 1e-6 * r;
    const double slope =
        (pole_pair(50, -70, r + h, 0.002, 1).energy - pole_pair(50, -70, r - h, 0.002, 1).energy) / (2 * h);
    const double push = pole_pair(50, -70, r, 0.002, 1).push;
    EXPECT_NEAR(push, -slope, 1e-6 * std::fabs(push)) << r;
  }
  EXPECT_EQ(pole_pair(50, 50, 0, 0.002, 1).push, 0);
  EXPECT_NEAR(pole_pair(50, 50, 1, 0.002, 1).energy, 0, 1e-15);
  EXPECT_EQ(pole_pair(50, 50, 1.001, 0.002, 1).push, 0);
  EXPECT_EQ(pole_pair(50, 50, 1.001, 0.002, 1).energy, 0);
}

// On each engine: two free poles fall towards each other as the energy says, and momentum stays zero.
TEST(Magnets, TwoFreePolesKeepEnergyAndMomentum) {
  for (const std::string& engine : physics::built_in_engines().names()) {
    if (engine == "none") continue;
    WorldBuilder builder("two");
    builder.add(ball(), Pose{{0, 0, 0}, {}}, "a");
    builder.add(ball(), Pose{{0.5, 0, 0}, {}}, "b");
    const auto world = floating(builder, engine);
    world->switch_magnet(0, 0, 1);
    world->switch_magnet(1, 0, -1);
    const double before = world->magnets()->energy(*world);
    advance(*world, 120);
    const double apart = world->link_pose(1).position.x - world->link_pose(0).position.x;
    const double kinetic = kinetic_energy(*world);
    EXPECT_LT(apart, 0.45) << engine;
    EXPECT_GT(apart, 0.05) << engine;
    EXPECT_NEAR(kinetic + world->magnets()->energy(*world), before, 0.02 * kinetic) << engine;
    EXPECT_LT(length(momentum(*world)), 1e-9 * std::sqrt(kinetic)) << engine;
  }
}

// Free fall of two point masses by a force 1/r^2, from rest at r0 (Kepler's radial orbit):
// t(r) = sqrt(r0^3 / (2 k / mu)) (sqrt(x (1 - x)) + acos(sqrt x)), x = r / r0; here k = 1e-3 N m^2, mu = 0.05 kg.
TEST(Magnets, FallTowardsEachOtherInKeplersTime) {
  WorldBuilder builder("two");
  builder.add(ball(), Pose{{0, 0, 0}, {}}, "a");
  builder.add(ball(), Pose{{0.5, 0, 0}, {}}, "b");
  const auto world = floating(builder);
  world->switch_magnet(0, 0, 1);
  world->switch_magnet(1, 0, -1);
  const TickLength dt{1, 240};
  std::int64_t tick = 0;
  while (world->link_pose(1).position.x - world->link_pose(0).position.x > 0.2 && tick < 2000) {
    ASSERT_TRUE(world->move(dt.start_of(tick), dt.start_of(tick + 1), 1.0 / 1920, {}).ok());
    ++tick;
  }
  const double x = 0.2 / 0.5, scale = std::sqrt(0.125 / (2 * 1e-3 / 0.05));
  const double expected = scale * (std::sqrt(x * (1 - x)) + std::acos(std::sqrt(x)));
  EXPECT_NEAR(dt.start_of(tick).seconds(), expected, 0.005 * expected + 1.0 / 240);
}

TEST(Magnets, EqualPolesPushAndPolesThatAreOffDoNothing) {
  for (const double other : {1.0, 0.0}) {
    WorldBuilder builder("two");
    builder.add(ball(), Pose{{0, 0, 0}, {}}, "a");
    builder.add(ball(), Pose{{0.3, 0, 0}, {}}, "b");
    const auto world = floating(builder);
    world->switch_magnet(0, 0, 1);
    world->switch_magnet(1, 0, other);
    advance(*world, 30);
    const double apart = world->link_pose(1).position.x - world->link_pose(0).position.x;
    if (other != 0) EXPECT_GT(apart, 0.301);
    else EXPECT_EQ(apart, 0.3);
  }
}

// A pole off the centre turns its body; the whole keeps its angular momentum.
TEST(Magnets, PolesOffTheCentreTurnTheirBodiesAndKeepAngularMomentum) {
  WorldBuilder builder("three");
  builder.add(ball({0, 0.05, 0}), Pose{{0, 0, 0}, {}}, "a");
  builder.add(ball({0.03, 0, 0.02}), Pose{{0.4, 0, 0}, {}}, "b");
  builder.add(ball({0, 0, -0.04}), Pose{{0.1, 0.5, 0.2}, {}}, "c");
  const auto world = floating(builder);
  world->switch_magnet(0, 0, 1);
  world->switch_magnet(1, 0, -1);
  world->switch_magnet(2, 0, 0.5);
  advance(*world, 60);
  EXPECT_GT(length(world->link_velocity(0).angular), 0.01);
  const double size = 0.1 * 0.5 * length(world->link_velocity(0).linear);
  EXPECT_LT(length(angular_momentum(*world, {})), 1e-4 * size);
  EXPECT_LT(length(momentum(*world)), 1e-11);  // mixed precision; 1e-12 in double
}

// A heap of balls under magnets and contacts, with poles that change.
struct Heap {
  explicit Heap(int threads) : pool(threads) {
    WorldBuilder builder("heap");
    builder.add_ground();
    for (int i = 0; i < 24; ++i)
      builder.add(ball({0.02, 0, 0}, 300, 0.4, true),
                  Pose{{0.12 * (i % 4), 0.12 * (i / 4 % 3), 0.06 + 0.12 * (i / 12)}, {}}, "b" + std::to_string(i));
    auto model = builder.build();
    auto engine = physics::built_in_engines().make("native", {model->gravity, 1.0 / 240, &pool});
    auto made = World::create(std::make_shared<const model::WorldModel>(std::move(*model)), std::move(*engine), &pool);
    if (!made.ok()) throw std::runtime_error(made.error().text());
    world = std::move(*made);
  }
  void run(std::int64_t from, std::int64_t to) {
    for (std::int64_t t = from; t < to; ++t) {
      for (std::uint32_t i = 0; i < 24; ++i) world->switch_magnet(i, 0, real((t / 10 + i) % 3) - 1);
      advance(*world, 1, 4, t);
    }
  }
  ThreadPool pool;
  std::unique_ptr<World> world;
};

TEST(Magnets, TheSameBitsAtAnyNumberOfThreadsAndAfterARestore) {
  Heap one(1), two(2), three(3);
  for (Heap* heap : {&one, &two, &three}) heap->run(0, 40);
  SaveArchive saved;
  two.world->archive(saved);
  for (Heap* heap : {&one, &two, &three}) heap->run(40, 80);
  EXPECT_EQ(hash_of(*one.world), hash_of(*two.world));
  EXPECT_EQ(hash_of(*one.world), hash_of(*three.world));
  Heap restored(1);
  LoadArchive load(saved.bytes());
  restored.world->archive(load);
  ASSERT_TRUE(load.ok()) << load.failure();
  restored.run(40, 80);
  EXPECT_EQ(hash_of(*restored.world), hash_of(*one.world));
  // The poles are part of the state, not only what they did.
  const std::uint64_t before = hash_of(*one.world);
  one.world->switch_magnet(3, 0, one.world->magnets()->pole(3, 0) == 0 ? 1 : 0);
  EXPECT_NE(hash_of(*one.world), before);
}

}  // namespace
}  // namespace volvox::world
