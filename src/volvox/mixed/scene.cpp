#include "volvox/mixed/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/platform/clock.h"
#include "volvox/base/platform/memory.h"
#include "volvox/lattice/programs/pulse.h"
#include "volvox/mixed/mixed_world.h"

namespace volvox::mixed {
namespace {

using lattice::Cell;
using lattice::Pulse;

constexpr double pitch = 0.01;
constexpr std::int64_t blocks = 6, ticks_a_block = 20;  // 2 s

// Layers of balls, and others above hollows of the uppermost, so that none meets another.
struct Cells {
  std::vector<Cell> lattice, falling;
};

Cells make_cells(std::size_t n, std::uint64_t seed) {
  Cells cells;
  std::int32_t side = 4;
  while (std::int64_t{side} * side * 20 < static_cast<std::int64_t>(n)) ++side;
  for (std::size_t i = 0; i < n; ++i)
    cells.lattice.push_back(
        {narrow<std::int32_t>(i % side), narrow<std::int32_t>(i / side % side), narrow<std::int32_t>(i / side / side)});
  const std::int32_t top = cells.lattice.back().z;  // perhaps not complete
  RandomStream random(seed, 0, "falling");
  const std::size_t falling = std::max<std::size_t>(1, n / 500);
  const auto columns = std::max<std::int32_t>(1, (side - 2) / 3);
  for (std::size_t i = 0; i < falling; ++i) {
    const auto k = narrow<std::int32_t>(i);
    const std::int32_t layer = k / (columns * columns),
                       z = top + 3 + 2 * layer + 2 * narrow<std::int32_t>(random.below(3));
    cells.falling.push_back({1 + 3 * (k % columns), 1 + 3 * (k / columns % columns), z + 6 * layer});
  }
  return cells;
}

MixedOptions options_of() {
  MixedOptions options;
  options.ground = -pitch / 2;
  options.hit_speed = 100;  // nobody else goes over, and nobody back: so it is known how many are in dynamics
  options.push = 1e3;
  options.goes_back = false;
  options.body.drag = 1;
  return options;
}

Result<void> load(lattice::CatomWorld& world, const Cells& cells) {
  if (auto done = world.load(Pulse{.period = 20}); !done.ok()) return done;
  if (auto done = world.add(cells.lattice); !done.ok()) return done;
  world.state<Pulse>(0)->source = true;
  return {};
}

// The falling balls in an engine alone, with no more of the lattice than the four under each.
Result<std::unique_ptr<physics::Engine>> engine_with(const Cells& cells, ThreadPool& pool) {
  const MixedOptions options = options_of();
  auto engine = physics::built_in_engines().make(options.engine, {options.gravity, options.max_substep, &pool, {}});
  if (!engine.ok()) return engine;
  const lattice::Lattice lattice(lattice::Kind::fcc, pitch);
  lattice::Ensemble ensemble(lattice);
  if (auto done = ensemble.add(cells.lattice); !done.ok()) return done.error();
  auto ball = std::make_shared<model::Geometry>();
  ball->colliders.push_back({"catom", model::Sphere{pitch * 0.4995}, {}, {0.5, 0}});
  physics::BodyDesc desc;
  desc.geometry = ball;
  desc.mass = options.body.mass;
  desc.moments = Vec3{1, 1, 1} * (0.4 * options.body.mass * 0.25 * pitch * pitch);
  for (const Cell& cell : cells.falling) {
    desc.pose.position = lattice.position(cell);
    if (auto added = (*engine)->add_body(desc); !added.ok()) return added.error();
  }
  desc.motion = physics::Motion::fixed;
  const std::int32_t top = cells.lattice.back().z;
  for (const Cell& cell : cells.lattice) {
    if (cell.z < top - 1) continue;
    const Vec3 at = lattice.position(cell);
    if (!std::any_of(cells.falling.begin(), cells.falling.end(), [&](const Cell& above) {
          const Vec3 away = lattice.position(above) - at;
          return length(away.x, away.y) < 0.75 * pitch;  // the four around a hollow
        }))
      continue;
    desc.pose.position = at;
    if (auto added = (*engine)->add_body(desc); !added.ok()) return added.error();
  }
  return engine;
}

}  // namespace

Result<MixedMeasure> run_scene(std::size_t n, int threads, std::uint64_t seed) {
  if (n == 0) n = scene_size;
  if (n < 500) return Error(fmt::format("{} catoms are too few: one in 500 falls", n), "give 500 or more");
  if (const auto fits = lattice::check_memory(2 * n, 2.2 * real(n), sizeof(Pulse) + 24); !fits.ok())
    return fits.error();
  MixedMeasure m;
  const std::int64_t memory = platform::peak_memory_bytes();
  double begin = platform::monotonic_seconds();
  ThreadPool pool(threads);
  const Cells cells = make_cells(n, seed);
  const lattice::Lattice lattice(lattice::Kind::fcc, pitch);
  lattice::CatomWorld alone(lattice, {.seed = seed}, &pool), catoms(lattice, {.seed = seed});
  MixedWorld mixed(catoms, options_of());
  for (lattice::CatomWorld* world : {&alone, &catoms})
    if (const auto done = load(*world, cells); !done.ok()) return done.error();
  if (const auto done = catoms.add(cells.falling); !done.ok()) return done.error();
  if (const auto done = alone.start(); !done.ok()) return done.error();
  if (const auto done = mixed.start(); !done.ok()) return done.error();
  if (const auto done = mixed.use(mixed.options().engine, &pool, mixed.options().max_substep); !done.ok())
    return done.error();
  for (std::size_t i = n; i < catoms.ensemble().count(); ++i)
    if (const auto done = mixed.release(lattice::CatomId(i)); !done.ok()) return done.error();
  auto engine = engine_with(cells, pool);
  if (!engine.ok()) return engine.error();
  m.all.load = platform::monotonic_seconds() - begin;

  begin = platform::monotonic_seconds();
  const TickLength dt;
  const auto block = [&](std::int64_t number, double& cpu, const auto& tick) -> Result<void> {
    const double from = platform::process_cpu_seconds();
    for (std::int64_t t = number * ticks_a_block; t < (number + 1) * ticks_a_block; ++t)
      if (Result<void> done = tick(dt.start_of(t), dt.start_of(t + 1)); !done.ok()) return done;
    cpu += platform::process_cpu_seconds() - from;
    return {};
  };
  const double drag = mixed.options().body.drag * mixed.options().body.mass;
  for (std::int64_t b = 0; b < blocks; ++b) {
    for (const Result<void>&done : {block(b, m.lattice_cpu, [&](Time, Time) { return alone.tick(); }),
                                    block(b, m.dynamics_cpu,
                                          [&](Time from, Time to) -> Result<void> {
                                            for (std::size_t i = 0; i < cells.falling.size(); ++i)
                                              (*engine)->forces()[i].force += (*engine)->velocities()[i].linear * -drag;
                                            const StepStatus status = (*engine)->advance(from, to);
                                            return status.ok() ? Result<void>()
                                                               : Error(status.text(), "this is a bug: report it");
                                          }),
                                    block(b, m.all.cpu, [&](Time from, Time to) { return mixed.tick(from, to); })})
      if (!done.ok()) return done.error();
  }
  m.all.run = platform::monotonic_seconds() - begin;
  m.all.n = n;
  m.all.modules = catoms.ensemble().size();
  m.in_dynamics = mixed.count_in_dynamics();
  m.all.messages = catoms.traffic().delivered;
  m.all.ticks = catoms.ticks();
  m.all.state_hash = mixed.hash();
  m.all.bytes = platform::peak_memory_bytes() - memory;
  const auto wrong = [&](const std::string& what) {
    return Error(fmt::format("the scene 'mixed' with n = {}: {}", n, what), "this is a bug: report it");
  };
  if (m.in_dynamics != cells.falling.size())
    return wrong(fmt::format("{} catoms are in dynamics, not {}", m.in_dynamics, cells.falling.size()));
  for (std::uint32_t i = 0; i < n; ++i)
    if (catoms.state<Pulse>(i)->round != alone.state<Pulse>(i)->round)
      return wrong(fmt::format("catom {} heard another pulse than on the lattice alone", i));
  // Each lies in a hollow, above the layers and not beside them.
  const double top = lattice.position(cells.lattice.back()).z;
  for (std::size_t i = n; i < catoms.ensemble().count(); ++i)
    if (const double z = mixed.pose(lattice::CatomId(i)).position.z; z < top - pitch || z > top + 3 * pitch)
      return wrong(fmt::format("catom {} ended {:.1f} pitches above the lattice", i, (z - top) / pitch));
  return m;
}

}  // namespace volvox::mixed
