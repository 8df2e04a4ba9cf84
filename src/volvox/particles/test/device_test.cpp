// A GPU has the bits of the processor. Where there is none, these tests are skipped, but for those of the fallback.
#include "volvox/particles/device.h"

#include <cstdlib>

#include "volvox/base/random.h"
#include "volvox/particles/scenes.h"
#include "worlds.h"

namespace volvox::particles {
namespace {

// Null: there is no library, or no GPU; `why` says which.
std::shared_ptr<const Device> gpu(std::string& why) {
  const auto device = Device::cuda();
  if (!device.ok()) return why = device.error().text(), nullptr;
  char message[256] = "";
  DeviceSettings settings;
  settings.numbers = numbers_of({});
  DeviceWorld* world = (*device)->api().create(&settings, message);
  if (world == nullptr) return why = message, nullptr;
  (*device)->api().destroy(world);
  return *device;
}

class OnAGpu : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    device = gpu(why);
    if (device == nullptr) GTEST_SKIP() << "not tested, because there is no GPU here: " << why;
  }
  std::shared_ptr<const Device> device;
};

// Water of some kind at random places, with shapes of all kinds, some of which move or are pushed.
std::unique_ptr<ParticleWorld> pool(std::uint64_t seed, std::shared_ptr<const Device> device) {
  RandomStream random(seed, 0, "pool");
  WorldOptions options;
  options.device = std::move(device);
  options.low = {-0.5, -0.5, -0.5};
  options.high = {1.5, 1.5, 1.5};
  options.fluid.spacing = random.uniform(0.03, 0.05);
  options.fluid.viscosity = seed % 3 == 0 ? 0 : random.uniform(0, 0.01);
  options.fluid.surface_tension = seed % 4 == 0 ? 0.07 : 0;
  auto world = make_world(options);
  add_tank(*world, {0, 0, 0}, {1, 0.8, 3});
  ShapeDesc shapes[] = {{.kind = ShapeKind::box, .half_size = {0.1, 0.08, 0.12}},
                        {.kind = ShapeKind::sphere, .radius = 0.1},
                        {.kind = ShapeKind::capsule, .radius = 0.07, .half_length = 0.1}};
  for (ShapeDesc& shape : shapes) {
    shape.pose.position = {random.uniform(0.2, 0.8), random.uniform(0.2, 0.6), random.uniform(0.1, 0.7)};
    shape.pose.rotation = Quat::axis_angle({0, 1, 0}, random.uniform(-3, 3));
    shape.velocity.linear = {random.uniform(-0.3, 0.3), 0, 0};
    shape.velocity.angular = {0, 0, random.uniform(-2, 2)};
    if (seed % 2 == 0) shape.mass = random.uniform(0.5, 5), shape.moments = {0.02, 0.03, 0.01};
    EXPECT_TRUE(world->add_shape(shape).ok());
  }
  ShapeDesc slope;
  slope.pose.rotation = Quat::axis_angle({0, 1, 0}, 0.1);
  EXPECT_TRUE(world->add_shape(slope).ok());
  std::vector<Vec3> places;
  for (int k = 0; k < 3000; ++k)
    places.push_back({random.uniform(0.02, 0.98), random.uniform(0.02, 0.78), random.uniform(0.02, 1.2)});
  EXPECT_TRUE(world->add_fluid(places).ok());
  EXPECT_TRUE(world->add_fluid(std::vector<Vec3>{{0.3, 0.3, 1.3}}, {0, 0, 30}).ok());  // leaves the world
  return world;
}

TEST_F(OnAGpu, WaterHasTheSameBits) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto here = pool(seed, nullptr), there = pool(seed, device);
    for (int tick_number = 0; tick_number < 20; ++tick_number) {
      run(*here, tick), run(*there, tick);
      ASSERT_EQ(here->density_error(), there->density_error()) << seed << " " << tick_number;
      ASSERT_EQ(here->hash(), there->hash()) << seed << " " << tick_number;
    }
    EXPECT_TRUE(there->on_device()) << there->device_note();
    EXPECT_EQ(here->drained(), there->drained());
    EXPECT_GE(there->drained(), 1u);
    EXPECT_EQ(here->pressures(), there->pressures());
    EXPECT_EQ(here->momentum(), there->momentum());
  }
}

TEST_F(OnAGpu, ScenesHaveTheSameBits) {
  for (const char* scene : {"fluid", "debris", "cloth"}) {
    for (const std::size_t n : {600u, 5000u, 20000u}) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const SceneOptions cpu{.n = n, .threads = 4, .frames = 40, .seed = seed};
        SceneOptions cuda = cpu;
        cuda.device = "cuda";
        const auto here = run_scene(scene, cpu), there = run_scene(scene, cuda);
        ASSERT_TRUE(here.ok() && there.ok());
        EXPECT_EQ(there->device, "cuda") << there->device_note;
        EXPECT_EQ(here->state_hash, there->state_hash) << scene << " " << n << " " << seed;
        EXPECT_EQ(here->density_error_mean, there->density_error_mean);
      }
    }
  }
}

