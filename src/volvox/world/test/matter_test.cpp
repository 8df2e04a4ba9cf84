#include "volvox/world/matter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "cubes.h"
#include "volvox/base/test/shortened.h"

namespace volvox::world {
namespace {

using model::WorldBuilder;

// A world of the builder's bodies with matter, in ticks of 1/60 s.
class Basin {
 public:
  Basin(WorldBuilder& builder, const model::Matter& matter, int threads = 1,
        const std::string& engine = physics::default_engine)
      : threads_(threads) {
    auto model = builder.build();
    EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().text());
    model->matter = std::make_shared<const model::Matter>(matter);
    auto made = physics::built_in_engines().make(engine, {model->gravity, 1.0 / 240, &threads_});
    auto created =
        World::create(std::make_shared<const model::WorldModel>(std::move(*model)), std::move(*made), &threads_);
    EXPECT_TRUE(created.ok()) << (created.ok() ? "" : created.error().text());
    world_ = std::move(*created);
  }
  void run(double seconds) {
    std::vector<DockEvent> events;
    for (int k = 0; k < seconds * 60; ++k, ++tick_) {
      const StepStatus status = tick_world(*world_, dt_.start_of(tick_), dt_.start_of(tick_ + 1), events);
      ASSERT_TRUE(status.ok()) << status.text();
    }
  }
  World& world() { return *world_; }
  const Matter& matter() const { return *world_->matter(); }
  std::uint64_t hash() {
    HashArchive ar;
    world_->archive(ar);
    return ar.value();
  }
  Vec3 momentum() { return world::momentum(*world_) + matter().particles().momentum(); }
  void start_at(const Basin& other) { tick_ = other.tick_; }
  void start_at(std::int64_t tick) { tick_ = tick; }
  std::int64_t tick() const { return tick_; }
  ThreadPool& threads() { return threads_; }

