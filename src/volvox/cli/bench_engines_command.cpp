#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/child_process.h"
#include "volvox/base/platform/stop_on_signal.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/counts.h"
#include "volvox/cli/progress.h"
#include "volvox/cli/terminal.h"
#include "volvox/physics/scenes/scene_run.h"
#include "volvox/physics/scenes/scenes.h"
#include "volvox/report/table.h"

namespace volvox::cli {
namespace {

using nlohmann::ordered_json;
using physics::scenes::BenchScene;
using physics::scenes::Measurement;

// "bullet@1/60", "native@double": an engine and its max_substep, or its precision; or both, one after the other.
struct EngineChoice {
  std::string text, name;
  double substep = physics::EngineSettings{}.max_substep;
  std::optional<physics::Precision> precision{};
  bool uses_threads = true;
};

struct Plan {
  std::vector<physics::scenes::SceneInfo> scenes;
  std::vector<EngineChoice> engines;
  std::vector<int> sizes, threads;  // size 0: the default of the scene
};

// A row of the comparison. Values that were not measured are null.
struct Row {
  std::string scene;
  const EngineChoice* engine = nullptr;
  int modules = 0, threads = 1;
  std::string failure;
  ordered_json measured = ordered_json::object();  // of the last successful repeat
  std::vector<double> ms;                          // of each repeat
  double rss_mb = 0;