// Water, grains of several sizes, cloth that tears, and a ball that is pushed.
std::unique_ptr<ParticleWorld> mixture(std::uint64_t seed, std::shared_ptr<const Device> device) {
  RandomStream random(seed, 0, "mixture");
  WorldOptions options;
  options.device = std::move(device);
  options.fluid.spacing = 0.05;
  options.low = {-1, -1, -1};
  options.high = {2, 2, 1.95};
  options.rolling_resistance = 0.1;
  options.air_drag = 0.1;
  auto world = make_world(options);
  add_tank(*world, {0, 0, 0}, {0.6, 0.6, 2});
  const bool wet = seed % 3 != 0;
  EXPECT_TRUE(!wet || world->add_fluid_box({0, 0, 0}, {0.6, 0.6, 0.3}).ok());
  for (int kind = 0; kind < 3; ++kind) {
    std::vector<Vec3> places;
    for (int k = 0; k < 150; ++k)
      places.push_back({random.uniform(0.05, 0.55), random.uniform(0.05, 0.55), random.uniform(0.3, 1)});
    const GrainDesc grain{random.uniform(0.01, 0.03), random.uniform(500, 3000), random.uniform(0, 1)};
    EXPECT_TRUE(world->add_grains(grain, places).ok());
  }
  const auto cloth = world->add_cloth({.corner = {0.1, 0.1, 1.1},
                                       .along_columns = {0.4, 0, 0},
                                       .along_rows = {0, 0.4, 0.05},
                                       .columns = 11,
                                       .rows = 9,
                                       .strength = random.uniform(0.2, 2)});
  EXPECT_TRUE(cloth.ok());
  world->pin(*cloth);
  ShapeDesc ball{.kind = ShapeKind::sphere, .radius = 0.08, .mass = 1, .moments = {0.01, 0.01, 0.01}};
  ball.pose.position = {0.3, 0.3, 1.3};
  EXPECT_TRUE(world->add_shape(ball).ok());
  EXPECT_TRUE(world->add_grains({0.02}, std::vector<Vec3>{{0.3, 0.3, 1.9}}, {0, 0, 20}).ok());  // leaves the world
  return world;
}

TEST_F(OnAGpu, MixturesHaveTheSameBits) {
  std::uint64_t torn = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto here = mixture(seed, nullptr), there = mixture(seed, device);
    for (int tick_number = 0; tick_number < 40; ++tick_number) {
      run(*here, tick), run(*there, tick);
      ASSERT_EQ(here->hash(), there->hash()) << seed << " " << tick_number;
    }
    EXPECT_TRUE(there->on_device()) << there->device_note();
    EXPECT_EQ(here->density_error(), there->density_error());
    EXPECT_EQ(here->drained(), there->drained());
    EXPECT_EQ(here->torn(), there->torn());
    EXPECT_EQ(here->energy(), there->energy());
    torn += there->torn();
    // With fewer looks, so that nothing is fetched between.
    const auto unseen = mixture(seed, device);
    run(*unseen, 40 * tick);
    EXPECT_EQ(here->hash(), unseen->hash()) << seed;
  }
  EXPECT_GT(torn, 0u);
}

// More neighbours than there is room for: the lists grow, and nothing is lost.
TEST_F(OnAGpu, ListsGrow) {
  const auto crowd = [&](std::shared_ptr<const Device> where) {
    WorldOptions options;
    options.device = std::move(where);
    options.fluid.spacing = 0.05;
    auto world = make_world(options);
    std::vector<Vec3> places;
    for (int k = 0; k < 500; ++k) places.push_back({k % 10 * 0.01, k / 10 % 10 * 0.01, k / 100 * 0.01 + 0.1});
    EXPECT_TRUE(world->add_fluid(places).ok());
    EXPECT_TRUE(world->add_shape({}).ok());
    return world;
  };
  const auto here = crowd(nullptr), there = crowd(device);
  run(*here, 10 * tick), run(*there, 10 * tick);
  EXPECT_TRUE(there->on_device()) << there->device_note();
  EXPECT_EQ(here->hash(), there->hash());
}

TEST_F(OnAGpu, WorldsAreSavedRestoredAndAddedTo) {
  const auto here = pool(5, nullptr), there = pool(5, device);
  run(*here, 5 * tick), run(*there, 5 * tick);
  SaveArchive saved;
  there->archive(saved);
  const auto restored = pool(5, device);
  LoadArchive load(saved.bytes());
  restored->archive(load);
  ASSERT_TRUE(load.ok());
  const std::vector<Vec3> more = {{0.5, 0.5, 1}, {0.55, 0.5, 1}};
  for (auto* world : {&here, &there, &restored}) {
    EXPECT_TRUE((*world)->add_fluid(more).ok());
    run(**world, 100 * tick);  // farther than the ticks that are kept to be made again
  }
  EXPECT_EQ(here->hash(), there->hash());
  EXPECT_EQ(here->hash(), restored->hash());
}

// What is not there is said, and the processor goes on.
TEST(Device, FallsBack) {
  EXPECT_FALSE(Device::by_name("tpu").ok());
  EXPECT_EQ(*Device::by_name("auto"), nullptr);
  setenv("VOLVOX_CUDA_LIBRARY", "/nowhere/lib.so", 1);
  const auto absent = run_scene("fluid", {.n = 500, .frames = 3, .device = "cuda"});
  unsetenv("VOLVOX_CUDA_LIBRARY");
  const auto here = run_scene("fluid", {.n = 500, .frames = 3});
  const auto maybe = run_scene("fluid", {.n = 500, .frames = 3, .device = "cuda"});
  ASSERT_TRUE(absent.ok() && here.ok() && maybe.ok());
  EXPECT_EQ(absent->device, "cpu");
  EXPECT_NE(absent->device_note.find("/nowhere/lib.so"), std::string::npos);
  EXPECT_EQ(absent->state_hash, here->state_hash);
  EXPECT_EQ(maybe->state_hash, here->state_hash);
  EXPECT_EQ(maybe->device_note.empty(), maybe->device == "cuda");
}

}  // namespace
}  // namespace volvox::particles
