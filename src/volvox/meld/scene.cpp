#include "volvox/meld/scene.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/platform/clock.h"
#include "volvox/base/platform/memory.h"
#include "volvox/meld/meld_modules.h"
#include "volvox/meld/programs.h"

namespace volvox::meld {
namespace {

constexpr std::size_t state_bytes = 400;  // of a catom's facts, about

// A cube as full as n catoms fill it, layer by layer.
Result<void> add_cube(lattice::CatomWorld& world, std::size_t n) {
  std::size_t side = 1;
  while (side * side * side < n) ++side;
  const std::size_t layer = side * side;
  const auto last = narrow<std::int32_t>(side) - 1;
  if (n % layer == 0) return world.add_box({0, 0, 0}, {last, last, narrow<std::int32_t>(n / layer) - 1});
  std::vector<lattice::Cell> cells;
  for (std::size_t i = 0; i < n; ++i)
    cells.push_back(
        {narrow<std::int32_t>(i % side), narrow<std::int32_t>(i / side % side), narrow<std::int32_t>(i / layer)});
  return world.add(cells);
}

}  // namespace

Result<lattice::SceneMeasure> run_scene(std::size_t n, int threads, std::uint64_t seed, cluster::Exchange* ranks) {
  if (n == 0) n = scene_size;
  const int parts = ranks == nullptr ? 1 : ranks->size();
  if (const auto fits = lattice::check_memory(n, real(n), state_bytes, parts); !fits.ok()) return fits.error();
  const auto program = find_program("tree", {});
  if (!program.ok()) return program.error();
  lattice::SceneMeasure m;
  const std::int64_t memory = platform::peak_memory_bytes();
  const double begin = platform::monotonic_seconds();
  ThreadPool pool(threads);
  lattice::CatomWorld world(lattice::Lattice(lattice::Kind::cubic), {.seed = seed, .ranks = ranks}, &pool);
  const std::uint64_t sent_before = ranks == nullptr ? 0 : ranks->bytes_sent();
  auto made = std::make_unique<MeldModules>(*program, MachineOptions{});
  const MeldModules& modules = *made;
  if (const auto done = world.load_modules(std::move(made)); !done.ok()) return done.error();
  if (const auto done = add_cube(world, n); !done.ok()) return done.error();
  m.load = platform::monotonic_seconds() - begin;
  const double loaded = platform::monotonic_seconds(), cpu = platform::process_cpu_seconds();
  if (const auto done = world.start(); !done.ok()) return done.error();
  if (const auto done = world.run(1'000'000); !done.ok()) return done.error();
  m.run = platform::monotonic_seconds() - loaded;
  m.cpu = platform::process_cpu_seconds() - cpu;
  m.n = m.modules = n;
  m.messages = world.traffic().delivered;
  m.ticks = world.ticks();
  m.sent_away = ranks == nullptr ? 0 : ranks->bytes_sent() - sent_before;
  m.state_hash = world.hash();
  m.bytes = platform::peak_memory_bytes() - memory;
  bool right = false;
  if (world.region().has(0)) {
    const auto facts = modules.facts(0);
    right = std::find(facts.begin(), facts.end(), fmt::format("subtree({})", n)) != facts.end();
  }
  right = world.region().any(right);
  if (!right || m.messages != 2 * world.ensemble().links())
    return Error(fmt::format("the scene 'meld' with n = {}: the tree is wrong", n), "this is a bug: report it");
  return m;
}

}  // namespace volvox::meld
