#include "volvox/lattice/scenes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/platform/available_memory.h"
#include "volvox/base/platform/clock.h"
#include "volvox/lattice/catom_world.h"
#include "volvox/lattice/net_world.h"
#include "volvox/lattice/programs/flood.h"
#include "volvox/lattice/programs/gradient.h"
#include "volvox/lattice/programs/roller.h"
#include "volvox/lattice/programs/spanning_tree.h"

namespace volvox::lattice {
namespace {

// A scene's own part: what is loaded, and what must come out.
struct Play {
  Kind kind = Kind::cubic;
  std::size_t state = 0;  // bytes of a catom
  double cells = 1;       // of the box around them, for each module
  Result<void> (*load)(CatomWorld&, std::size_t n);
  std::int64_t ticks = INT64_MAX;
  std::string (*mistake)(CatomWorld&, std::size_t n);  // empty: the result is right
};

std::string wrong(std::string_view what, std::uint64_t found, std::uint64_t expected) {
  return found == expected ? "" : fmt::format("{} {}, but it should be {}", what, found, expected);
}

std::int32_t side_of(std::size_t modules) {
  std::int32_t side = 1;
  while (std::int64_t{side} * side * side < static_cast<std::int64_t>(modules)) ++side;
  return side;
}

// A cube of so many modules; if they do not fill it, the top is incomplete.
Result<void> add_cube(CatomWorld& world, std::size_t modules) {
  const std::int32_t side = side_of(modules);
  if (std::size_t(side) * side * side == modules) return world.add_box({0, 0, 0}, {side - 1, side - 1, side - 1});
  std::vector<Cell> cells;
  cells.reserve(modules);
  for (std::size_t i = 0; i < modules; ++i)
    cells.push_back(
        {narrow<std::int32_t>(i % side), narrow<std::int32_t>(i / side % side), narrow<std::int32_t>(i / side / side)});
  return world.add(cells);
}

// A cube whose corner, the first catom, begins.
template <class Program>
Result<void> load_cube(CatomWorld& world, std::size_t modules, bool Program::*begins) {
  if (auto done = world.load<Program>(); !done.ok()) return done;
  if (auto done = add_cube(world, modules); !done.ok()) return done;
  if (Program* first = world.state<Program>(0)) first->*begins = true;
  return {};
}

Play flood() {
  return {.state = sizeof(Flood),
          .load = [](CatomWorld& world, std::size_t n) { return load_cube(world, n, &Flood::source); },
          .mistake =
              [](CatomWorld& world, std::size_t n) {
                return wrong("the number of messages is", world.traffic().delivered,
                             2 * world.ensemble().links() - (n - 1));
              }};
}

Play gradient() {
  return {.state = sizeof(Gradient),
          .load = [](CatomWorld& world, std::size_t n) { return load_cube(world, n, &Gradient::source); },
          .mistake =
              [](CatomWorld& world, std::size_t) {
                // In a full box the distance to the corner is the sum of the coordinates.
                std::uint64_t mistakes = 0;
                world.each_state<Gradient>([&](std::uint32_t i, const Gradient& state) {
                  const Cell c = world.ensemble().cell(i);
                  if (state.distance != narrow<std::uint32_t>(c.x + c.y + c.z)) ++mistakes;
                });
                return wrong("the number of wrong distances is", world.region().sum(mistakes), 0);
              }};
}

Play tree() {
  return {.state = sizeof(SpanningTree),
          .load = [](CatomWorld& world, std::size_t n) { return load_cube(world, n, &SpanningTree::root); },
          .mistake =
              [](CatomWorld& world, std::size_t n) {
                const auto* root = world.state<SpanningTree>(0);
                const std::uint64_t found = world.region().sum(root != nullptr ? root->size : 0);
                const std::string size = wrong("the size of the tree is", found, n);
                const std::uint64_t expected = 2 * world.ensemble().links();
                return size.empty() ? wrong("the number of messages is", world.traffic().delivered, expected) : size;
              }};
}

constexpr std::int32_t gap = 4, rollers_a_line = 100;  // cells between rollers
constexpr std::int64_t rolling_ticks = 100;

// Lines of catoms that stay, with others that roll along them, all in one direction and in every tick.
Result<void> load_lines(CatomWorld& world, std::size_t rolling) {
  std::vector<Cell> cells;
  cells.reserve((gap + 1) * rolling + 2 * gap);
  for (std::size_t i = 0; i < rolling; ++i)
    cells.push_back({narrow<std::int32_t>(i % rollers_a_line * gap + gap / 2),
                     narrow<std::int32_t>(i / rollers_a_line * 6 + 1), 0});
  for (std::size_t first = 0; first < rolling; first += rollers_a_line) {
    const std::size_t length = gap * std::min<std::size_t>(rollers_a_line, rolling - first) + gap;
    for (std::size_t x = 0; x < length; ++x)
      cells.push_back({narrow<std::int32_t>(x), narrow<std::int32_t>(first / rollers_a_line * 6), 0});
  }
  if (auto done = world.load<Roller>(); !done.ok()) return done;
  if (auto done = world.add(cells); !done.ok()) return done;
  for (std::uint32_t i = 0; i < rolling; ++i)
    if (Roller* roller = world.state<Roller>(i)) roller->rolls = true;
  return {};
}

Play moves() {
  return {.kind = Kind::hex,
          .state = sizeof(Roller) + 100,  // and what deciding takes
          .cells = 8 * gap,
          .load = load_lines,
          .ticks = rolling_ticks,
          .mistake = [](CatomWorld& world, std::size_t n) {
            return wrong("the number of moves is", world.motion().moves, n * rolling_ticks);
          }};
}

// A cube whose links are Vouivre's wires, or whose catoms have radios: the flood again, live. n: catoms, a full cube.
Result<SceneMeasure> run_on_network(bool wires, std::size_t n, std::uint64_t seed) {
  const std::int32_t side = side_of(n);
  n = std::size_t(side) * side * side;
  const std::size_t each = wires ? 1200 : 300;  // bytes, about
  if (const auto fits = check_memory(n, real(n), each); !fits.ok()) return fits.error();
  SceneMeasure m;
  const std::int64_t memory = platform::peak_memory_bytes();
  const double begin = platform::monotonic_seconds();
  NetWorldOptions options{.seed = seed};
  constexpr double range = 1.75;  // pitches: 26 catoms hear one
  options.medium.cull_radius = std::sqrt(10.0) * range;
  if (wires) options.wire = net::WireOptions{.bit_rate = 6000, .queue_limit = 4};
  else options.radio = radio_of_range(range, options.medium);
  NetWorld world(Lattice(Kind::cubic), options);
  if (const auto done = world.load<Flood>(); !done.ok()) return done.error();
  if (const auto done = world.add_box({0, 0, 0}, {side - 1, side - 1, side - 1}); !done.ok()) return done.error();
  const std::uint32_t middle = narrow<std::uint32_t>((std::size_t(side) * side + side + 1) * (side / 2));
  world.state<Flood>(middle)->source = true;
  if (const auto done = world.start(); !done.ok()) return done.error();
  m.load = platform::monotonic_seconds() - begin;
  const double loaded = platform::monotonic_seconds(), cpu = platform::process_cpu_seconds();
  if (const auto done = world.run(INT64_MAX); !done.ok()) return done.error();
  m.run = platform::monotonic_seconds() - loaded;
  m.cpu = platform::process_cpu_seconds() - cpu;
  m.n = m.modules = n;
  m.messages = world.network().counters().deliveries;
  m.ticks = world.ticks();
  m.state_hash = world.hash();
  m.bytes = platform::peak_memory_bytes() - memory;
  std::size_t reached = 0;
  for (std::uint32_t i = 0; i < n; ++i) reached += world.state<Flood>(i)->hops != Flood::unreached ? 1 : 0;
  // Wires lose nothing; by radio, collisions leave some out.
  const bool right = wires ? reached == n && m.messages == 2 * world.ensemble().links() - (n - 1) : 2 * reached >= n;
  if (!right)
    return Error(fmt::format("the scene '{}' with n = {}: {} catoms were reached by {} messages",
                             wires ? "wires" : "radio", n, reached, m.messages),
                 "this is a bug: report it");
  return m;
}

struct Scene {
  SceneInfo info;
  Play (*play)();
};
const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      {{"flood", "a full cube; one corner tells all", 1'000'000}, flood},
      {{"gradient", "a full cube; distances from one corner", 1'000'000}, gradient},
      {{"tree", "a full cube; a spanning tree that counts itself", 1'000'000}, tree},
      {{"moves", "catoms that roll along lines of others on a hexagonal lattice, all in every tick", 100'000}, moves},
      {{"wires", "a full cube; the flood over wires of 6 kbit/s, live (one thread)", 1'000'000}, nullptr},
      {{"radio", "a full cube; the flood by radio alone, with collisions (one thread)", 1'000'000}, nullptr},
  };
  return all;
}

}  // namespace

std::vector<SceneInfo> all_scenes() {
  std::vector<SceneInfo> infos;
  for (const Scene& scene : scenes()) infos.push_back(scene.info);
  return infos;
}

Result<void> check_memory(std::size_t modules, double cells_of_box, std::size_t state, int ranks) {
  // Cells and active sets, which each rank has; lists of messages; half as much again for messages on their way.
  const double each = 9 + (8 + real(state)) / ranks;
  const double need = 1.5 * (real(modules) * each + real(Occupancy::bytes_needed(modules, cells_of_box)));
  const double have = real(platform::available_memory_bytes());
  if (need <= have) return {};
  return Error(fmt::format("{} modules need about {:.1f} GB of memory, and {:.1f} GB are there", modules, need / 1e9,
                           have / 1e9),
               "use fewer modules, or free some memory");
}

Result<SceneMeasure> run_scene(const std::string& name, std::size_t n, int threads, std::uint64_t seed,
                               cluster::Exchange* ranks) {
  const Scene* scene = nullptr;
  std::string names;
  for (const Scene& s : scenes()) {
    if (s.info.name == name) scene = &s;
    names += (names.empty() ? "" : ", ") + s.info.name;
  }
  if (scene == nullptr) return Error(fmt::format("there is no scene '{}'", name), "choose some of: " + names);
  if (n == 0) n = scene->info.n;
  if (scene->play == nullptr) {
    if (ranks != nullptr)
      return Error(fmt::format("the scene '{}' cannot be shared by ranks: a network runs on one thread", name),
                   "start it without mpirun");
    return run_on_network(name == "wires", n, seed);
  }
  const Play play = scene->play();
  if (const auto fits = check_memory(n, play.cells * real(n), play.state, ranks == nullptr ? 1 : ranks->size());
      !fits.ok())
    return fits.error();

  SceneMeasure m;
  const std::int64_t memory = platform::peak_memory_bytes();
  const double begin = platform::monotonic_seconds();
  ThreadPool pool(threads);
  CatomWorld world(Lattice(play.kind), {.seed = seed, .ranks = ranks}, &pool);
  const std::uint64_t sent_before = ranks == nullptr ? 0 : ranks->bytes_sent();
  if (const auto done = play.load(world, n); !done.ok()) return done.error();
  m.load = platform::monotonic_seconds() - begin;
  const double loaded = platform::monotonic_seconds(), cpu = platform::process_cpu_seconds();
  if (const auto done = world.start(); !done.ok()) return done.error();
  if (const auto done = world.run(play.ticks); !done.ok()) return done.error();
  m.run = platform::monotonic_seconds() - loaded;
  m.cpu = platform::process_cpu_seconds() - cpu;
  m.n = n;
  m.modules = world.ensemble().size();
  m.messages = world.traffic().delivered;
  m.moves = world.motion().moves;
  m.ticks = world.ticks();
  m.sent_away = ranks == nullptr ? 0 : ranks->bytes_sent() - sent_before;
  m.state_hash = world.hash();
  m.bytes = platform::peak_memory_bytes() - memory;
  if (const std::string mistake = play.mistake(world, n); !mistake.empty())
    return Error(fmt::format("the scene '{}' with n = {}: {}", name, n, mistake), "this is a bug: report it");
  return m;
}

}  // namespace volvox::lattice
