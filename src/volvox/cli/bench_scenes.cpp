#include "volvox/cli/bench_scenes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/child_process.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/platform/stop_on_signal.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/counts.h"
#include "volvox/cli/progress.h"
#include "volvox/cli/terminal.h"
#include "volvox/report/table.h"

namespace volvox::cli {
namespace {

using nlohmann::ordered_json;

struct PlannedScene {
  std::string scene;
  std::uint64_t n;
  int threads;
};

// In the order in which they are made.
Result<std::vector<PlannedScene>> plan(const BenchScenesArguments& arguments, const BenchScenes& scenes) {
  std::vector<std::string> names;
  for (const BenchScenes::Info& info : scenes.all) names.push_back(info.name);
  const std::string choice = fmt::format("choose some of: {}", fmt::join(names, ", "));
  const std::vector<std::string> chosen = arguments.scenes == "all" ? names : split_list(arguments.scenes);
  if (chosen.empty()) return Error("--scenes names no scene", choice);
  for (const std::string& scene : chosen)
    if (std::ranges::find(names, scene) == names.end())
      return Error(fmt::format("there is no scene '{}'", scene), choice);
  auto sizes = parse_counts<std::uint64_t>("--n", arguments.n, scenes.most);
  if (!sizes.ok()) return sizes.error();
  auto threads = parse_counts<int>("--threads", arguments.threads, 1024);
  if (!threads.ok()) return threads.error();
  if (sizes->empty()) sizes->push_back(0);
  if (threads->empty()) threads->push_back(1);
  std::vector<PlannedScene> all;
  for (const std::string& scene : chosen)
    for (const std::uint64_t n : *sizes)
      for (const int count : *threads) all.push_back({scene, n, count});
  return all;
}

Result<ordered_json> measure_in_child(const PlannedScene& what, const BenchScenes& scenes,
                                      const std::atomic<bool>& stop) {
  const auto outcome = platform::run_in_child(
      [&] {
        const auto measured = scenes.measure(what.scene, what.n, what.threads);
        if (measured.ok()) return to_json_text(*measured);
        const Diagnostic& first = measured.error().diagnostics().front();
        return to_json_text(ordered_json{{"what", first.what}, {"fix", first.fix}});
      },
      1e6, &stop);
  if (!outcome.failure.empty())
    return Error(fmt::format("the scene '{}': {}", what.scene, outcome.failure), "see whether memory was enough");
  ordered_json json = ordered_json::parse(outcome.text);
  if (json.contains("what")) return Error(json["what"].get<std::string>(), json["fix"].get<std::string>());
  json["peak_mb"] = real(outcome.peak_memory_bytes) / (1 << 20);
  return json;
}

Result<ordered_json> measure_here(const PlannedScene& what, const BenchScenes& scenes) {
  auto measured = scenes.measure(what.scene, what.n, what.threads);
  if (measured.ok()) (*measured)["peak_mb"] = real(platform::peak_memory_bytes()) / (1 << 20);
  return measured;
}

int list_scenes(const BenchScenes& scenes) {
  std::vector<std::vector<std::string>> cells = {{"scene", "n", "what it is"}};
  for (const BenchScenes::Info& info : scenes.all)
    cells.push_back({info.name, std::to_string(info.n), info.description});
  fmt::print("{}", report::text_table(cells));
  return done;
}

}  // namespace

int run_bench_scenes(const BenchScenesArguments& arguments, const BenchScenes& scenes, Log& log) {
  if (arguments.list) return list_scenes(scenes);
  const auto measurements = plan(arguments, scenes);
  if (!measurements.ok()) return complain(measurements.error());
  std::optional<platform::StopOnSignal> on_signal;
  if (!scenes.in_this_process) on_signal.emplace();
  const std::atomic<bool> never = false, &stop = on_signal ? on_signal->requested() : never;
  ordered_json results = ordered_json::array();
  Progress progress("", !is_terminal(2));
  for (const PlannedScene& next : *measurements) {
    progress.begin(fmt::format("{} on {} thread{}", next.scene, next.threads, next.threads == 1 ? "" : "s"));
    auto measured = scenes.in_this_process ? measure_here(next, scenes) : measure_in_child(next, scenes, stop);
    progress.clear();
    if (stop) break;
    if (!measured.ok()) return complain(measured.error());
    results.push_back(std::move(*measured));
  }
  if (stop) log.warning("interrupted: these are the measurements until then");
  if (arguments.json) fmt::print("{}\n", to_json_text(ordered_json{{"results", results}}, 2));
  else scenes.print(results);
  return stop ? run_failed : done;
}

}  // namespace volvox::cli
