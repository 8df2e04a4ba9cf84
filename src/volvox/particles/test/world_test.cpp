#include "volvox/particles/particle_world.h"

#include <cmath>
#include <limits>

#include "volvox/particles/scenes.h"
#include "worlds.h"

namespace volvox::particles {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(ParticleWorld, HasTheSameBitsAtAnyNumberOfThreadsAndAfterARestore) {
  ThreadPool two(2), three(3);
  const auto a = mixed(nullptr), b = mixed(&two), c = mixed(&three);
  for (auto* world : {&a, &b, &c}) run(**world, 0.5);
  EXPECT_EQ(a->hash(), b->hash());
  EXPECT_EQ(a->hash(), c->hash());
  EXPECT_EQ(a->drained(), 1u);
  SaveArchive saved;
  b->archive(saved);
  const auto restored = mixed(&two);
  LoadArchive load(saved.bytes());
  restored->archive(load);
  ASSERT_TRUE(load.ok()) << load.failure();
  EXPECT_EQ(restored->hash(), a->hash());
  run(*restored, 0.3), run(*a, 0.3), run(*b, 0.3);
  EXPECT_EQ(restored->hash(), a->hash());
  EXPECT_EQ(b->hash(), a->hash());  // saving changes nothing
}

TEST(ParticleWorld, RefusesDamagedSnapshots) {
  const auto world = mixed(nullptr);
  run(*world, 0.1);
  SaveArchive saved;
  world->archive(saved);
  for (std::size_t size = 0; size < saved.bytes().size(); size += 1 + size / 3) {
    LoadArchive load(std::span(saved.bytes()).first(size));
    mixed(nullptr)->archive(load);
    EXPECT_FALSE(load.ok()) << size;
  }
  // Bits of the numbers that index other arrays, among others: an error, or a world that runs on or says that it
  // cannot.
  for (std::size_t at = 8; at < saved.bytes().size(); at += 1 + saved.bytes().size() / 40) {
    std::vector<std::byte> bytes = saved.bytes();
    bytes[at] ^= std::byte{0x80};
    LoadArchive load(bytes);
    const auto damaged = mixed(nullptr);
    damaged->archive(load);
    (void)damaged->step(tick).ok();
  }
}

// Faster than any world is wide: the particle is drained, and nothing breaks.
TEST(ParticleWorld, DrainsWhatIsFlungOut) {
  auto world = make_world({.fluid = {.spacing = 0.05}});
  ASSERT_TRUE(world->add_fluid_box({0, 0, 0}, {0.3, 0.3, 0.3}).ok());
  const std::vector<Vec3> place = {{0.5, 0, 0}};
  ASSERT_TRUE(world->add_fluid(place, {1e30, 0, 0}).ok());
  ASSERT_TRUE(world->add_grains({0.01}, place, {0, 1e9, 0}).ok());
  run(*world, 3 * tick);
  EXPECT_EQ(world->drained(), 2u);
  EXPECT_EQ(world->fluid_positions().size(), 216u);
}

TEST(ParticleWorld, RefusesBadNumbers) {
  EXPECT_FALSE(ParticleWorld::create({.fluid = {.spacing = 0}}).ok());
  EXPECT_FALSE(ParticleWorld::create({.fluid = {.density = nan}}).ok());
  EXPECT_FALSE(ParticleWorld::create({.fluid = {.viscosity = -1}}).ok());
  EXPECT_FALSE(ParticleWorld::create({.low = {1, 1, 1}, .high = {0, 0, 0}}).ok());
  EXPECT_FALSE(ParticleWorld::create({.max_substep = 0}).ok());
  const auto world = make_world({});
  const std::vector<Vec3> here = {{0, 0, 0}}, nowhere = {{0, nan, 0}}, outside = {{0, 0, 1e4}};
  EXPECT_FALSE(world->add_grains({.radius = 0}, here).ok());
  EXPECT_FALSE(world->add_grains({.density = nan}, here).ok());
  EXPECT_FALSE(world->add_grains({.friction = -1}, here).ok());
  EXPECT_FALSE(world->add_fluid(nowhere).ok());
  EXPECT_FALSE(world->add_fluid(outside).ok());
  EXPECT_FALSE(world->add_fluid(here, {nan, 0, 0}).ok());
  EXPECT_FALSE(world->add_fluid_box({0, 0, 0}, {1, 1, 0}).ok());
  EXPECT_FALSE(world->add_cloth({.columns = 1}).ok());
  EXPECT_FALSE(world->add_cloth({.columns = 100, .rows = 100, .thickness = 0.1}).ok());
  EXPECT_FALSE(world->add_shape({.kind = ShapeKind::sphere}).ok());
  EXPECT_FALSE(world->add_shape({.kind = ShapeKind::box, .half_size = {1, 1, nan}}).ok());
  // As floats, these masses would be 0 or infinite: pinned, or not a number.
  EXPECT_FALSE(world->add_grains({.radius = 1e-5, .density = 1e-30}, here).ok());
  EXPECT_FALSE(world->add_grains({.radius = 1e3, .density = 1e38}, here).ok());
  EXPECT_FALSE(ParticleWorld::create({.fluid = {.density = 1e-40}}).ok());
  ShapeDesc crooked;
  crooked.pose.rotation = {0, 0, 0, 0};
  EXPECT_FALSE(world->add_shape(crooked).ok());
  const ShapeIndex plane = *world->add_shape({});
  EXPECT_FALSE(world->set_shape(plane, {{nan, 0, 0}, {}}, {}).ok());
  EXPECT_EQ(world->shape(plane).pose.position.x, 0);
  EXPECT_FALSE(world->step(0).ok());
  EXPECT_FALSE(world->step(nan).ok());
  EXPECT_TRUE(world->step(tick).ok());  // of nothing
  EXPECT_EQ(world->fluid_positions().size() + world->solid_positions().size(), 0u);
}

// Tension that substeps cannot follow is refused, as viscosity is.
TEST(ParticleWorld, RefusesTensionThatItCannotFollow) {
  const auto world = make_world({.fluid = {.surface_tension = 1e12}});
  ASSERT_TRUE(world->add_fluid_box({0, 0, 0}, {0.1, 0.1, 0.1}).ok());
  EXPECT_FALSE(world->step(tick).ok());
}

// Searching for neighbours takes longer than all else: no oftener than needed.
TEST(ParticleWorld, MakesListsOfNeighboursAsRarelyAsItMay) {
  const auto fluid = make_world({.fluid = {.spacing = 0.05}});
  ASSERT_TRUE(fluid->add_fluid_box({0, 0, 0}, {0.3, 0.3, 0.3}).ok());
  run(*fluid, 10 * tick);
  EXPECT_EQ(fluid->lists_made(), 20u);  // two a tick
  // Grains at rest, and grains that fall as one, are listed once a tick; one that flies past the others ends the lists.
  const std::vector<Vec3> places = {{0, 0, 0.01}, {0.03, 0, 0.01}, {0, 0.03, 0.01}}, high = {{0, 0, 1}};
  const auto grains = make_world({});
  ASSERT_TRUE(grains->add_grains({0.01}, places, {0, 0, -3}).ok());
  run(*grains, 10 * tick);
  EXPECT_EQ(grains->lists_made(), 10u);
  ASSERT_TRUE(grains->add_grains({0.01}, high, {0, 0, -10}).ok());
  run(*grains, tick);
  EXPECT_GT(grains->lists_made(), 12u);
}

TEST(ParticleWorld, SaysThatMemoryLacks) {
  const auto huge = check_memory(900'000'000, 1'000'000);
  ASSERT_FALSE(huge.ok());
  EXPECT_NE(huge.error().text().find("GB of memory"), std::string::npos);
  EXPECT_FALSE(make_world({.fluid = {.spacing = 1e-4}})->add_fluid_box({0, 0, 0}, {10, 10, 10}).ok());
}

TEST(Shapes, HaveExactDistances) {
  ShapeDesc box{.kind = ShapeKind::box, .half_size = {1, 2, 3}};
  box.pose.position = {10, 0, 0};
  const auto at = [](const ShapeDesc& shape, Vec3 p) {
    return distance_to(view_of(shape), {static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)});
  };
  EXPECT_FLOAT_EQ(at(box, {14, 6, 0}).distance, 5);
  EXPECT_FLOAT_EQ(at(box, {10.5, 0, 0}).distance, -0.5);
  EXPECT_FLOAT_EQ(at(box, {10.5, 0, 0}).normal.x, 1);
  box.kind = ShapeKind::tank;
  EXPECT_FLOAT_EQ(at(box, {10.5, 0, 0}).distance, 0.5);
  EXPECT_FLOAT_EQ(at(box, {10.5, 0, 0}).normal.x, -1);
  ShapeDesc capsule{.kind = ShapeKind::capsule, .radius = 1, .half_length = 2};
  EXPECT_FLOAT_EQ(at(capsule, {0, 0, 5}).distance, 2);
  EXPECT_FLOAT_EQ(at(capsule, {3, 0, 1}).distance, 2);
  ShapeDesc plane;
  plane.pose.rotation = Quat::axis_angle({0, 1, 0}, pi / 2);
  EXPECT_FLOAT_EQ(at(plane, {4, 1, 1}).distance, 4);
}

TEST(Scenes, AreTheSameAtAnyNumberOfThreads) {
  for (const SceneInfo& info : all_scenes()) {
    const auto one = run_scene(info.name, {.n = 600, .threads = 1, .frames = 5}),
               two = run_scene(info.name, {.n = 600, .threads = 2, .frames = 5});
    ASSERT_TRUE(one.ok()) << one.error().text();
    EXPECT_EQ(one->state_hash, two->state_hash);
  }
  EXPECT_FALSE(run_scene("tides", {.n = 10}).ok());
}

}  // namespace
}  // namespace volvox::particles
