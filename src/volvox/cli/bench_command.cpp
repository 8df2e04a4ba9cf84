#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/clock.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/progress.h"
#include "volvox/cli/terminal.h"
#include "volvox/report/table.h"
#include "volvox/sim/run.h"

namespace volvox::cli {
namespace {

struct Measured {
  std::string scene, engine;
  std::size_t modules = 0;
  std::int64_t ticks = 0;
  double wall = 0;  // s
  double cpu = 0;   // s, of all threads
  double load = 0;  // s
  sim::PhaseTimes phases;
  double memory_per_module = 0;  // bytes, the engine's own apart
  std::string failure;

  double per_tick_ms(double seconds) const { return ticks > 0 ? 1e3 * seconds / real(ticks) : 0; }
  double overhead_ms() const { return per_tick_ms(wall - phases.of(sim::Phase::move)); }
  double ticks_per_second() const { return wall > 0 ? real(ticks) / wall : 0; }
};

// Runs a scene for about this many seconds of wall time, after a few warm-up ticks.
Result<Measured> measure(const sim::RunOptions& options, double seconds, const sim::Library& library, Log& log) {
  auto run = sim::Run::prepare(options, library, log);
  if (!run.ok()) return run.error();
  sim::Run& r = **run;
  Measured m;
  for (int i = 0; i < 3 && m.failure.empty(); ++i) m.failure = r.step().text();
  const sim::PhaseTimes before = r.simulation().phase_times();
  const double begin = platform::monotonic_seconds(), cpu_begin = platform::process_cpu_seconds();
  while (m.failure.empty() && (m.wall < seconds || m.ticks < 10)) {
    m.failure = r.step().text();
    ++m.ticks;
    m.wall = platform::monotonic_seconds() - begin;
  }
  m.cpu = platform::process_cpu_seconds() - cpu_begin;
  for (std::size_t i = 0; i < sim::phase_count; ++i)
    m.phases.seconds[i] = r.simulation().phase_times().seconds[i] - before.seconds[i];
  r.end();
  m.scene = r.report().experiment;
  m.engine = options.engine;
  m.modules = r.report().modules;
  m.load = r.report().load_time;
  if (m.modules > 0) m.memory_per_module = real(r.report().memory_bytes) / real(m.modules);
  return m;
}

nlohmann::ordered_json to_json(const Measured& m) {
  nlohmann::ordered_json json = {{"scene", m.scene},
                                 {"engine", m.engine},
                                 {"modules", m.modules},
                                 {"ticks", m.ticks},
                                 {"ticks_per_s", m.ticks_per_second()},
                                 {"ms_per_tick", m.per_tick_ms(m.wall)},
                                 {"cpu_ms_per_tick", m.per_tick_ms(m.cpu)},
                                 {"overhead_ms", m.overhead_ms()},
                                 {"load_s", m.load},
                                 {"bytes_per_module", m.memory_per_module}};
  for (std::size_t i = 0; i < sim::phase_count; ++i)
    json["phases_ms"][std::string(sim::phase_names[i])] = m.per_tick_ms(m.phases.seconds[i]);
  if (!m.failure.empty()) json["failure"] = m.failure;
  return json;
}

// Whether the number of modules of a scene can be chosen. Errors of the scene are reported later.
bool has_modules(const std::string& scene, const sim::Library& library) {
  const auto located = sim::locate_experiment(scene, library);
  if (!located.ok()) return false;
  const auto parameters = sim::make_experiment(*located, library)->parameters(located->folder);
  return parameters.ok() &&
         std::any_of(parameters->begin(), parameters->end(), [](const auto& p) { return p.name == "modules"; });
}

// `engine` may name a precision: native@mixed.
Result<sim::RunOptions> options_of(const std::string& scene, const std::string& engine, const BenchArguments& arguments,
                                   const sim::Library& library) {
  sim::RunOptions options;
  options.experiment = scene;
  const auto at = engine.find('@');
  options.engine = engine.substr(0, at);
  if (at != std::string::npos) {
    const auto precision = physics::parse_precision(engine.substr(at + 1));
    if (!precision.ok()) return precision.error();
    options.precision = *precision;
  }
  if (arguments.dt) {
    const auto parsed = TickLength::parse(*arguments.dt);
    if (!parsed.ok()) return parsed.error();
    options.dt = *parsed;
  }
  options.threads = arguments.threads;
  if (arguments.modules > 0 || has_modules(scene, library))
    options.settings["modules"] = std::to_string(arguments.modules > 0 ? arguments.modules : 1000);
  options.duration = 1e6;
  return options;
}

// Somebody may have meant another command: `bench latice`.
Error not_measured(const std::string& scene, const Error& why, const sim::Library& library) {
  const std::string meant = nearest_name(scene, {"engines", "lattice", "particles", "robots", "view"});
  if (meant.empty() || sim::locate_experiment(scene, library).ok()) return why;
  return Error(fmt::format("there is nothing named '{}' to measure", scene),
               fmt::format("did you mean: volvox bench {}?", meant));
}

std::vector<std::string> heading() {
  std::vector<std::string> words = {"scene", "engine", "modules", "ticks/s", "ms/tick", "all but move"};
  words.insert(words.end(), sim::phase_names.begin(), sim::phase_names.end());
  words.emplace_back("kB/module");
  return words;
}

std::vector<std::string> row_of(const Measured& m) {
  std::vector<std::string> row = {m.scene,
                                  m.engine,
                                  std::to_string(m.modules),
                                  number(m.ticks_per_second(), 3),
                                  number(m.per_tick_ms(m.wall), 3),
                                  number(m.overhead_ms(), 3)};
  for (const double seconds : m.phases.seconds) row.push_back(number(m.per_tick_ms(seconds), 2));
  row.push_back(number(m.memory_per_module / 1e3, 3));
  return row;
}

}  // namespace

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> parts;
  std::stringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

Result<std::vector<std::string>> engines_named(const std::optional<std::string>& list) {
  std::vector<std::string> names = split_list(list.value_or(""));
  if (list && names.empty())
    return Error("--engines names no engine",
                 "name some, separated by commas, or leave the option out; see: volvox list engines");
  return names;
}

Result<std::vector<std::string>> engines_to_compare(const std::optional<std::string>& list,
                                                    const sim::Library& library) {
  auto engines = engines_named(list);
  if (!engines.ok() || !engines->empty()) return engines;
  engines->push_back(physics::default_engine);
  for (const std::string& name : library.engines.names()) {
    const auto engine = library.engines.make(name, {});
    if (name != engines->front() && engine.ok() && (*engine)->info().moves) engines->push_back(name);
  }
  return engines;
}

int bench_command(const BenchArguments& arguments, sim::Library& library, Log& log) {
  const std::vector<std::string> scenes =
      arguments.scenes.empty() ? std::vector<std::string>{"remod3d/scatter", "remod3d/snake"} : arguments.scenes;
  const auto named = engines_named(arguments.engines);
  if (!named.ok()) return complain(named.error());
  std::vector<std::string> engines = *named;
  if (engines.empty()) engines = {physics::default_engine, "none"};
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  int status = done;
  std::vector<std::vector<std::string>> rows = {heading()};
  Progress progress("", !is_terminal(2));
  for (const std::string& scene : scenes) {
    for (const std::string& engine : engines) {
      const auto options = options_of(scene, engine, arguments, library);
      if (!options.ok()) return complain(options.error());
      progress.begin(fmt::format("{} on {}", scene, engine));
      auto measured = measure(*options, arguments.seconds, library, log);
      progress.clear();
      if (!measured.ok()) return complain(not_measured(scene, measured.error(), library));
      measured->engine = engine;
      if (!measured->failure.empty()) {
        log.warning(fmt::format("{} on {}: {}", scene, engine, measured->failure));
        status = run_failed;
      }
      results.push_back(to_json(*measured));
      rows.push_back(row_of(*measured));
    }
  }
  if (arguments.json) fmt::print("{}\n", to_json_text(nlohmann::ordered_json{{"results", results}}, 2));
  else
    fmt::print("\n{}\n  ms a tick on {} thread{}; 'all but move' is everything except the physics engine.\n",
               report::text_table(rows), arguments.threads, arguments.threads == 1 ? "" : "s");
  return status;
}

}  // namespace volvox::cli
