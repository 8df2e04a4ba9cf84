#include "volvox/cli/bench_lattice.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/child_process.h"
#include "volvox/base/platform/stop_on_signal.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/counts.h"
#include "volvox/cli/numbers.h"
#include "volvox/cli/terminal.h"
#include "volvox/lattice/scenes.h"
#include "volvox/meld/scene.h"
#include "volvox/report/table.h"

namespace volvox::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t most_modules = 2'000'000'000;

std::vector<lattice::SceneInfo> all_scenes() {
  std::vector<lattice::SceneInfo> all = lattice::all_scenes();
  all.push_back({meld::scene_name, meld::scene_description, meld::scene_size});
  return all;
}

struct Plan {
  std::vector<std::string> scenes;
  std::vector<std::uint64_t> sizes, threads;
};

Result<Plan> make_plan(const BenchLatticeArguments& arguments) {
  Plan plan;
  std::vector<std::string> names;
  for (const auto& info : all_scenes()) names.push_back(info.name);
  plan.scenes = arguments.scenes == "all" ? names : split_list(arguments.scenes);
  std::string there;
  for (const std::string& name : names) there += (there.empty() ? "" : ", ") + name;
  if (plan.scenes.empty()) return Error("--scenes names no scene", "choose some of: " + there);
  for (const std::string& scene : plan.scenes)
    if (std::find(names.begin(), names.end(), scene) == names.end())
      return Error(fmt::format("there is no scene '{}'", scene), "choose some of: " + there);
  auto sizes = parse_counts<std::uint64_t>("--n", arguments.n, most_modules);
  if (!sizes.ok()) return sizes.error();
  auto threads = parse_counts<std::uint64_t>("--threads", arguments.threads, 1024);
  if (!threads.ok()) return threads.error();
  plan.sizes = sizes->empty() ? std::vector<std::uint64_t>{0} : *sizes;
  plan.threads = threads->empty() ? std::vector<std::uint64_t>{1} : *threads;
  return plan;
}

// What has no meaning in a scene is null.
ordered_json to_json(const std::string& scene, int threads, const lattice::SceneMeasure& m) {
  const auto rate = [&](std::uint64_t count) {
    return count > 0 && m.run > 0 ? ordered_json(real(count) / m.run) : ordered_json(nullptr);
  };
  return {{"scene", scene},
          {"n", m.n},
          {"modules", m.modules},
          {"threads", threads},
          {"messages", m.messages},
          {"messages_per_s", rate(m.messages)},
          {"bytes_per_module", real(m.bytes) / real(std::max<std::size_t>(1, m.modules))},
          {"moves", m.moves},
          {"moves_per_s", rate(m.moves)},
          {"ticks", m.ticks},
          {"load_s", m.load},
          {"run_s", m.run},
          {"cpu_s", m.cpu},
          {"peak_mb", nullptr},
          {"state_hash", hash_text(m.state_hash)}};
}

// In a process of its own, so that its memory is its own.
Result<ordered_json> measure(const std::string& scene, std::uint64_t n, std::uint64_t threads, std::uint64_t seed,
                             const std::atomic<bool>& stop) {
  const auto outcome = platform::run_in_child(
      [&] {
        const auto measured = scene == meld::scene_name ? meld::run_scene(n, narrow<int>(threads), seed)
                                                        : lattice::run_scene(scene, n, narrow<int>(threads), seed);
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

std::string figure(const ordered_json& value, double unit = 1) {
  return value.is_number() ? fmt::format("{:.3g}", value.get<double>() / unit) : "-";
}

void print_table(const ordered_json& results) {
  std::vector<std::vector<std::string>> cells = {{"scene", "n", "threads", "ticks", "messages", "M messages/s",
                                                  "M moves/s", "bytes/module", "load s", "run s", "peak MB",
                                                  "state hash"}};
  for (const ordered_json& r : results)
    cells.push_back({r["scene"].get<std::string>(), std::to_string(r["n"].get<std::uint64_t>()),
                     std::to_string(r["threads"].get<int>()), std::to_string(r["ticks"].get<std::int64_t>()),
                     std::to_string(r["messages"].get<std::uint64_t>()), figure(r["messages_per_s"], 1e6),
                     figure(r["moves_per_s"], 1e6), figure(r["bytes_per_module"]), figure(r["load_s"]),
                     figure(r["run_s"]), fmt::format("{:.0f}", r["peak_mb"].get<double>()),
                     r["state_hash"].get<std::string>()});
  fmt::print("\n{}\n  bytes/module: peak memory less that before loading, over all modules.\n",
             report::text_table(cells));
}

int list_scenes() {
  std::vector<std::vector<std::string>> cells = {{"scene", "n", "what it is"}};
  for (const auto& info : all_scenes()) cells.push_back({info.name, std::to_string(info.n), info.description});
  fmt::print("{}", report::text_table(cells));
  return done;
}

}  // namespace

void add_bench_lattice(CLI::App& bench, BenchLatticeArguments& arguments) {
  CLI::App* lattice = bench.add_subcommand("lattice", "catoms by the million: messages, moves and bytes a module");
  lattice->footer(
      "\nExamples:\n  volvox bench lattice\n  volvox bench lattice --n 1000000,10000000 --threads 1,2 --json\n\n"
      "Every measurement runs in a process of its own and checks its result.");
  lattice->add_option("--scenes", arguments.scenes, "comma-separated, or 'all' (--list describes them)")
      ->capture_default_str()
      ->type_name("A,B");
  lattice
      ->add_option("--n", arguments.n,
                   "number of modules; several sizes are run one after the other (default: as the scene defines)")
      ->type_name("N[,M]");
  lattice->add_option("--threads", arguments.threads, "threads to use; several numbers are compared")
      ->capture_default_str()
      ->type_name("N[,M]");
  lattice->add_option("--seed", arguments.seed, "of the random parts of a scene")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number());
  lattice->add_flag("--list", arguments.list, "describe the scenes and run nothing");
  lattice->add_flag("--json", arguments.json, "print one JSON object on standard output and nothing else there");
}

int bench_lattice_command(const BenchLatticeArguments& arguments, Log& log) {
  if (arguments.list) return list_scenes();
  const auto plan = make_plan(arguments);
  if (!plan.ok()) return complain(plan.error());
  const platform::StopOnSignal stop;
  ordered_json results = ordered_json::array();
  for (const std::string& scene : plan->scenes) {
    for (const std::uint64_t size : plan->sizes) {
      for (const std::uint64_t threads : plan->threads) {
        if (is_terminal(2)) fmt::print(stderr, "\r\x1b[K{} on {} thread(s) ...", scene, threads);
        auto measured = measure(scene, size, threads, arguments.seed, stop.requested());
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