  double ms_per_step() const {
    std::vector<double> sorted = ms;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[sorted.size() / 2];
  }
};

Result<EngineChoice> parse_engine(const std::string& text, const sim::Library& library) {
  EngineChoice choice;
  choice.text = text;
  auto at = text.find('@');
  choice.name = text.substr(0, at);
  while (at != std::string::npos) {
    const auto next = text.find('@', at + 1);
    const std::string part = text.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    at = next;
    if (const auto precision = physics::parse_precision(part); precision.ok()) {
      choice.precision = *precision;
      continue;
    }
    const auto substep = TickLength::parse(part);
    if (!substep.ok() || substep->seconds() > 1 || substep->seconds() < 1e-6)
      return Error(
          fmt::format("--engines: '{}' is neither a physics step nor a precision", part),
          fmt::format("give seconds between 1e-6 and 1, mixed or double after the @, such as {}@1/240", choice.name));
    choice.substep = substep->seconds();
  }
  physics::EngineSettings settings;
  settings.precision = choice.precision;
  const auto engine = library.engines.make(choice.name, settings);
  if (!engine.ok()) return engine.error();
  if (!(*engine)->info().moves)
    return Error(fmt::format("the engine '{}' moves nothing: there is nothing to measure", choice.name),
                 "leave it out of --engines");
  choice.uses_threads = (*engine)->info().uses_threads;
  return choice;
}

Result<Plan> make_plan(const BenchEnginesArguments& arguments, const sim::Library& library) {
  Plan plan;
  std::vector<std::string> scene_names = split_list(arguments.scenes);
  if (arguments.scenes == "all") {
    scene_names.clear();
    for (const auto& info : physics::scenes::all_scenes()) scene_names.push_back(info.name);
  }
  if (scene_names.empty())
    return Error("--scenes names no scene",
                 "name some, separated by commas, or leave the option out; see: volvox bench engines --list");
  auto sizes = parse_counts<int>("--n", arguments.n, 1'000'000),
       threads = parse_counts<int>("--threads", arguments.threads, 1024);
  if (!sizes.ok()) return sizes.error();
  if (!threads.ok()) return threads.error();
  plan.sizes = sizes->empty() ? std::vector<int>{0} : *sizes;
  plan.threads = threads->empty() ? std::vector<int>{1} : *threads;
  for (const std::string& name : scene_names) {
    for (const int size : plan.sizes)  // bad sizes are reported before anything runs
      if (const auto scene = physics::scenes::make_scene(name, size, arguments.seed); !scene.ok()) return scene.error();
    for (const auto& info : physics::scenes::all_scenes())
      if (info.name == name) plan.scenes.push_back(info);
  }
  const auto names = engines_to_compare(arguments.engines, library);
  if (!names.ok()) return names.error();
  for (const std::string& name : *names) {
    auto engine = parse_engine(name, library);
    if (!engine.ok()) return engine.error();
    plan.engines.push_back(*engine);
  }
  return plan;
}

ordered_json to_json(const Measurement& m) {
  const auto& w = m.worst;
  const auto when = [](bool applies, double value) { return applies ? ordered_json(value) : ordered_json(nullptr); };
  const auto optional = [](const std::optional<double>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
  };
  const bool measured = m.ticks > 0;
  ordered_json counters = ordered_json::object();
  for (const auto& [what, mean] : m.work) counters[what] = mean;
  return {{"ms_per_step", when(measured, m.ms_median)},
          {"hinge_max_mm", when(w.has_hinges, w.hinge_mm)},
          {"hinge_max_deg", when(w.has_hinges, w.hinge_deg)},
          {"dock_max_mm", when(w.has_docks, w.dock_mm)},
          {"dock_max_deg", when(w.has_docks, w.dock_deg)},
          {"lift_m", when(measured, w.lift_m)},
          {"penetration_max_mm", when(measured, w.penetration_mm)},
          {"rss_mb", nullptr},
          {"ms_min", when(measured, m.ms_min)},
          {"ms_mean", when(measured, m.ms_mean)},
          {"cpu_ms_mean", when(measured, m.cpu_ms_mean)},
          {"contacts_mean", when(measured, m.contacts)},
          {"travel_m", when(measured, m.travel_m)},
          {"undock_event_us", optional(m.undock_us)},
          {"dock_event_us", optional(m.dock_us)},
          {"settle_s", m.settle},
          {"simulated_s", m.simulated},
          {"ticks", m.ticks},
          {"state_hash", fmt::format("{:016x}", m.state_hash)},
          {"counters", counters},
          {"settings", m.settings},
          {"failure", m.failure}};
}

void measure_once(Row& row, const BenchScene& scene, const physics::scenes::MeasureOptions& options,
                  const sim::Library& library, const std::atomic<bool>& stop) {
  const auto outcome = platform::run_in_child(
      [&] { return to_json_text(to_json(measure(scene, library.engines, row.engine->name, options))); },
      // The child checks the limit between ticks; this ends one that hangs in a tick.
      2 * options.limit + 10, &stop);
  if (stop) return;  // stopped, not failed
  row.rss_mb = std::max(row.rss_mb, real(outcome.peak_memory_bytes) / (1 << 20));
  row.failure = outcome.failure;
  if (!row.failure.empty()) return;
  row.measured = ordered_json::parse(outcome.text);
  row.failure = row.measured["failure"].get<std::string>();
  if (row.measured["ms_per_step"].is_number()) row.ms.push_back(row.measured["ms_per_step"].get<double>());
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// "[3/12] S1 of 40 on native, 2 threads", and how long it took.
class RowProgress {
 public:
  explicit RowProgress(std::size_t total) : total_(total) {}
  void begin(const Row& row) {
    progress_.begin(fmt::format("[{}/{}] {} of {} on {}, {} thread{}", ++done_, total_, row.scene, row.modules,
                                row.engine->text, row.threads, row.threads == 1 ? "" : "s"));
  }
  void end(const Row& row) {
    progress_.end(!row.failure.empty() ? first_line(row.failure)
                  : row.ms.empty()     ? "interrupted"
                                       : fmt::format("{:.4g} ms", row.ms.back()));
  }

 private:
  Progress progress_{"", false};
  std::size_t total_, done_ = 0;
};

// Repeats all engines of one scene in turn, so that a slow minute of the machine affects each of them. When `stop`
// becomes true, returns what was measured until then.
std::vector<Row> run_scene(const physics::scenes::SceneInfo& info, int size, const Plan& plan,
                           const BenchEnginesArguments& arguments, const sim::Library& library,
                           const std::atomic<bool>& stop, RowProgress& progress) {
  const BenchScene scene = *physics::scenes::make_scene(info.name, size, arguments.seed);
  std::vector<Row> rows;
  for (const EngineChoice& engine : plan.engines)
    for (const int threads : plan.threads)
      if (engine.uses_threads || threads == plan.threads.front()) {
        Row row;
        row.scene = info.name, row.engine = &engine, row.modules = scene.modules;
        row.threads = engine.uses_threads ? threads : 1;
        rows.push_back(std::move(row));
      }
  for (int repeat = 0; repeat < arguments.repeats; ++repeat) {
    for (Row& row : rows) {
      if (stop) break;
      progress.begin(row);
      if (row.failure.empty()) {
        physics::scenes::MeasureOptions options;
        options.substep = row.engine->substep;
        options.precision = row.engine->precision;
        options.seconds = arguments.seconds.value_or(info.seconds);
        options.limit = arguments.limit;
        options.threads = row.threads;
        options.seed = arguments.seed;
        measure_once(row, scene, options, library, stop);
      }
      progress.end(row);
    }
  }
  if (stop) std::erase_if(rows, [](const Row& row) { return row.ms.empty() && row.failure.empty(); });
  return rows;
}

// The speed of a row relative to each bullet row of its scene, by the name of that row.
std::vector<std::pair<std::string, double>> times_faster(const Row& row, const std::vector<Row>& rows) {
  std::vector<std::pair<std::string, double>> times;
  for (const Row& other : rows) {
    if (other.engine->name != "bullet" || other.scene != row.scene || other.modules != row.modules ||
        other.ms.empty() || row.ms.empty())
      continue;
    times.emplace_back(other.engine->text, other.ms_per_step() / row.ms_per_step());
  }
  return times;
}

const Row* on_one_thread(const Row& row, const std::vector<Row>& rows) {
  for (const Row& other : rows)
    if (row.threads > 1 && other.threads == 1 && other.engine == row.engine && other.scene == row.scene &&
        other.modules == row.modules && !other.ms.empty())
      return &other;
  return nullptr;
}

ordered_json to_json(const Row& row, const std::vector<Row>& rows) {
  ordered_json json = {{"scene", row.scene},
                       {"engine", row.engine->name},
                       {"threads", row.threads},
                       {"n", row.modules},
                       {"dt", 1.0 / 60}};
  const ordered_json nothing = to_json(Measurement{});
  for (const auto& [key, value] : (row.measured.empty() ? nothing : row.measured).items()) json[key] = value;
  json["ms_per_step"] = row.ms.empty() ? ordered_json(nullptr) : ordered_json(row.ms_per_step());
  json["rss_mb"] = row.rss_mb;
  json["engine_as_chosen"] = row.engine->text;
  json["substep_s"] = row.engine->substep;
  json["ms_of_repeats"] = row.ms;
  json["times_faster_than"] = ordered_json::object();
  for (const auto& [name, times] : times_faster(row, rows)) json["times_faster_than"][name] = times;
  const Row* single = on_one_thread(row, rows);
  json["part_of_one_thread"] = single != nullptr && !row.ms.empty()
                                   ? ordered_json(row.ms_per_step() / single->ms_per_step())
                                   : ordered_json(nullptr);
  json["failure"] = row.failure.empty() ? ordered_json(nullptr) : ordered_json(row.failure);
  return json;
}

std::string cell(const ordered_json& value, int digits = 3) {
  if (!value.is_number()) return "-";
  const double x = value.get<double>();
  // Values below the accuracy of every engine are shown as 0; no exponents, so that figures can be compared.
  if (std::fabs(x) < 1e-4) return "0";
  return x >= 1000 ? fmt::format("{:.0f}", x) : number(x, digits);
}

void print_table(const std::vector<Row>& rows, const Plan& plan, const BenchEnginesArguments& arguments) {
  std::vector<std::vector<std::string>> cells = {{"scene", "n", "engine", "threads", "ms/step"}};
  std::vector<std::string> bullets;
  for (const EngineChoice& engine : plan.engines)
    if (engine.name == "bullet") bullets.push_back(engine.text);
  for (const std::string& bullet : bullets) cells[0].push_back("x " + bullet);
  if (plan.threads.size() > 1) cells[0].push_back("of 1 thread");
  for (const char* heading : {"hinge mm", "deg", "dock mm", "deg", "lift m", "into mm", "contacts", "MB"})
    cells[0].push_back(heading);
  for (const Row& row : rows) {
    const ordered_json json = to_json(row, rows);
    std::vector<std::string> line = {row.scene, std::to_string(row.modules), row.engine->text,
                                     std::to_string(row.threads), cell(json["ms_per_step"])};
    for (const std::string& bullet : bullets)
      line.push_back(json["times_faster_than"].contains(bullet) ? cell(json["times_faster_than"][bullet]) : "-");
    if (plan.threads.size() > 1) line.push_back(cell(json["part_of_one_thread"], 2));
    for (const char* key : {"hinge_max_mm", "hinge_max_deg", "dock_max_mm", "dock_max_deg", "lift_m",
                            "penetration_max_mm", "contacts_mean"})
      line.push_back(cell(json[key], 2 + (key == std::string("lift_m"))));
    line.push_back(fmt::format("{:.0f}", row.rss_mb));
    if (!row.failure.empty()) line.push_back(first_line(row.failure));
    cells.push_back(std::move(line));
  }
  fmt::print("\n{}\n", report::text_table(cells));
  for (const Row& row : rows) {
    const ordered_json json = to_json(row, rows);
    if (json["dock_event_us"].is_number())
      fmt::print(
          "  {} of {} on {}, {} thread{}: docking costs {:.3g} us, undocking {:.3g} us, beyond a step without events\n",
          row.scene, row.modules, row.engine->text, row.threads, row.threads == 1 ? "" : "s",
          json["dock_event_us"].get<double>(), json["undock_event_us"].get<double>());
  }
  std::set<std::string> told;  // each engine's settings once, for each number of threads
  for (const EngineChoice& engine : plan.engines)
    for (const Row& row : rows)
      if (row.engine == &engine && row.measured.contains("settings")) {
        const std::string line =
            fmt::format("  {}: {}\n", bold(engine.text), row.measured["settings"].get<std::string>());
        if (told.insert(line).second) fmt::print("{}", line);
      }
  fmt::print(
      "  dt 1/60 s, seed {}; ms/step: median of the ticks after settling{}; 'x bullet': how many times faster than "
      "it;\n"
      "  'into': the deepest that bodies lie in each other or the ground, from their poses; MB: peak memory.\n",
      arguments.seed, arguments.repeats > 1 ? fmt::format(", and of {} repeats", arguments.repeats) : "");
}

int list_scenes() {
  std::vector<std::vector<std::string>> cells = {{"scene", "n", "seconds", "what it is"}};
  for (const auto& info : physics::scenes::all_scenes())
    cells.push_back({info.name, std::to_string(info.modules), number(info.seconds), info.description});
  fmt::print("{}", report::text_table(cells));
  return done;
}

}  // namespace

int bench_engines_command(const BenchEnginesArguments& arguments, sim::Library& library, Log& log) {
  if (arguments.list) return list_scenes();
  const auto plan = make_plan(arguments, library);
  if (!plan.ok()) return complain(plan.error());
  const platform::StopOnSignal stop;
  std::vector<Row> rows;
  {
    std::size_t runs = 0;
    for (const EngineChoice& engine : plan->engines) runs += engine.uses_threads ? plan->threads.size() : 1;
    RowProgress progress(runs * plan->scenes.size() * plan->sizes.size() * arguments.repeats);
    for (const auto& info : plan->scenes)
      for (const int size : plan->sizes)
        for (Row& row : run_scene(info, size, *plan, arguments, library, stop.requested(), progress))
          rows.push_back(std::move(row));
  }
  bool ours_failed = false;
  std::size_t failures = 0;
  for (const Row& row : rows) {
    if (row.failure.empty()) continue;
    ++failures;
    log.warning(fmt::format("{} of {} on {}: {}", row.scene, row.modules, row.engine->text, first_line(row.failure)));
    ours_failed = ours_failed || row.engine->name == physics::default_engine;
  }
  if (failures > 0)
    log.warning(failures == rows.size() ? "no measurement succeeded"
                                        : fmt::format("{} of {} rows could not be measured", failures, rows.size()));
  if (stop.requested()) log.warning("interrupted: these are the measurements until then");
  if (arguments.json) {
    ordered_json results = ordered_json::array();
    for (const Row& row : rows) results.push_back(to_json(row, rows));
    ordered_json printed{{"results", results}};
    if (stop.requested()) printed["interrupted"] = true;
    fmt::print("{}\n", to_json_text(printed, 2));
  } else {
    print_table(rows, *plan, arguments);
  }
  // An engine that fails in a scene is a result of the comparison; if all fail it is an error.
  return ours_failed || failures == rows.size() || stop.requested() ? run_failed : done;
}

}  // namespace volvox::cli
