#include "volvox/particles/scenes.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/random.h"
#include "volvox/particles/particle_world.h"

namespace volvox::particles {
namespace {

constexpr double tick = 1.0 / 60;
constexpr int frames_of_scene = 300;

// The number whose cube, or square, is the least that is not below n.
int root_of(std::size_t n, int power) {
  for (int root = 1;; ++root) {
    double product = 1;
    for (int k = 0; k < power; ++k) product *= root;
    if (product >= real(n)) return root;
  }
}

using World = std::unique_ptr<ParticleWorld>;

struct Setting {
  ThreadPool* threads;
  DeviceChoice device;
  std::uint64_t seed;

  void use_device(WorldOptions& options) const {
    options.device = device.device, options.least_on_device = device.least;
  }
  // Moves points by up to 2 % of their distance.
  void stir(std::vector<Vec3>& points, double distance) const {
    if (seed == 0) return;
    RandomStream random(seed, 0, "scene");
    const auto some = [&] { return random.uniform(-0.02, 0.02) * distance; };
    for (Vec3& p : points) {
      const double x = some(), y = some(), z = some();
      p += Vec3{x, y, z};
    }
  }
};

// A column of water, 1 m on each side, breaks into a tank of 4 m by 1 m.
Result<World> dam(std::size_t n, const Setting& setting) {
  WorldOptions options;
  options.threads = setting.threads;
  setting.use_device(options);
  const int side = root_of(n, 3);
  options.fluid.spacing = 1.0 / side;
  options.max_substep = options.fluid.spacing / 8.9;  // sound at about 9 m/s: enough for 3 % of density
  auto world = ParticleWorld::create(options);
  if (!world.ok()) return world;
  ShapeDesc tank{.kind = ShapeKind::tank, .half_size = {2, 0.5, 2}};
  tank.pose.position = {2, 0.5, 2};
  if (const auto added = (*world)->add_shape(tank); !added.ok()) return added.error();
  std::vector<Vec3> positions;
  positions.reserve(n);
  for (std::size_t i = 0; i < n; ++i)
    positions.push_back(Vec3{real(i % side) + 0.5, real(i / side % side) + 0.5, real(i / side / side) + 0.5} *
                        options.fluid.spacing);
  setting.stir(positions, options.fluid.spacing);
  if (auto added = (*world)->add_fluid(positions); !added.ok()) return added.error();
  return world;
}

// Rubble of two sizes, slightly apart, falls into a heap between walls.
Result<World> rubble(std::size_t n, const Setting& setting) {
  WorldOptions options;
  options.threads = setting.threads;
  setting.use_device(options);
  options.max_substep = 1.0 / 360;
  options.heap_layers = 0;  // fast rather than stiff: the lowest of the 16 layers overlap by a third
  options.rolling_resistance = 0.1;
  auto world = ParticleWorld::create(options);
  if (!world.ok()) return world;
  const double radius = 0.02, pitch = 2.1 * radius;
  const int layers = 16, side = root_of((n + layers - 1) / layers, 2);
  const double half = side * pitch;
  ShapeDesc tank{.kind = ShapeKind::tank, .half_size = {half, half, 3}};
  tank.pose.position = {0, 0, 3};
  if (const auto added = (*world)->add_shape(tank); !added.ok()) return added.error();
  std::vector<Vec3> places[2];
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t x = i % side, y = i / side % side, z = i / side / side;
    places[(x + y + z) % 3 == 0].push_back(
        Vec3{real(x) - side * 0.5 + 0.02 * real(z % 2), real(y) - side * 0.5 + 0.02 * real(z % 3), real(z) + 0.5} *
        pitch);
  }
  for (std::vector<Vec3>& some : places) setting.stir(some, pitch);
  if (auto added = (*world)->add_grains({radius, 2500, 0.5}, places[0]); !added.ok()) return added.error();
  if (auto added = (*world)->add_grains({0.75 * radius, 1500, 0.5}, places[1]); !added.ok()) return added.error();
  return world;
}

// A blanket of 2 m, held at its corners, with a box of a module's size and weight on it.
Result<World> blanket(std::size_t n, const Setting& setting) {
  WorldOptions options;
  options.threads = setting.threads;
  setting.use_device(options);
  auto world = ParticleWorld::create(options);
  if (!world.ok()) return world;
  const int side = std::max(2, root_of(n, 2));
  ClothDesc cloth{
      .corner = {-1, -1, 0}, .along_columns = {2, 0, 0}, .along_rows = {0, 2, 0}, .columns = side, .rows = side};
  const auto first = (*world)->add_cloth(cloth);
  if (!first.ok()) return first.error();
  const auto last = narrow<std::uint32_t>(side - 1);
  for (const std::uint32_t corner : {0u, last, last * side, last * side + last}) (*world)->pin(*first + corner);
  ShapeDesc module{.kind = ShapeKind::box, .half_size = {0.09, 0.09, 0.09}, .mass = 1, .moments = {5e-3, 5e-3, 5e-3}};
  module.pose.position = {0, 0, 0.12};
  if (const auto added = (*world)->add_shape(module); !added.ok()) return added.error();
  return world;
}

struct Scene {
  SceneInfo info;
  Result<World> (*make)(std::size_t, const Setting&);
};
const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      {{"fluid", "a column of water of 1 m^3 breaks into a tank", 20'000}, dam},
      {{"debris", "grains of two sizes and densities fall into a heap", 100'000}, rubble},
      {{"cloth", "a blanket, held at its corners, with a box of 1 kg on it", 10'000}, blanket},
  };
  return all;
}

// A GPU that was idle takes half a second to reach its clock, and loads its programs when they are first used: another
// world of the scene runs before the one that is measured.
Result<void> warm_up(const Scene& scene, std::size_t n, const Setting& setting) {
  constexpr double warm = 1;  // s
  const auto world = scene.make(n, setting);
  if (!world.ok()) return world.error();
  if (!(*world)->prepare()) return {};
  for (const double begin = platform::monotonic_seconds(); platform::monotonic_seconds() < begin + warm;)
    if (auto done = (*world)->step(tick); !done.ok()) return done;
  return {};
}

}  // namespace

std::vector<SceneInfo> all_scenes() {
  std::vector<SceneInfo> infos;
  for (const Scene& scene : scenes()) infos.push_back(scene.info);
  return infos;
}

Result<SceneMeasure> run_scene(const std::string& name, const SceneOptions& options) {
  const auto scene =
      std::find_if(scenes().begin(), scenes().end(), [&](const Scene& s) { return s.info.name == name; });
  if (scene == scenes().end())
    return Error(fmt::format("there is no scene '{}'", name), "choose some of: fluid, debris, cloth");
  const std::size_t n = options.n == 0 ? scene->info.n : options.n;
  if (const auto room = check_memory(n, 1000); !room.ok()) return room.error();
  SceneMeasure m;
  const double begin = platform::monotonic_seconds();
  ThreadPool pool(options.threads);
  const auto device = choose_device(options.device);
  if (!device.ok()) return device.error();
  m.device_note = device->note;
  const Setting setting{&pool, *device, options.seed};
  if (device->device != nullptr)
    if (auto warm = warm_up(*scene, n, setting); !warm.ok()) return warm.error();
  const auto world = scene->make(n, setting);
  if (!world.ok()) return world.error();
  (*world)->prepare();
  m.load = platform::monotonic_seconds() - begin;
  m.n = (*world)->fluid_positions().size() + (*world)->solid_positions().size();
  m.frames = options.frames > 0 ? options.frames : frames_of_scene;
  for (int frame = 0; frame < m.frames; ++frame) {
    const double wall = platform::monotonic_seconds(), cpu = platform::process_cpu_seconds();
    if (const auto done = (*world)->step(tick); !done.ok()) return done.error();
    m.run += platform::monotonic_seconds() - wall;
    m.cpu += platform::process_cpu_seconds() - cpu;
    const double error = (*world)->density_error();
    m.density_error_mean += error / m.frames;
    m.density_error_max = std::max(m.density_error_max, error);
  }
  m.drained = (*world)->drained();
  m.bytes = narrow<std::int64_t>((*world)->memory_bytes());
  m.state_hash = (*world)->hash();
  m.device = (*world)->on_device() ? "cuda" : "cpu";
  if (!(*world)->device_note().empty()) m.device_note = (*world)->device_note();
  return m;
}

}  // namespace volvox::particles
