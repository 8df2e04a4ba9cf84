#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/cli/bench_particles.h"
#include "volvox/cli/commands.h"
#include "volvox/particles/scenes.h"
#include "volvox/report/table.h"

namespace volvox::cli {
namespace {

using nlohmann::ordered_json;

// The density error of a scene without fluid is null.
ordered_json to_json(const std::string& scene, int threads, const particles::SceneMeasure& m) {
  const bool fluid = scene == "fluid";
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

void print_table(const ordered_json& results) {
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

int bench_particles_command(const BenchParticlesArguments& arguments, Log& log) {
  if (arguments.device != "auto" && arguments.device != "cpu" && arguments.device != "cuda")
    return complain(
        Error(fmt::format("--device: there is no device '{}'", arguments.device), "choose one of: auto, cpu, cuda"));
  BenchScenes scenes;
  for (const auto& info : particles::all_scenes()) scenes.all.push_back({info.name, info.description, info.n});
  scenes.most = 1'000'000'000;
  scenes.measure = [&](const std::string& scene, std::size_t n, int threads) -> Result<ordered_json> {
    const auto measured = particles::run_scene(
        scene, {.n = n, .threads = threads, .frames = arguments.frames, .device = arguments.device});
    if (!measured.ok()) return measured.error();
    if (!measured->device_note.empty()) log.warning(measured->device_note);
    return to_json(scene, threads, *measured);
  };
  scenes.print = print_table;
  return run_bench_scenes(arguments, scenes, log);
}

}  // namespace volvox::cli
