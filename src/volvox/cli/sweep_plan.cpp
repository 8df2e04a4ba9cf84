#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/letters.h"
#include "volvox/base/parse.h"
#include "volvox/base/platform/paths.h"
#include "volvox/base/text.h"
#include "volvox/cli/sweep.h"

namespace volvox::cli {
namespace fs = std::filesystem;
using nlohmann::ordered_json;
namespace {

// What a file says; nothing if it is none or says nothing. A pipe in its place would be waited for.
ordered_json json_in(const fs::path& file) {
  const auto text = read_file(file);
  return ordered_json::parse(text.ok() ? *text : "", nullptr, false);
}

constexpr std::size_t most_runs = 1'000'000;

std::optional<double> finite_number(const std::string& text) {
  const auto value = to_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

// A:B:N: N values at equal distances, including both ends.
Result<std::vector<std::string>> parse_range(const std::string& text) {
  const Error bad(
      fmt::format("'{}' is not a range A:B:N", text),
      "write N values from A to B as --vary KEY=A:B:N, such as modules=4:20:5, or list them, as in KEY=a,b,c");
  const auto first = text.find(':'), second = text.find(':', first + 1);
  if (second == std::string::npos) return bad;
  const auto low = finite_number(text.substr(0, first)),
             high = finite_number(text.substr(first + 1, second - first - 1));
  const std::size_t count = to_number<std::size_t>(text.substr(second + 1)).value_or(0);
  if (!low || !high || count < 1 || count > most_runs) return bad;
  if (count == 1 && *low != *high)
    return Error(fmt::format("'{}' asks for one value between two ends", text),
                 "ask for at least two, or write KEY=VALUE");
  std::vector<std::string> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = count == 1 ? *low : *low + (*high - *low) * real(i) / real(count - 1);
    // 0.1 + 2 * 0.1 shall be 0.3: further digits are rounding errors.
    values.push_back(fmt::format("{:.12g}", value));
  }
  return values;
}

// An option of `run` that may be varied too, unless the experiment has a parameter of that name.
bool is_run_option(const std::string& key) {
  return key == "engine" || key == "dt" || key == "substep" || key == "precision" || key == "duration";
}

Result<void> apply(RunArguments& run, const std::string& key, const std::string& value, bool is_parameter) {
  if (is_parameter || !is_run_option(key)) run.set.push_back(key + "=" + value);
  else if (key == "engine") run.engine = value;
  else if (key == "dt") run.dt = value;
  else if (key == "substep") run.substep = value;
  else if (key == "precision") run.precision = value;
  else {
    const auto seconds = finite_number(value);
    if (!seconds || *seconds < 0)
      return Error(fmt::format("--vary duration: '{}' is not a number of seconds", value),
                   "give seconds, such as duration=5,10");
    run.duration = *seconds;
  }
  return {};
}

// A text as a part of a file name.
std::string file_name_of(const std::string& text) {
  std::string name;
  for (const char c : text.substr(0, 40))
    name += is_letter_or_digit(c) || std::string_view("._-+").find(c) != std::string_view::npos ? c : '-';
  return name;
}

ordered_json identity(const SweepArguments& arguments, const std::string& experiment, const std::vector<Varied>& varied,
                      const model::Sources& files) {
  const RunArguments& run = arguments.run;
  std::vector<std::string> set = run.set;
  std::sort(set.begin(), set.end());
  std::vector<std::string> plugins;  // the same file has the same identity from whatever folder the sweep is started
  for (const std::string& plugin : run.plugins) {
    std::error_code error;
    const fs::path whole = fs::is_regular_file(plugin, error) ? fs::weakly_canonical(plugin, error) : fs::path();
    plugins.push_back(whole.empty() ? plugin : whole.string());
  }
  ordered_json json = {{"experiment", experiment},
                       {"engine", run.engine},
                       {"duration", run.duration ? ordered_json(*run.duration) : ordered_json(nullptr)},
                       {"dt", run.dt.value_or("")},
                       {"substep", run.substep.value_or("")},
                       {"precision", run.precision.value_or("")},
                       {"set", set},
                       {"plugins", plugins},
                       {"vary", ordered_json::object()},
                       {"seed", run.seed},
                       {"seeds", arguments.seeds}};
  for (const Varied& v : varied) json["vary"][v.key] = v.values;
  model::Sources program;
  for (const fs::path& file : {platform::executable(), platform::library()}) model::note_source(program, file);
  json["program"] = ordered_json::array();  // without paths: it may be installed elsewhere
  for (const auto& [file, fingerprint] : program) json["program"].push_back(fingerprint);
  json["files"] = files;
  return json;
}

bool is_list_of_files(const ordered_json& json, const char* key) {
  return json.contains(key) && json[key].is_object() &&
         std::all_of(json[key].begin(), json[key].end(), [](const ordered_json& hash) { return hash.is_string(); });
}

// Reads the world once for each value, with the first value of the other keys: values that an experiment refuses are
// reported before anything runs. Notes the files.
Result<void> try_settings(SweepPlan& plan, const sim::Located& located, const sim::Library& library) {
  auto parameters = sim::make_experiment(located, library)->parameters(located.folder);
  if (!parameters.ok()) return parameters.error();
  for (const SweepRun& run : plan.runs) {
    if (run.options.seed != plan.runs.front().options.seed) continue;
    int unlike_the_first = 0;
    for (std::size_t k = 0; k < plan.varied.size(); ++k)
      unlike_the_first += run.values[k] != plan.varied[k].values.front();
    if (unlike_the_first > 1) continue;
    const std::string declared_in = located.file.empty() ? "experiment " + located.name : located.file.string();
    const auto settings = model::settle_values(*parameters, run.options.settings, declared_in);
    if (!settings.ok()) return settings.error();
    if (!run.options.engine.empty())
      if (const auto engine = library.engines.make(run.options.engine, {}); !engine.ok()) return engine.error();
    model::ModelLibrary models;
    mind::Registries registries = library.minds;
    std::vector<Diagnostic> warnings;
    sim::Setup setup{located.folder, *settings, run.options.seed, models, registries, warnings};
    if (auto world = sim::make_experiment(located, library)->init(setup); !world.ok()) return world.error();
    plan.files.insert(models.sources().begin(), models.sources().end());
  }
  return {};
}

}  // namespace

Result<Varied> parse_varied(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return Error(fmt::format("'--vary {}' is not KEY=A:B:N or KEY=a,b,c", text),
                 "write it as --vary modules=4:20:5 or --vary engine=native,bullet");
  Varied varied;
  varied.key = text.substr(0, equals);
  const std::string values = text.substr(equals + 1);
  if (values.find(':') != std::string::npos) {
    auto range = parse_range(values);
    if (!range.ok()) return range.error();
    varied.values = std::move(*range);
  } else {
    varied.values = split_list(values);
  }
  std::vector<std::string> sorted = varied.values;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    return Error(fmt::format("'--vary {}' has the value '{}' twice", text, *twice),
                 "give each value once; --seeds repeats runs with other seeds");
  if (varied.values.empty())
    return Error(fmt::format("'--vary {}' has no values", text),
                 "write it as --vary modules=4:20:5 or --vary engine=native,bullet");
  varied.numbers = std::all_of(varied.values.begin(), varied.values.end(),
                               [](const std::string& v) { return finite_number(v).has_value(); });
  return varied;
}

std::optional<double> SweepRun::metric(const std::string& name) const {
  for (const auto& [known, value] : metrics)
    if (known == name) return value;
  return {};
}

Result<SweepPlan> plan_sweep(const SweepArguments& arguments, const sim::Library& library) {
  auto located = sim::locate_experiment(arguments.run.experiment, library);
  if (!located.ok()) return located.error();
  auto parameters = sim::make_experiment(*located, library)->parameters(located->folder);
  if (!parameters.ok()) return parameters.error();
  auto set = parse_settings(arguments.run.set);
  if (!set.ok()) return set.error();

  SweepPlan plan;
  plan.experiment = located->name;
  std::size_t count = arguments.seeds;
  for (const std::string& text : arguments.vary) {
    auto varied = parse_varied(text);
    if (!varied.ok()) return varied.error();
    const bool again =
        std::any_of(plan.varied.begin(), plan.varied.end(), [&](const Varied& v) { return v.key == varied->key; });
    if (again || set->contains(varied->key))
      return Error(fmt::format("'{}' is given twice", varied->key), "vary it once, and do not --set what is varied");
    count *= varied->values.size();
    if (count > most_runs) return Error("these are more than a million runs", "vary fewer values, or use fewer seeds");
    plan.varied.push_back(std::move(*varied));
  }

  const int digits = narrow<int>(std::to_string(count).size());
  for (std::size_t i = 0; i < count; ++i) {
    RunArguments run_arguments = arguments.run;
    const std::size_t seed_index = i % arguments.seeds;
    run_arguments.seed += seed_index;
    SweepRun run;
    run.values.resize(plan.varied.size());
    run.folder = fmt::format("{:0{}}", i + 1, std::max(3, digits));
    std::size_t rest = i / arguments.seeds;
    for (std::size_t k = plan.varied.size(); k-- > 0;) {
      run.values[k] = plan.varied[k].values[rest % plan.varied[k].values.size()];
      rest /= plan.varied[k].values.size();
    }
    for (std::size_t k = 0; k < plan.varied.size(); ++k) {
      const std::string& key = plan.varied[k].key;
      const bool is_parameter = std::any_of(parameters->begin(), parameters->end(),
                                            [&](const model::ParameterDesc& p) { return p.name == key; });
      if (auto applied = apply(run_arguments, key, run.values[k], is_parameter); !applied.ok()) return applied.error();
      run.folder += fmt::format("_{}={}", file_name_of(key), file_name_of(run.values[k]));
    }
    run.folder = short_name(run.folder + fmt::format("_seed={}", run_arguments.seed));
    auto options = run_options(run_arguments);
    if (!options.ok()) return options.error();
    run.options = std::move(*options);
    plan.runs.push_back(std::move(run));
  }
  if (auto tried = try_settings(plan, *located, library); !tried.ok()) return tried.error();
  // A world goes by its name, not by its path: it may be moved, and its files tell two worlds of one name apart.
  plan.identity = to_json_text(identity(arguments, plan.experiment, plan.varied, plan.files), 2);
  return plan;
}

Error other_files(const fs::path& folder, const std::string& run, const std::vector<std::string>& changes) {
  return Diagnostic{
      (folder / run).string(), 0,
      fmt::format("the files of this {} have changed since it was made: {}", run.empty() ? "sweep" : "run",
                  fmt::join(changes, "; ")),
      fmt::format("give another folder with --out DIR, or remove {} to run it anew", (folder / run).string())};
}

std::vector<std::string> changes_of(const SweepRun& run, SweepPlan& plan, Made made) {
  model::Sources now;
  for (const auto& file : run.files) {
    const auto moved = [&](const auto& other) {
      return other.second == file.second && fs::path(other.first).filename() == fs::path(file.first).filename();
    };
    if (!plan.files.contains(file.first) && std::any_of(plan.files.begin(), plan.files.end(), moved)) {
      now.insert(file);  // the sweep reads it elsewhere
      continue;
    }
    if (!plan.files.contains(file.first) && made == Made::before) model::note_source(plan.files, file.first);
    if (made == Made::now) plan.files.insert(file);
    if (const auto known = plan.files.find(file.first); known != plan.files.end()) now.insert(*known);
  }
  return model::changes(run.files, now);
}

Result<void> claim_folder(const fs::path& folder, const SweepPlan& plan) {
  const fs::path file = folder / "sweep.json";
  std::error_code error, unknown;
  fs::create_directories(folder, error);
  if (fs::exists(file, unknown)) {
    const ordered_json found = json_in(file), ours = ordered_json::parse(plan.identity);
    if (!found.is_object())
      return Diagnostic{file.string(), 0, "this is not the description of a sweep",
                        "remove the file, or give another folder with --out DIR"};
    for (const auto& [key, value] : ours.items()) {
      if (key == "program") continue;  // a build of its own for every change would make sweeps hard to continue
      if (key == "files" && is_list_of_files(found, "files")) {
        const auto changed = model::changes(found[key].get<model::Sources>(), plan.files);
        if (!changed.empty()) return other_files(folder, "", changed);
        continue;
      }
      if (!found.contains(key) || found[key] != value)
        return Diagnostic{file.string(), 0,
                          fmt::format("the folder holds another sweep: its {} is {}, and here it is {}", key,
                                      found.contains(key) ? to_json_text(found[key]) : "missing", to_json_text(value)),
                          "give the same settings to continue it, or another folder with --out DIR"};
    }
    return {};
  }
  if (error || !write_file(file, plan.identity + "\n").ok())
    return Diagnostic{folder.string(), 0, "no results can be written into this folder",
                      "give another one with --out DIR"};
  return {};
}

bool begun_by_this_program(const fs::path& folder, const SweepPlan& plan) {
  const ordered_json found = json_in(folder / "sweep.json"), ours = ordered_json::parse(plan.identity);
  return found.is_object() && found.contains("program") && found["program"] == ours["program"];
}

bool read_outcome(const fs::path& folder, SweepRun& run) {
  const ordered_json json = json_in(folder / "summary.json");
  // Only a run that ended regularly has all of these.
  for (const char* key :
       {"seed", "status", "state_hash", "sim_time_s", "wall_time_s", "metrics", "settings", "memory_bytes"})
    if (!json.is_object() || !json.contains(key)) return false;
  if (!is_list_of_files(json, "files")) return false;
  run.files = json["files"].get<model::Sources>();
  if (json["seed"] != run.options.seed || !json["metrics"].is_object()) return false;
  for (const auto& [key, value] : run.options.settings)
    if (!json["settings"].contains(key) || json["settings"][key] != value) return false;
  const auto number = [](const ordered_json& value) { return value.is_number() ? value.get<double>() : std::nan(""); };
  const auto text = [&](const char* key) {  // whatever else stands there, the file was damaged or edited
    return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
  };
  run.status = text("status");
  run.failure = text("failure");
  run.state_hash = text("state_hash");
  if (run.status.empty() || run.state_hash.empty()) return false;
  run.sim_time = number(json["sim_time_s"]);
  run.wall_time = number(json["wall_time_s"]);
  run.metrics.clear();
  for (const auto& [name, value] : json["metrics"].items()) run.metrics.emplace_back(name, number(value));
  return true;
}

}  // namespace volvox::cli
