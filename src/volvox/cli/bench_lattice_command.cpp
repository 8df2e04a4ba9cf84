#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/cli/bench_lattice.h"
#include "volvox/cli/shared_world.h"
#include "volvox/lattice/scenes.h"
#include "volvox/meld/scene.h"
#include "volvox/mixed/scene.h"
#include "volvox/report/table.h"

namespace volvox::cli {
namespace {

using nlohmann::ordered_json;

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

Result<ordered_json> measure_mixed(std::size_t n, int threads, std::uint64_t seed) {
  const auto measured = mixed::run_scene(n, threads, seed);
  if (!measured.ok()) return measured.error();
  ordered_json json = to_json(mixed::scene_name, threads, measured->all);
  json["in_dynamics"] = measured->in_dynamics;
  json["lattice_alone_cpu_s"] = measured->lattice_cpu;
  json["dynamics_alone_cpu_s"] = measured->dynamics_cpu;
  json["ratio_to_both_alone"] = measured->ratio();
  return json;
}

// The memory of all ranks, and what they sent each other.
void add_ranks(ordered_json& row, const lattice::SceneMeasure& m, cluster::Exchange& ranks) {
  const std::uint64_t bytes = ranks.sum("bench", narrow<std::uint64_t>(std::max<std::int64_t>(0, m.bytes)));
  row["bytes_per_module"] = real(bytes) / real(std::max<std::size_t>(1, m.modules));
  row["ranks"] = ranks.size();
  row["bytes_per_module_of_first_rank"] = real(m.bytes) / real(std::max<std::size_t>(1, m.modules));
  row["bytes_between_ranks"] = ranks.sum("bench", m.sent_away);
}

std::string figure(const ordered_json& value, double unit = 1) {
  return value.is_number() ? fmt::format("{:.3g}", value.get<double>() / unit) : "-";
}

void print_lattice_table(const ordered_json& results) {
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
  for (const ordered_json& r : results)
    if (r.contains("ratio_to_both_alone"))
      fmt::print(
          "  {} with {} in dynamics: {:.2f} times the processor time of the lattice ({:.3g} s) and an engine "
          "({:.3g} s) alone.\n",
          r["scene"].get<std::string>(), r["in_dynamics"].get<std::uint64_t>(), r["ratio_to_both_alone"].get<double>(),
          r["lattice_alone_cpu_s"].get<double>(), r["dynamics_alone_cpu_s"].get<double>());
}

}  // namespace

int bench_lattice_command(const BenchLatticeArguments& arguments, Log& log) {
  std::unique_ptr<SharedWorld> shared;
  if (SharedWorld::is_one_of_several() && !arguments.list) {
    auto joined = SharedWorld::join();
    if (!joined.ok()) return complain(joined.error());
    shared = std::move(*joined);
  }
  cluster::Exchange* const ranks = shared ? &shared->exchange() : nullptr;
  BenchScenes scenes;
  for (const auto& info : lattice::all_scenes()) scenes.all.push_back({info.name, info.description, info.n});
  scenes.all.push_back({meld::scene_name, meld::scene_description, meld::scene_size});
  scenes.all.push_back({mixed::scene_name, mixed::scene_description, mixed::scene_size});
  scenes.most = 2'000'000'000;
  scenes.measure = [&](const std::string& scene, std::size_t n, int threads) -> Result<ordered_json> {
    if (scene == mixed::scene_name) return measure_mixed(n, threads, arguments.seed);
    const auto measured = scene == meld::scene_name ? meld::run_scene(n, threads, arguments.seed, ranks)
                                                    : lattice::run_scene(scene, n, threads, arguments.seed, ranks);
    if (!measured.ok()) return measured.error();
    ordered_json row = to_json(scene, threads, *measured);
    if (ranks != nullptr) add_ranks(row, *measured, *ranks);
    return row;
  };
  scenes.print = print_lattice_table;
  scenes.in_this_process = ranks != nullptr;
  const int status = run_bench_scenes(arguments, scenes, log);
  return shared ? shared->end(status) : status;
}

}  // namespace volvox::cli
