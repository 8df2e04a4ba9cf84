// A GPU has the bits of the processor. Where there is none, these tests are skipped, but for those of the fallback.
#include "volvox/particles/device.h"

#include <dlfcn.h>

#include <cstdlib>

#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/particles/scenes.h"
#include "worlds.h"

namespace volvox::particles {
namespace {

// Null: there is no library, or no GPU; `why` says which.
std::shared_ptr<const Device> gpu(std::string& why) {
  const auto device = Device::cuda();
  if (!device.ok()) return why = device.error().text(), nullptr;
  why = (*device)->lacks();
  return why.empty() ? *device : nullptr;
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

// A cube with a ball at a corner, as samples.
std::shared_ptr<const DistanceField> knob() {
  ShapeDesc ball{.kind = ShapeKind::sphere, .radius = 0.06};
  ball.pose.position = {0.08, 0.08, 0.08};
  const ShapeDesc cube{.kind = ShapeKind::box, .half_size = {0.08, 0.08, 0.08}};
  const SolidPart parts[] = {{std::make_shared<const ShapeDesc>(ball)}, {std::make_shared<const ShapeDesc>(cube)}};
  const auto field = make_field(parts, 0.015, 0.06);
  EXPECT_TRUE(field.ok());
  return *field;
}

std::shared_ptr<const HeightGrid> hills(RandomStream& random) {
  auto grid = std::make_shared<HeightGrid>();
  grid->columns = 9, grid->rows = 7, grid->size_x = 2, grid->size_y = 2;
  for (int k = 0; k < 63; ++k) grid->heights.push_back(static_cast<float>(random.uniform(-0.1, 0.1)));
  grid->highest = 0.1f;
  return grid;
}

// Water of some kind at random places, with shapes of all kinds, some of which move or are pushed.
std::unique_ptr<ParticleWorld> pool(std::uint64_t seed, std::shared_ptr<const Device> device) {
  RandomStream random(seed, 0, "pool");
  WorldOptions options;
  options.device = std::move(device);
  options.low = {-0.5, -0.5, -0.5};
  options.high = {1.5, 1.5, 1.5};
  if (seed % 4 == 1) options.drains = {{{{0.9, 0.4, 0.1}, Quat::axis_angle({0, 0, 1}, 0.3)}, {0.1, 0.2, 0.1}}};
  options.fluid.spacing = random.uniform(0.03, 0.05);
  options.fluid.viscosity = seed % 3 == 0 ? 0 : random.uniform(0, 0.01);
  options.fluid.surface_tension = seed % 4 == 0 ? 0.07 : 0;
  auto world = make_world(options);
  add_tank(*world, {0, 0, 0}, {1, 0.8, 3});
  ShapeDesc shapes[] = {{.kind = ShapeKind::box, .half_size = {0.1, 0.08, 0.12}},
                        {.kind = ShapeKind::sphere, .radius = 0.1},
                        {.kind = ShapeKind::capsule, .radius = 0.07, .half_length = 0.1},
                        {.kind = ShapeKind::cylinder, .radius = 0.07, .half_length = 0.06},
                        {.kind = ShapeKind::field, .field = knob()}};
  shapes[1].offset.position = {0.05, 0.02, 0};
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
  if (seed % 5 < 3) slope = {.kind = ShapeKind::terrain, .terrain = hills(random)};
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

ShapeIndex shapes_in(const ParticleWorld& world) { return narrow<ShapeIndex>(world.shape_count()); }

// A tick as a world with an engine makes it: in parts whose lengths differ by a nanosecond, shapes set before each.
void tick_in_parts(ParticleWorld& world, int number, bool looks) {
  constexpr int parts = 4;
  ASSERT_TRUE(world.begin_tick().ok());
  for (int part = 0; part < parts; ++part) {
    for (ShapeIndex s = 1; s < 3 && s < shapes_in(world); ++s) {
      Pose pose = world.shape(s).pose;
      pose.position.x += 1e-4 * (number % 7 - 3);
      ASSERT_TRUE(world.set_shape(s, pose, world.shape(s).velocity).ok());
    }
    const auto done = world.advance(1e-9 * (4166666 + (number + part) % 2));
    ASSERT_TRUE(done.ok()) << done.error().text();
    if (looks && (number + part) % 5 == 0) (void)world.energy();  // fetches
  }
  world.end_tick();
}

TEST_F(OnAGpu, TicksInPartsHaveTheSameBits) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const auto make : {pool, mixture}) {
      const auto here = make(seed, nullptr), there = make(seed, device), seen = make(seed, device);
      for (int number = 0; number < 30; ++number) {
        tick_in_parts(*here, number, false), tick_in_parts(*there, number, false), tick_in_parts(*seen, number, true);
        if (number % 3 == 0) {
          ASSERT_EQ(here->hash(), there->hash()) << seed << " " << number;
        }
        for (ShapeIndex s = 0; s < shapes_in(*here); ++s) ASSERT_EQ(here->impulse(s), there->impulse(s));
      }
      EXPECT_TRUE(there->on_device() && seen->on_device()) << there->device_note();
      EXPECT_EQ(here->hash(), there->hash()) << seed;
      EXPECT_EQ(here->hash(), seen->hash()) << seed;
      EXPECT_EQ(here->drained(), seen->drained());
    }
  }
}

// Particles are added while it runs, as an emitter does; few are the processor's.
TEST_F(OnAGpu, WorldsGrow) {
  const auto run_with = [](const std::shared_ptr<const Device>& where, std::size_t least) {
    WorldOptions options;
    options.device = where, options.least_on_device = least;
    options.fluid.spacing = 0.05;
    auto world = make_world(options);
    add_tank(*world, {0, 0, 0}, {0.6, 0.6, 3});
    EXPECT_TRUE(world->add_grains({0.03}, std::vector<Vec3>{{0.3, 0.3, 0.1}, {0.2, 0.3, 0.1}}).ok());
    for (int number = 0; number < 60; ++number) {
      const double x = 0.1 + 0.01 * (number % 30);
      EXPECT_TRUE(world->add_fluid(std::vector<Vec3>{{x, 0.2, 1}, {x, 0.3, 1}, {x, 0.4, 1}}, {0, 0, -1}).ok());
      tick_in_parts(*world, number, false);
    }
    EXPECT_EQ(world->on_device(), where != nullptr) << world->device_note();
    return world->hash();
  };
  const std::uint64_t here = run_with(nullptr, 0);
  EXPECT_EQ(here, run_with(device, 0));
  EXPECT_EQ(here, run_with(device, 60));
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
  EXPECT_FALSE(choose_device("tpu").ok());
  EXPECT_EQ(choose_device("cpu")->device, nullptr);
  EXPECT_TRUE(choose_device("auto")->note.empty());
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

// With the real library, with or without a GPU: what it does not do, the processor does with the same bits.
TEST(Device, TicksInPartsFallBack) {
  const auto device = Device::cuda();
  if (!device.ok()) GTEST_SKIP() << device.error().text();
  const auto here = mixture(2, nullptr), there = mixture(2, *device);
  for (int number = 0; number < 10; ++number) tick_in_parts(*here, number, false), tick_in_parts(*there, number, true);
  EXPECT_EQ(here->hash(), there->hash());
  EXPECT_EQ(there->device_note().empty(), (*device)->lacks().empty());
  EXPECT_EQ(there->device_note().empty(), there->on_device());
}

// A tick that ends before its first part: what had left the world is gone on both.
TEST(Device, TicksThatOnlyBeginDrain) {
  const auto device = Device::cuda();
  const auto here = pool(3, nullptr), there = pool(3, device.ok() ? *device : nullptr);
  for (auto* world : {&here, &there}) {
    run(**world, 3 * tick);
    ASSERT_TRUE((*world)->begin_tick().ok());
    (*world)->end_tick();
    run(**world, 2 * tick);
  }
  EXPECT_EQ(here->hash(), there->hash());
  EXPECT_EQ(here->drained(), there->drained());
}

// All of its memory, to the last 64 kB, until it is destroyed.
class FullGpu {
 public:
  FullGpu() {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == nullptr) return;
    const auto take = reinterpret_cast<int (*)(std::uint64_t*, std::size_t)>(dlsym(driver, "cuMemAlloc_v2"));
    free_ = reinterpret_cast<int (*)(std::uint64_t)>(dlsym(driver, "cuMemFree_v2"));
    if (take == nullptr || free_ == nullptr) return;
    for (std::size_t size = std::size_t{1} << 38; size >= 1 << 16;) {
      std::uint64_t place = 0;
      if (take(&place, size) == 0) taken_.push_back(place);
      else size /= 2;
    }
  }
  ~FullGpu() {
    for (const std::uint64_t place : taken_) free_(place);
  }
  bool full() const { return !taken_.empty(); }

 private:
  int (*free_)(std::uint64_t) = nullptr;
  std::vector<std::uint64_t> taken_;
};

TEST_F(OnAGpu, OneThatIsFullLosesNothing) {
  const auto lake = [](std::shared_ptr<const Device> where) {
    WorldOptions options;
    options.device = std::move(where);
    options.fluid.spacing = 0.03;
    auto world = make_world(options);
    add_tank(*world, {0, 0, 0}, {1, 1, 3});
    EXPECT_TRUE(world->add_fluid_box({0, 0, 0}, {1, 1, 1}).ok());
    return world;
  };
  const auto here = lake(nullptr), before = lake(device), there = lake(device);
  run(*before, tick);  // it has its memory already
  {
    const FullGpu all;
    ASSERT_TRUE(all.full());
    run(*there, 5 * tick), run(*before, 4 * tick);
  }
  run(*here, 5 * tick);
  EXPECT_FALSE(there->on_device());
  EXPECT_NE(there->device_note().find("memory"), std::string::npos) << there->device_note();
  EXPECT_EQ(here->hash(), there->hash());
  EXPECT_EQ(here->hash(), before->hash());
  const auto after = lake(device);
  run(*after, 5 * tick);
  EXPECT_TRUE(after->on_device()) << after->device_note();
  EXPECT_EQ(here->hash(), after->hash());
}

// Lets a kernel write where it may not: from then on every call of this process to the GPU fails, as after a fault of
// the machine. Whether it could.
bool break_gpu() {
  static const char* const kernel =
      ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry fault()\n{\n.reg .u64 %a;\n.reg .u32 %v;\n"
      "mov.u64 %a, 16;\nmov.u32 %v, 1;\nst.global.u32 [%a], %v;\nret;\n}\n";
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return false;
  const auto find = [&]<class Function>(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(driver, name));
    return function != nullptr;
  };
  int (*retain)(void**, int);
  int (*set_current)(void*);
  int (*load)(void**, const void*);
  int (*find_kernel)(void**, void*, const char*);
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
  int (*wait)();
  if (!find(retain, "cuDevicePrimaryCtxRetain") || !find(set_current, "cuCtxSetCurrent") ||
      !find(load, "cuModuleLoadData") || !find(find_kernel, "cuModuleGetFunction") || !find(launch, "cuLaunchKernel") ||
      !find(wait, "cuCtxSynchronize"))
    return false;
  void *context = nullptr, *module = nullptr, *function = nullptr;
  if (retain(&context, 0) != 0 || set_current(context) != 0 || load(&module, kernel) != 0 ||
      find_kernel(&function, module, "fault") != 0 ||
      launch(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) != 0)
    return false;
  return wait() != 0;
}

// The last test: it takes the GPU away from this process.
TEST_F(OnAGpu, OneThatFailsLosesNothing) {
  const auto here = mixture(4, nullptr), there = mixture(4, device), other = mixture(4, device);
  for (int number = 0; number < 20; ++number)
    for (auto* world : {&here, &there, &other}) tick_in_parts(**world, number, false);
  ASSERT_TRUE(there->on_device() && other->on_device());
  // In the middle of a tick of the one, before somebody looks at the other.
  for (auto* world : {&here, &there}) {
    ASSERT_TRUE((*world)->begin_tick().ok());
    ASSERT_TRUE((*world)->advance(tick / 2).ok());
    if (world == &there && !break_gpu()) GTEST_SKIP() << "the driver does not compile a kernel here";
    ASSERT_TRUE((*world)->advance(tick / 2).ok());
    (*world)->end_tick();
  }
  EXPECT_FALSE(there->on_device());
  EXPECT_FALSE(there->device_note().empty());
  EXPECT_EQ(here->hash(), there->hash());
  const auto again = mixture(4, nullptr);
  for (int number = 0; number < 20; ++number) tick_in_parts(*again, number, false);
  EXPECT_EQ(again->hash(), other->hash());
  for (int number = 20; number < 25; ++number)
    tick_in_parts(*again, number, false), tick_in_parts(*other, number, true);
  EXPECT_EQ(again->hash(), other->hash());
}

}  // namespace
}  // namespace volvox::particles
