#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/cli/bench_particles.h"
#include "volvox/cli/commands.h"
#include "volvox/particles/scenes.h"
#include "volvox/report/table.h"
#include "volvox/sim/run.h"
#include "volvox/world/matter.h"

namespace volvox::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* snake = "snake";  // coupled to an engine: remod3d/swim

// A snake of five SuperBots swims, in water of about so many particles: minds, engine and particles, tick by tick.
Result<particles::SceneMeasure> run_snake(std::size_t n, int threads, const BenchParticlesArguments& arguments,
                                          const sim::Library& library, Log& log) {
  constexpr double spacing = 0.035, least = 0.02, most = 0.06;  // m: of the experiment, and what it allows
  constexpr double particles_then = 13'215;
  sim::RunOptions options;
  options.experiment = "remod3d/swim";
  options.threads = threads;
  options.duration = 1e6;
  options.settings["spacing"] =
      fmt::format("{:.5f}", clamp(spacing * std::cbrt(particles_then / real(n)), least, most));
  setenv("VOLVOX_DEVICE", arguments.device.c_str(), 1);  // of this process, which measures one scene
  const double begin = platform::monotonic_seconds();
  auto run = sim::Run::prepare(options, library, log);
  if (!run.ok()) return run.error();
  const world::Matter& matter = *(*run)->simulation().world().matter();
  particles::SceneMeasure m;
  m.load = platform::monotonic_seconds() - begin;
  m.n = matter.particles().fluid_ids().size();
  m.frames = arguments.frames > 0 ? arguments.frames : 300;
  for (int frame = 0; frame < m.frames; ++frame) {
    const double wall = platform::monotonic_seconds(), cpu = platform::process_cpu_seconds();
    if (const StepStatus done = (*run)->step(); !done.ok()) return Error(done.text(), "choose another number");
    m.run += platform::monotonic_seconds() - wall;
    m.cpu += platform::process_cpu_seconds() - cpu;
    const double error = matter.particles().density_error();
    m.density_error_mean += error / m.frames;
    m.density_error_max = std::max(m.density_error_max, error);
  }
  m.drained = matter.particles().drained();
  m.bytes = narrow<std::int64_t>(matter.particles().memory_bytes());
  m.state_hash = (*run)->simulation().hash();
  m.device = matter.particles().on_device() ? "cuda" : "cpu";
  return m;
}

// The density error of a scene without fluid is null.
ordered_json to_json(const std::string& scene, int threads, const particles::SceneMeasure& m) {
  const bool fluid = scene == "fluid" || scene == snake;
  return {{"scene", scene},
          {"n", m.n},
          {"device", m.device},
          {"threads", threads},
          {"frames", m.frames},
          {"frames_per_s", m.frames / m.run},
          {"frames_per_cpu_s", m.frames / m.cpu},
          {"density_error_mean", fluid ? ordered_json(m.density_error_mean) : ordered_json(nullptr)},
          {"density_error_max", fluid ? ordered_json(m.density_error_max) : ordered_json(nullptr)},
          {"drained", m.drained},
          {"bytes_per_particle", real(m.bytes) / real(std::max<std::size_t>(1, m.n))},
          {"load_s", m.load},
          {"run_s", m.run},
          {"cpu_s", m.cpu},
          {"peak_mb", nullptr},
          {"state_hash", hash_text(m.state_hash)}};
}

void print_particle_table(const ordered_json& results) {
  std::vector<std::vector<std::string>> cells = {{"scene", "n", "device", "threads", "frames", "frames/s",
                                                  "frames/CPU-s", "density error", "bytes/particle", "peak MB",
                                                  "state hash"}};
  for (const ordered_json& r : results) {
    const ordered_json& error = r["density_error_mean"];
    cells.push_back({r["scene"].get<std::string>(), std::to_string(r["n"].get<std::uint64_t>()),
                     r["device"].get<std::string>(), std::to_string(r["threads"].get<int>()),
                     std::to_string(r["frames"].get<int>()), fmt::format("{:.1f}", r["frames_per_s"].get<double>()),
                     fmt::format("{:.1f}", r["frames_per_cpu_s"].get<double>()),
                     error.is_number() ? fmt::format("{:.2f} %", 100 * error.get<double>()) : "-",
                     fmt::format("{:.0f}", r["bytes_per_particle"].get<double>()),
                     fmt::format("{:.0f}", r["peak_mb"].get<double>()), r["state_hash"].get<std::string>()});
  }
  fmt::print("\n{}\n  A frame is a tick of 1/60 s. Density error: the mean of all particles and frames.\n",
             report::text_table(cells));
}

}  // namespace

int bench_particles_command(const BenchParticlesArguments& arguments, const sim::Library& library, Log& log) {
  if (arguments.device != "auto" && arguments.device != "cpu" && arguments.device != "cuda")
    return complain(
        Error(fmt::format("--device: there is no device '{}'", arguments.device), "choose one of: auto, cpu, cuda"));
  BenchScenes scenes;
  for (const auto& info : particles::all_scenes()) scenes.all.push_back({info.name, info.description, info.n});
  constexpr std::size_t swimmers = 20'000;
  scenes.all.insert(scenes.all.begin() + 1,
                    {snake, "a snake of five modules swims: the fluid, an engine and minds, at most 70,000", swimmers});
  scenes.most = 1'000'000'000;
  scenes.measure = [&](const std::string& scene, std::size_t n, int threads) -> Result<ordered_json> {
    const auto measured =
        scene == snake
            ? run_snake(n == 0 ? swimmers : n, threads, arguments, library, log)
            : particles::run_scene(
                  scene, {.n = n, .threads = threads, .frames = arguments.frames, .device = arguments.device});
    if (!measured.ok()) return measured.error();
    if (!measured->device_note.empty()) log.warning(measured->device_note);
    return to_json(scene, threads, *measured);
  };
  scenes.print = print_particle_table;
  return run_bench_scenes(arguments, scenes, log);
}

}  // namespace volvox::cli
