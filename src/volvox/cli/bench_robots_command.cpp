#include <fmt/format.h>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/cli/bench_robots.h"
#include "volvox/cli/commands.h"
#include "volvox/physics/scenes/swarm.h"
#include "volvox/report/table.h"

namespace volvox::cli {
namespace {

using nlohmann::ordered_json;
using physics::cuda::Device;

ordered_json to_json(int threads, const physics::scenes::SwarmMeasure& m) {
  return {{"scene", "superbot"},   {"n", m.n},
          {"modules", m.n},        {"device", m.device.empty() ? "cpu" : m.device},
          {"precision", "double"}, {"threads", threads},
          {"ticks", m.ticks},      {"module_ticks_per_s", m.module_ticks_per_s},
          {"load_s", m.load_s},    {"run_s", m.run_s},
          {"cpu_s", m.cpu_s},      {"left_to_engines", m.left},
          {"peak_mb", nullptr},    {"state_hash", hash_text(m.state_hash)}};
}

void print_robot_table(const ordered_json& results) {
  std::vector<std::vector<std::string>> cells = {
      {"n", "device", "threads", "ticks", "module-ticks/s", "load s", "run s", "CPU s", "peak MB", "state hash"}};
  for (const ordered_json& r : results)
    cells.push_back({std::to_string(r["n"].get<std::uint64_t>()), r["device"].get<std::string>(),
                     std::to_string(r["threads"].get<int>()), std::to_string(r["ticks"].get<std::int64_t>()),
                     fmt::format("{:.4g}", r["module_ticks_per_s"].get<double>()),
                     fmt::format("{:.3g}", r["load_s"].get<double>()), fmt::format("{:.3g}", r["run_s"].get<double>()),
                     fmt::format("{:.3g}", r["cpu_s"].get<double>()), fmt::format("{:.0f}", r["peak_mb"].get<double>()),
                     r["state_hash"].get<std::string>()});
  fmt::print(
      "\n{}\n  Each robot has a world of its own. State hash: of the first {} robots, so that devices and numbers "
      "can be compared.\n",
      report::text_table(cells), physics::scenes::hashed_robots);
}

}  // namespace

int bench_robots_command(const BenchRobotsArguments& arguments, Log& log) {
  if (arguments.device != "cpu" && arguments.device != "cuda")
    return complain(
        Error(fmt::format("--device: there is no device '{}'", arguments.device), "choose one of: cpu, cuda"));
  BenchScenes scenes;
  scenes.all = {{"superbot", "lone SuperBots on a plane, every joint swinging, each in a world of its own", 1024}};
  scenes.most = 10'000'000;
  scenes.measure = [&](const std::string&, std::size_t n, int threads) -> Result<ordered_json> {
    std::shared_ptr<const Device> device;
    if (arguments.device == "cuda") {
      auto found = Device::find();
      if (found.ok()) device = *found;
      else log.warning(found.error().text());  // and the processor goes on
    }
    const auto measured = physics::scenes::measure_swarm(n > 0 ? n : 1024, arguments.ticks, device, threads);
    if (!measured.ok()) return measured.error();
    return to_json(threads, *measured);
  };
  scenes.print = print_robot_table;
  return run_bench_scenes(arguments, scenes, log);
}

}  // namespace volvox::cli
