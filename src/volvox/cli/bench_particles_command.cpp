#include "volvox/cli/bench_particles.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/child_process.h"
#include "volvox/base/platform/stop_on_signal.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/counts.h"
#include "volvox/cli/numbers.h"
#include "volvox/cli/terminal.h"
#include "volvox/particles/scenes.h"
#include "volvox/report/table.h"

namespace volvox::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t most_particles = 1'000'000'000;

struct Plan {
  std::vector<std::string> scenes;
  std::vector<std::uint64_t> sizes, threads;
};

Result<Plan> make_plan(const BenchParticlesArguments& arguments) {
  Plan plan;
  std::vector<std::string> names;
  for (const auto& info : particles::all_scenes()) names.push_back(info.name);
  plan.scenes = arguments.scenes == "all" ? names : split_list(arguments.scenes);
  std::string there;
  for (const std::string& name : names) there += (there.empty() ? "" : ", ") + name;
  if (plan.scenes.empty()) return Error("--scenes names no scene", "choose some of: " + there);
  for (const std::string& scene : plan.scenes)
    if (std::find(names.begin(), names.end(), scene) == names.end())
      return Error(fmt::format("there is no scene '{}'", scene), "choose some of: " + there);
  if (arguments.device != "cpu")
    return Error(fmt::format("--device '{}': particles run on the processor only, so far", arguments.device),
                 "use --device cpu");
  auto sizes = parse_counts<std::uint64_t>("--n", arguments.n, most_particles);
  if (!sizes.ok()) return sizes.error();
  auto threads = parse_counts<std::uint64_t>("--threads", arguments.threads, 1024);
  if (!threads.ok()) return threads.error();
  plan.sizes = sizes->empty() ? std::vector<std::uint64_t>{0} : *sizes;
  plan.threads = threads->empty() ? std::vector<std::uint64_t>{1} : *threads;
  return plan;
}

// The density error of a scene without fluid is null.
ordered_json to_json(const std::string& scene, int threads, const particles::SceneMeasure& m) {
  const bool fluid = scene == "fluid";
  return {{"scene", scene},
          {"n", m.n},
          {"device", "cpu"},
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

// In a process of its own, so that its memory is its own.
Result<ordered_json> measure(const std::string& scene, std::uint64_t n, std::uint64_t threads, int frames,
                             const std::atomic<bool>& stop) {
  const auto outcome = platform::run_in_child(
      [&] {
        const auto measured = particles::run_scene(scene, n, narrow<int>(threads), frames);
        if (measured.ok()) return to_json_text(to_json(scene, narrow<int>(threads), *measured));
        const auto& first = measured.error().diagnostics().front();
        return to_json_text(ordered_json{{"what", first.what}, {"fix", first.fix}});
      },
      1e6, &stop);
  if (!outcome.failure.empty())
    return Error(fmt::format("the scene '{}': {}", scene, outcome.failure), "see whether memory was enough");
  ordered_json json = ordered_json::parse(outcome.text);
  if (json.contains("what")) return Error(json["what"].get<std::string>(), json["fix"].get<std::string>());
  json["peak_mb"] = real(outcome.peak_memory_bytes) / (1 << 20);
  return json;
}

void print_table(const ordered_json& results) {
  std::vector<std::vector<std::string>> cells = {{"scene", "n", "threads", "frames", "frames/s", "frames/CPU-s",
                                                  "density error", "bytes/particle", "peak MB", "state hash"}};
  for (const ordered_json& r : results) {
    const ordered_json& error = r["density_error_mean"];
    cells.push_back({r["scene"].get<std::string>(), std::to_string(r["n"].get<std::uint64_t>()),
                     std::to_string(r["threads"].get<int>()), std::to_string(r["frames"].get<int>()),
                     fmt::format("{:.1f}", r["frames_per_s"].get<double>()),
                     fmt::format("{:.1f}", r["frames_per_cpu_s"].get<double>()),
                     error.is_number() ? fmt::format("{:.2f} %", 100 * error.get<double>()) : "-",
                     fmt::format("{:.0f}", r["bytes_per_particle"].get<double>()),
                     fmt::format("{:.0f}", r["peak_mb"].get<double>()), r["state_hash"].get<std::string>()});
  }
  fmt::print("\n{}\n  A frame is a tick of 1/60 s. Density error: the mean of all particles and frames.\n",
             report::text_table(cells));
}

int list_scenes() {
  std::vector<std::vector<std::string>> cells = {{"scene", "n", "what it is"}};
  for (const auto& info : particles::all_scenes())
    cells.push_back({info.name, std::to_string(info.n), info.description});
  fmt::print("{}", report::text_table(cells));
  return done;
}

}  // namespace

void add_bench_particles(CLI::App& bench, BenchParticlesArguments& arguments) {
  CLI::App* particles = bench.add_subcommand("particles", "water, rubble and cloth: frames a second");
  particles->footer(
      "\nExamples:\n  volvox bench particles\n  volvox bench particles --scenes fluid --n 20000,100000 --threads 1,2 "
      "--json\n\nEvery measurement runs in a process of its own.");
  particles->add_option("--scenes", arguments.scenes, "comma-separated, or 'all' (--list describes them)")
      ->capture_default_str()
      ->type_name("A,B");
  particles
      ->add_option("--n", arguments.n,
                   "number of particles; several sizes are run one after the other (default: as the scene defines)")
      ->type_name("N[,M]");
  particles->add_option("--threads", arguments.threads, "threads to use; several numbers are compared")
      ->capture_default_str()
      ->type_name("N[,M]");
  particles->add_option("--device", arguments.device, "what computes: cpu")->capture_default_str()->type_name("NAME");
  particles->add_option("--frames", arguments.frames, "ticks of 1/60 s (0: the first 5 s)")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000));
  particles->add_flag("--list", arguments.list, "describe the scenes and run nothing");
  particles->add_flag("--json", arguments.json, "print one JSON object on standard output and nothing else there");
}

int bench_particles_command(const BenchParticlesArguments& arguments, Log& log) {
  if (arguments.list) return list_scenes();
  const auto plan = make_plan(arguments);
  if (!plan.ok()) return complain(plan.error());
  const platform::StopOnSignal stop;
  ordered_json results = ordered_json::array();
  for (const std::string& scene : plan->scenes) {
    for (const std::uint64_t size : plan->sizes) {
      for (const std::uint64_t threads : plan->threads) {
        if (is_terminal(2)) fmt::print(stderr, "\r\x1b[K{} on {} thread(s) ...", scene, threads);
        auto measured = measure(scene, size, threads, arguments.frames, stop.requested());
        if (is_terminal(2)) fmt::print(stderr, "\r\x1b[K");
        if (stop.requested()) break;
        if (!measured.ok()) return complain(measured.error());
        results.push_back(std::move(*measured));
      }
    }
  }
  if (stop.requested()) log.warning("interrupted: these are the measurements until then");
  if (arguments.json) fmt::print("{}\n", to_json_text(ordered_json{{"results", results}}, 2));
  else print_table(results);
  return stop.requested() ? run_failed : done;
}

}  // namespace volvox::cli