 private:
  ThreadPool threads_;
  TickLength dt_{1, 60};
  std::int64_t tick_ = 0;
  std::unique_ptr<World> world_;
};

model::Volume box_volume(const Vec3& low, const Vec3& high) {
  model::Volume volume;
  volume.pose.position = 0.5 * (low + high);
  volume.size = high - low;
  return volume;
}
model::Matter water(double spacing, const Vec3& low, const Vec3& high, double viscosity = 1e-3) {
  model::Matter matter;
  matter.fluid = model::Fluid{.spacing = spacing, .viscosity = viscosity};
  matter.fluid->volumes.push_back(box_volume(low, high));
  return matter;
}
// Walls and a floor around a box with its low corner in the origin.
void add_walls(WorldBuilder& builder, const Vec3& size) {
  const double thick = 0.1;
  const auto wall = [&](const Vec3& low, const Vec3& high, const char* name) {
    builder.add_obstacle(model::Box{high - low}, {0.5 * (low + high), {}}, 0, {}, {}, name);
  };
  wall({-thick, -thick, -thick}, {size.x + thick, size.y + thick, 0}, "floor");
  wall({-thick, -thick, 0}, {0, size.y + thick, size.z}, "west");
  wall({size.x, -thick, 0}, {size.x + thick, size.y + thick, size.z}, "east");
  wall({0, -thick, 0}, {size.x, 0, size.z}, "south");
  wall({0, size.y, 0}, {size.x, size.y + thick, size.z}, "north");
}

// Without gravity a ball, a rod of two balls (whose middle is in neither) and a drop meet: momentum is kept.
TEST(Matter, KeepsMomentumWithBodies) {
  WorldBuilder builder;
  builder.set_gravity({});
  builder.add_obstacle(model::Sphere{0.1}, {{0.55, 0.2, 0.2}, {}}, 2, {}, {}, "ball");
  builder.placement(0).velocity = {{-2, 0, 0}, {0, 3, 1}};
  builder.add_obstacle(model::Capsule{0.05, 0.3}, {{0.2, 0.2, 0.6}, Quat::axis_angle({0, 1, 0}, 1)}, 1, {}, {}, "rod");
  builder.placement(1).velocity = {{0, 0, -1}, {}};
  Basin basin(builder, water(0.04, {0, 0, 0}, {0.4, 0.4, 0.4}));
  const Vec3 before = basin.momentum();
  const double scale = 2 * 2 + 1;
  for (int k = 0; k < 10; ++k) {
    basin.run(0.1);
    EXPECT_LT(length(basin.momentum() - before) / scale, 1e-5) << k;
  }
  // And it was exchanged.
  EXPECT_GT(length(basin.matter().particles().momentum()), 0.5);
  EXPECT_GT(world::momentum(basin.world()).x, before.x + 0.5);
}

// How much of its weight a floating box of half the density displaces, on this engine.
double displaced(const std::string& engine) {
  WorldBuilder builder;
  add_walls(builder, {1, 1, 1.5});
  const int box = builder.add_obstacle(model::Box{{0.4, 0.4, 0.4}}, {{0.5, 0.5, 0.97}, {}}, 500 * 0.064, {}, {}, "box");
  model::Matter matter = water(0.05, {0, 0, 0}, {1, 1, 0.7}, 5);
  matter.max_substep = 1.0 / 960;  // at 1/480 s the fluid is compressed by 0.7 %, and its level that much lower
  Basin basin(builder, matter, 2, engine);
  basin.run(shortened(2.5));
  double z = 0, submerged = 0;
  const LinkIndex link = basin.world().part(box).first_link;
  for (int k = 0; k < 30; ++k) {
    basin.run(1.0 / 60);
    z += basin.world().link_pose(link).position.z / 30;
    submerged += basin.matter().immersion(link).submerged / 30;
  }
  VOLVOX_EXPECT_FIGURE(submerged, 0.5, 0.15);
  EXPECT_TRUE(basin.matter().immersion(link).wet);
  const double fluid = real(basin.matter().particles().fluid_positions().size()) * 0.05 * 0.05 * 0.05;
  double level = 0.7, under = 0;
  for (int k = 0; k < 60; ++k) {
    under = 0.16 * std::clamp(level - (z - 0.2), 0.0, 0.4);
    level = fluid + under;
  }
  return under / 0.032;
}

TEST(Matter, FloatingBodiesDisplaceTheirWeight) {
  for (const std::string& engine : {std::string("native"), std::string("bullet")}) {
    const double part = displaced(engine);
    std::printf("  %s: %.4f of its weight is displaced\n", engine.c_str(), part);
    VOLVOX_EXPECT_FIGURE(part, 1, 0.02);
  }
}

// Water, grains, a cloth, an emitter, walls, a terrain and a body of several parts.
model::Matter mixture() {
  model::Matter matter = water(0.05, {0, 0, 0.15}, {0.5, 0.5, 0.35});
  model::Emitter tap;
  tap.pose = {{0.5, 0.5, 1}, Quat::axis_angle({0, 1, 0}, pi / 2)};
  tap.radius = 0.1;
  tap.most = 60;
  matter.fluid->emitters.push_back(tap);
  model::Debris stones{.radius = 0.03, .spread = 0.3};
  stones.volumes.push_back(box_volume({0.55, 0.1, 0.2}, {0.9, 0.9, 0.5}));
  tap.pose.position = {0.25, 0.25, 1.2};
  tap.start = 0.1;
  stones.emitters.push_back(tap);
  matter.debris.push_back(stones);
  model::Cloth cloth{.width = 0.4, .height = 0.4, .columns = 9, .rows = 9, .strength = 5};
  cloth.pose.position = {0.3, 0.3, 0.7};
  matter.cloths.push_back(cloth);
  return matter;
}
void add_mixed_bodies(WorldBuilder& builder) {
  add_walls(builder, {1, 1, 1.5});
  auto field = std::make_shared<model::HeightFieldData>();
  field->columns = field->rows = 4;
  field->size_x = field->size_y = 1;
  field->heights = {0.1f, 0.1f, 0.05f, 0.1f, 0.1f, 0, 0, 0.1f, 0, 0, 0.05f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f};
  builder.add_terrain(field, {{0.5, 0.5, 0}, {}});
  model::ModuleModel dumbbell = cube();
  dumbbell.name = "dumbbell";
  model::Geometry parts;
  parts.colliders.push_back({"left", model::Sphere{0.06}, {{-0.07, 0, 0}, {}}, {}});
  parts.colliders.push_back({"right", model::Cylinder{0.05, 0.1}, {{0.06, 0, 0}, {}}, {}});
  dumbbell.links[0].geometry = std::make_shared<model::Geometry>(parts);
  dumbbell.docks.clear();
  builder.add(share(dumbbell), Pose{{0.4, 0.5, 0.9}, {}}, "dumbbell");
}

TEST(Matter, HasTheSameBitsAtAnyNumberOfThreadsAndAfterARestore) {
  for (const std::string& engine : physics::built_in_engines().names()) {
    const auto make = [&](int threads) {
      WorldBuilder builder;
      add_mixed_bodies(builder);
      return std::make_unique<Basin>(builder, mixture(), threads, engine);
    };
    const auto one = make(1), two = make(2), three = make(3);
    for (const auto& basin : {one.get(), two.get(), three.get()}) basin->run(0.3);
    EXPECT_EQ(one->hash(), two->hash()) << engine;
    EXPECT_EQ(one->hash(), three->hash()) << engine;
    SaveArchive saved;
    two->world().archive(saved);
    const auto again = make(1);
    LoadArchive load(saved.bytes());
    again->world().archive(load);
    ASSERT_TRUE(load.ok()) << engine << ": " << load.failure();
    EXPECT_EQ(again->hash(), two->hash()) << engine;
    again->start_at(*two);
    again->run(0.3), two->run(0.3);
    EXPECT_EQ(again->hash(), two->hash()) << engine;
    EXPECT_GT(two->matter().emitted(), 40u);
    EXPECT_EQ(two->matter().particles().drained(), 0u);
  }
}

// The same world goes back to before some of its particles came.
TEST(Matter, IsRestoredInPlaceToBeforeParticlesWereEmitted) {
  WorldBuilder builder;
  add_mixed_bodies(builder);
  Basin basin(builder, mixture());
  basin.run(0.1);
  SaveArchive early;
  basin.world().archive(early);
  const std::uint64_t before = basin.hash(), emitted = basin.matter().emitted();
  const std::int64_t tick = basin.tick();
  basin.run(0.4);
  const std::uint64_t after = basin.hash();
  EXPECT_GT(basin.matter().emitted(), emitted);
  LoadArchive load(early.bytes());
  basin.world().archive(load);
  ASSERT_TRUE(load.ok()) << load.failure();
  EXPECT_EQ(basin.hash(), before);
  basin.start_at(tick);
  basin.run(0.4);
  EXPECT_EQ(basin.hash(), after);
}

// A run hashes its world in a loop of the thread pool. What is left of a tick that failed must not start one within.
TEST(Matter, OfATickThatFailedIsHashedWithoutFurtherLoops) {
  WorldBuilder builder;
  add_walls(builder, {1, 1, 1});
  model::Matter matter;
  matter.debris.push_back(model::Debris{.radius = 0.02});
  matter.debris.back().volumes.push_back(box_volume({0.05, 0.05, 0.02}, {0.95, 0.95, 0.3}));
  Basin basin(builder, matter, 2);
  ASSERT_GT(basin.matter().particles().solid_positions().size(), 2000u);
  basin.run(0.1);
  int substeps = 0;
  const auto control = [&](Time, double) {
    StepStatus status;
    if (++substeps == 3) status.what = "enough";
    return status;
  };
  const StepStatus status = basin.world().move(Time{100'000'000}, Time{116'666'666}, 1.0 / 240, control);
  EXPECT_FALSE(status.ok());
  std::uint64_t hashes[2] = {};
  for (std::size_t which = 0; which < 2; ++which)  // in the calling thread or in the other one
    parallel_for(&basin.threads(), 2, 1, [&](std::size_t k) {
      if (k == which) hashes[which] = basin.hash();
    });
  EXPECT_EQ(hashes[0], hashes[1]);
}

// A fast jet moves many particles' widths in a tick: nothing is made beyond a floor that is nearer than that.
TEST(Matter, NothingIsEmittedBeyondABody) {
  for (const double speed : {5.0, 10.0, 20.0}) {
    WorldBuilder builder;
    builder.add_obstacle(model::Box{{20, 20, 0.3}}, {{0, 0, -0.15}, {}}, 0, {}, {}, "floor");
    model::Matter matter;
    matter.fluid = model::Fluid{.spacing = 0.03};
    model::Emitter tap;
    tap.pose = {{0, 0, 0.1}, Quat::axis_angle({0, 1, 0}, pi / 2)};
    tap.radius = 0.05, tap.speed = speed, tap.most = 60;
    matter.fluid->emitters.push_back(tap);
    Basin basin(builder, matter);
    basin.run(0.3);
    EXPECT_GT(basin.matter().emitted(), 20u) << speed;
    for (const particles::Point& p : basin.matter().particles().fluid_positions()) EXPECT_GT(p.z, -0.05f) << speed;
  }
}

// Nor does it go through: substeps follow from the speed of what is thrown. With 1/480 s it did at 20 m/s. (At 40 m/s
// one particle of 200 is still pressed through by those behind it.)
// VOLVOX_TEST_SEEDS: how many to try, of where particles are thrown.
TEST(Matter, NoJetGoesThroughAFloor) {
  const char* wanted = std::getenv("VOLVOX_TEST_SEEDS");
  const int seeds = wanted == nullptr ? 1 : std::atoi(wanted);
  for (int k = 0; k < 2 * seeds; ++k) {
    const double speed = 10 << k % 2;
    WorldBuilder builder;
    builder.add_obstacle(model::Box{{20, 20, 0.05}}, {{0, 0, -0.025}, {}}, 0, {}, {}, "floor");
    model::Matter matter;
    matter.fluid = model::Fluid{.spacing = 0.02};
    model::Emitter tap;
    tap.pose = {{0, 0, 0.5}, Quat::axis_angle({0, 1, 0}, pi / 2)};
    tap.radius = 0.06, tap.speed = speed, tap.most = 600;
    matter.fluid->emitters.push_back(tap);
    matter.debris.push_back(model::Debris{.radius = 0.01, .seed = 1 + static_cast<std::uint64_t>(k / 2)});
    tap.pose.position.x = 1, tap.most = 150;
    matter.debris[0].emitters.push_back(tap);
    Basin basin(builder, matter);
    basin.run(0.4);
    const particles::ParticleWorld& world = basin.matter().particles();
    EXPECT_EQ(basin.matter().emitted(), 750u) << speed;
    EXPECT_EQ(world.drained(), 0u) << speed;
    for (const auto points : {world.fluid_positions(), world.solid_positions()})
      for (const particles::Point& p : points) EXPECT_GT(p.z, -0.025f) << speed;
  }
}

// Everything stays in the basin: walls, terrain and floor hold water, stones and scraps of torn cloth. Before solids
// had drag, water threw scraps over the walls with 4 of 40 seeds. VOLVOX_TEST_SEEDS: how many to try.
TEST(Matter, WallsAndTerrainHold) {
  const char* wanted = std::getenv("VOLVOX_TEST_SEEDS");
  for (int seed = 1; seed <= (wanted == nullptr ? shortened(3) : std::atoi(wanted)); ++seed) {
    WorldBuilder builder;
    add_mixed_bodies(builder);
    model::Matter matter = mixture();
    matter.debris[0].seed = static_cast<std::uint64_t>(seed);
    Basin basin(builder, matter);
    for (int part = 0; part < 14; ++part) {
      basin.run(0.15);
      const particles::ParticleWorld& world = basin.matter().particles();
      for (const auto points : {world.fluid_positions(), world.solid_positions()})
        for (const particles::Point& p : points) {
          EXPECT_GT(std::min({p.x, p.y, p.z}), -0.01) << seed;
          EXPECT_LT(std::max(p.x, p.y), 1.01) << seed;
          EXPECT_LT(p.z, 1.3) << seed;
        }
    }
  }
}

// Spheres of one size, placed on a grid, do not stay one above the other.
TEST(Matter, ColumnsOfGrainsFallApart) {
  WorldBuilder builder;
  builder.add_obstacle(model::Box{{4, 4, 0.2}}, {{0, 0, -0.1}, {}}, 0, {}, {}, "floor");
  model::Matter matter;
  matter.debris.push_back(model::Debris{.radius = 0.02});
  matter.debris[0].volumes.push_back(box_volume({-0.05, -0.05, 0}, {0.05, 0.05, 0.5}));
  Basin basin(builder, matter);
  basin.run(2);
  double highest = 0;
  for (const particles::Point& p : basin.matter().particles().solid_positions())
    highest = std::max<double>(highest, p.z);
  EXPECT_LT(highest, 0.2);
}

TEST(Matter, SaysWhereItIsWrong) {
  const auto error = [](const model::Matter& matter) -> std::string {
    WorldBuilder builder;
    add_walls(builder, {1, 1, 1});
    auto model = builder.build();
    model->matter = std::make_shared<const model::Matter>(matter);
    auto engine = physics::built_in_engines().make("native", {});
    auto made = World::create(std::make_shared<const model::WorldModel>(std::move(*model)), std::move(*engine));
    return made.ok() ? "" : made.error().text();
  };
  model::Matter in_wall = water(0.05, {0, 0, 0}, {1, 1, 0.5});
  in_wall.file = "pool.sdf";
  model::Emitter tap;
  tap.pose.position = {0.01, 0.5, 0.8};
  tap.most = 10;
  tap.line = 12;
  in_wall.fluid->emitters.push_back(tap);
  const std::string text = error(in_wall);
  EXPECT_NE(text.find("pool.sdf:12: the emitter reaches into 'west"), std::string::npos) << text;
  model::Matter huge = water(1e-5, {0, 0, 0}, {1, 1, 0.5});
  EXPECT_NE(error(huge).find("more than 1e9 particles"), std::string::npos) << error(huge);
  model::Matter buried = water(0.02, {-0.09, 0.2, 0.2}, {-0.03, 0.4, 0.4});
  EXPECT_NE(error(buried).find("bodies fill it"), std::string::npos) << error(buried);
  model::Matter open = water(0.05, {0, 0, 0}, {1, 1, 0.5});
  auto mesh = std::make_shared<model::MeshData>();
  mesh->vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  mesh->triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}};
  open.fluid->volumes[0].mesh = mesh;
  EXPECT_NE(error(open).find("hole of 3 edges"), std::string::npos) << error(open);
}

}  // namespace
}  // namespace volvox::world
