#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "volvox/base/hash.h"
#include "volvox/base/help_page.h"
#include "volvox/base/index.h"
#include "volvox/base/parse.h"
#include "volvox/base/platform/stop_on_signal.h"
#include "volvox/base/text.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/film.h"
#include "volvox/cli/progress.h"
#include "volvox/cli/shared_world.h"
#include "volvox/cli/terminal.h"
#include "volvox/model/file_names.h"
#include "volvox/net/pcapng.h"
#include "volvox/plugin/plugins.h"
#include "volvox/record/recording_format.h"
#include "volvox/record/replay.h"
#include "volvox/report/table.h"
#include "volvox/sim/run.h"
#include "volvox/view/web/viewer.h"

namespace volvox::cli {
namespace fs = std::filesystem;

std::string short_name(const std::string& name) {
  constexpr std::size_t longest = 200;  // a file system allows 255 bytes, and something may be appended
  if (name.size() <= longest) return name;
  return name.substr(0, longest - 17) + "_" + hash_text(hash_of(name));
}

Result<fs::path> make_next_run_folder(std::string experiment) {
  for (char& c : experiment)
    if (c == '/' || c == ' ') c = '_';
  experiment = short_name(experiment);
  const fs::path parent = fs::path("runs") / experiment;
  std::error_code error;
  fs::create_directories(parent, error);
  for (int i = 1; !error; ++i) {
    const fs::path folder = parent / fmt::format("{:03}", i);
    if (fs::create_directory(folder, error)) return folder;
  }
  return Diagnostic{parent.string(), 0, "the output folder cannot be made: " + error.message(),
                    "give a folder that can be written, with --out DIR"};
}

std::string folder_name(const std::string& experiment_or_file, const std::string& name) {
  std::error_code error;
  const fs::path file = fs::absolute(experiment_or_file, error).lexically_normal();
  if (!model::names_a_model_file(file) || !fs::is_regular_file(file, error)) return name;
  const fs::path below = file.lexically_relative(fs::current_path(error));
  const bool is_below = !error && !below.empty() && *below.begin() != "..";
  return fs::path(is_below ? below : file.relative_path()).replace_extension().generic_string();
}

namespace {

// The folder of the results. Made before the run: a run of hours must not end with a folder that cannot be written.
Result<fs::path> make_output_folder(const RunArguments& arguments, const std::string& experiment) {
  if (arguments.save && !can_write_file(*arguments.save))
    return Diagnostic{*arguments.save, 0, "the snapshot cannot be written", "give --save a path that can be written"};
  if (!arguments.out) return make_next_run_folder(folder_name(arguments.experiment, experiment));
  return fs::path(*arguments.out);
}

// What the experiment of an earlier run wrote into the folder, as its summary.json says.
std::vector<std::string> own_files_of(const fs::path& folder) {
  const auto text = read_file(folder / "summary.json");  // nothing but a file: a pipe would be waited for
  const nlohmann::json summary = nlohmann::json::parse(text.ok() ? *text : "", nullptr, false);
  std::vector<std::string> names;
  if (!summary.is_object() || !summary.contains("own_files") || !summary["own_files"].is_array()) return names;
  for (const nlohmann::json& name : summary["own_files"])
    if (name.is_string()) names.push_back(name.get<std::string>());
  // Nothing outside of the folder and nothing hidden, whoever wrote that.
  std::erase_if(names, [&](const std::string& name) {
    std::error_code error;
    return name.empty() || name.front() == '.' || fs::path(name).filename() != name ||
           !fs::is_regular_file(fs::symlink_status(folder / name, error));
  });
  return names;
}

// Removes the files of an earlier run from the folder, so that they are not taken for results of this one, and says so:
// a recording may be missed.
void clear_results(const fs::path& folder, Log& log) {
  std::error_code error;
  std::vector<std::string> recordings;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name == record::format::file_name || (name.starts_with("recording.") && name.ends_with(".mcap")))
      recordings.push_back(name);
  }
  bool tables = false;
  for (const std::string& table : record::table_names()) tables = fs::remove(folder / "csv" / table, error) || tables;
  fs::remove(folder / "csv", error);  // unless something else is in it
  bool any = tables || !recordings.empty();
  for (const std::string& name : own_files_of(folder)) any = fs::remove(folder / name, error) || any;
  for (const std::string& name : recordings) fs::remove(folder / name, error);
  for (const char* old : {"report.html", "metrics.csv", "summary.json"}) any = fs::remove(folder / old, error) || any;
  if (!any) return;
  const std::string what = fmt::format("{}: the results of an earlier run were removed{}{}{}", folder.string(),
                                       recordings.empty() ? "" : ", with ", fmt::join(recordings, ", "),
                                       tables ? ", and the tables made of it" : "");
  recordings.empty() ? log.info(what) : log.warning(what);
}

// Joins a run: its frames are written to the file as it goes. When that fails, it says so once, and the run goes on.
Result<std::shared_ptr<net::PcapngFile>> start_capture(const std::string& path, sim::Run& run, Log& log) {
  const exchange::Exchange& exchange = *run.simulation().minds().exchange();
  const bool fit = exchange.network().interfaces() <= std::size_t{net::largest_short_address} + 1;
  auto made = net::PcapngFile::create(path, fit ? net::AddressSize::short_16 : net::AddressSize::extended_64);
  if (!made.ok()) return made.error();
  std::shared_ptr<net::PcapngFile> capture = std::move(*made);
  run.simulation().minds().keep_frames(true);
  run.add_onlooker([capture, &log, told = false](const sim::Simulation& simulation) mutable {
    const net::FrameLog& tick = simulation.minds().exchange()->frames();
    capture->add(tick);
    if (tick.left_out() > 0) log.warning(fmt::format("the capture lacks {} events of a tick", tick.left_out()));
    if (capture->ok() || told) return;
    log.warning("the capture ends here, the run goes on: " + capture->flush().error().text());
    told = true;
  });
  return capture;
}

}  // namespace

void print_results(const sim::RunReport& report, const std::string& folder) {
  const auto& metrics = report.metrics.all();
  const bool has_paper =
      std::any_of(metrics.begin(), metrics.end(), [](const sim::Metric& m) { return m.paper.has_value(); });
  std::vector<std::vector<std::string>> rows = {{"metric", "value"}};
  if (has_paper) rows[0].push_back("paper");
  rows[0].push_back("");
  for (const sim::Metric& metric : metrics) {
    rows.push_back({metric.name, number(metric.value)});
    if (has_paper) rows.back().push_back(metric.paper ? number(*metric.paper) : "");
    rows.back().push_back(metric.note);
  }
  // Worlds of catoms have no modules; how many catoms there are is among their metrics.
  const std::string modules = report.modules > 0 ? fmt::format("{} modules, ", report.modules) : "";
  const std::string precision = report.precision == "double" ? "" : fmt::format(" in {} precision", report.precision);
  fmt::print("\n{}  {}engine {}{}, {:.1f} s simulated in {:.2f} s ({} x real time), seed {}\n\n",
             bold(report.experiment), modules, report.engine, precision, report.sim_time, report.wall_time,
             number(report.real_time_factor(), report.real_time_factor() >= 100 ? 4 : 2), report.seed);
  fmt::print("{}\n", report::text_table(rows));
  if (report.pacing) fmt::print("{}\n", sim::pacing_text(*report.pacing));
  if (report.restored)
    fmt::print("  restored    from {} at {:.3f} s{}\n", printable(report.restored->file), report.restored->time,
               report.restored->differences.empty() ? "" : ", with changes (see summary.json)");
  fmt::print("  state hash  {}\n  results in  {}\n", hash_text(report.state_hash), printable(folder));
}

view::RenderEngineRegistry render_engines(const sim::Library& library) {
  const auto* plugins = plugin::plugins_of(library);
  return plugins != nullptr ? plugins->renderers() : view::built_in_render_engines();
}

int complain(const Error& error) {
  const std::string page = help_page(error);
  print_error(error.text() + (page.empty() ? "" : "\n  more: volvox docs " + shell_word(page)));
  return bad_input;
}

Result<std::map<std::string, std::string>> parse_settings(const std::vector<std::string>& set) {
  std::map<std::string, std::string> settings;
  for (const std::string& pair : set) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      return Error(fmt::format("'--set {}' is not KEY=VALUE", pair), "write it as --set modules=20");
    settings[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return settings;
}

std::optional<double> parse_number(const std::string& text, double low, double high) {
  const auto value = to_number<double>(text);
  return value && *value >= low && *value <= high ? value : std::nullopt;
}

namespace {

// --isolate[=S[,MB]]
struct IsolationGiven {
  std::optional<double> seconds = 1.0, megabytes = 4096.0;
};

IsolationGiven isolation_of(const RunArguments& arguments) {
  IsolationGiven given;
  if (arguments.isolate == "true") return given;
  const auto comma = arguments.isolate.find(',');
  given.seconds = parse_number(arguments.isolate.substr(0, comma), 1e-3, 3600);
  if (comma != std::string::npos) given.megabytes = parse_number(arguments.isolate.substr(comma + 1), 1, 1e9);
  return given;
}

void say_what_is_not_isolated(const sim::Run& run, sim::Library& library, Log& log) {
  auto* plugins = plugin::plugins_of(library);
  if (plugins != nullptr && run.options().isolate)
    plugins->say_what_is_not_isolated(run.simulation().world().model(), log);
}

}  // namespace

void limit_isolated_memory(double megabytes, sim::Library& library) {
  if (auto* plugins = plugin::plugins_of(library)) plugins->set_memory_limit(truncated<std::uint64_t>(megabytes) << 20);
}

std::optional<double> seconds_of_isolation(const RunArguments& arguments) {
  const IsolationGiven given = isolation_of(arguments);
  return given.megabytes ? given.seconds : std::nullopt;
}

void load_users_plugins(std::optional<double> isolate, sim::Library& library, Log& log) {
  if (auto* plugins = plugin::plugins_of(library)) plugins->load_users(isolate, library, log);
}

// A program in Meld runs as the experiment dprsim/meld.
static Result<void> run_meld(const std::string& program, sim::RunOptions& options) {
  options.experiment = "dprsim/meld";
  std::error_code error;
  if (!fs::is_regular_file(program, error))
    return Diagnostic{program, 0, "there is no such program", "see whether the path is right"};
  // The path as the user gave it, also in a replay from another folder.
  options.settings["program"] = fs::absolute(program).string();
  if (const auto cells = options.settings.find("cells"); cells != options.settings.end())
    if (fs::is_regular_file(cells->second, error)) cells->second = fs::absolute(cells->second).string();
  return {};
}

Result<sim::RunOptions> run_options(const RunArguments& arguments) {
  sim::RunOptions options;
  options.experiment = arguments.experiment;
  options.engine = arguments.engine;
  options.seed = arguments.seed;
  options.threads = arguments.threads.value_or(1);
  options.duration = arguments.duration;
  if (!arguments.real_time.empty()) {
    options.real_time =
        arguments.real_time == "true" ? std::optional(1.0) : parse_number(arguments.real_time, 1e-3, 1e3);
    if (!options.real_time)
      return Error(fmt::format("'{}' is not a speed", arguments.real_time),
                   "give simulated seconds to a second, from 0.001 to 1000, such as --real-time=0.5");
  }
  if (!arguments.isolate.empty()) {
    options.isolate = seconds_of_isolation(arguments);
    if (!options.isolate)
      return Error(
          fmt::format("'{}' is no time for a call, or no memory", arguments.isolate),
          "give the seconds that a plugin may take for a call, from 0.001 to 3600, and the MB of memory, such as "
          "--isolate=0.1 or --isolate=0.1,500");
    options.isolate_megabytes = isolation_of(arguments).megabytes.value_or(options.isolate_megabytes);
  }
  if (arguments.substep) {
    auto substep = TickLength::parse(*arguments.substep);
    if (!substep.ok() || substep->seconds() > 1 || substep->seconds() < 1e-6)
      return Error(fmt::format("'{}' is not a physics step", *arguments.substep),
                   "give seconds between 1e-6 and 1, such as --substep 1/480");
    options.max_substep = substep->seconds();
  }
  if (arguments.precision) {
    const auto precision = physics::parse_precision(*arguments.precision);
    if (!precision.ok()) return precision.error();
    options.precision = *precision;
  }
  if (arguments.dt) {
    auto dt = TickLength::parse(*arguments.dt);
    if (!dt.ok()) return dt.error();
    options.dt = *dt;
  }
  auto settings = parse_settings(arguments.set);
  if (!settings.ok()) return settings.error();
  options.settings = std::move(*settings);
  if (arguments.experiment.ends_with(".meld"))
    if (auto found = run_meld(arguments.experiment, options); !found.ok()) return found.error();
  for (const std::string& plugin : arguments.plugins) {
    // The path as the user gave it, also in a replay from another folder.
    std::error_code error;
    options.plugins.push_back(fs::is_regular_file(plugin, error) ? fs::absolute(plugin).string() : plugin);
  }
  options.save_to = arguments.save;
  options.save_every = arguments.save_every;
  options.restore_from = arguments.restore;
  options.accept_changes = arguments.accept_changes;
  return options;
}

namespace {

// What is written while the run goes on: a film, a capture of its frames, a recording; null: it was not asked for.
struct Besides {
  std::unique_ptr<Film> film;
  std::shared_ptr<net::PcapngFile> capture;
  std::shared_ptr<record::Recorder> recorder;

  // Film and capture. The run calls this object at every tick from now on.
  Result<void> begin(const RunArguments& arguments, sim::Run& run, sim::Library& library, Log& log) {
    if (arguments.video) {
      ViewArguments view = arguments.view;
      if (view.camera.empty()) view.camera = run.camera();
      view.threads = arguments.threads;
      auto made = Film::create(*arguments.video, view, render_engines(library), run);
      if (!made.ok()) return made.error();
      film = std::move(*made);
      run.add_onlooker([this, &log](const sim::Simulation&) {
        const bool good = film->status().ok();
        film->observe();
        if (good && !film->status().ok())
          log.warning("the film ends here, the run goes on: " + film->status().error().text());
      });
    }
    if (arguments.pcap) {
      auto started = start_capture(*arguments.pcap, run, log);
      if (!started.ok()) return started.error();
      capture = std::move(*started);
    }
    return {};
  }

  Result<void> begin_recording(sim::Run& run, const fs::path& folder) {
    auto started = start_recording(run, folder / record::format::file_name);
    if (!started.ok()) return started.error();
    recorder = std::move(*started);
    return {};
  }

  // Film and capture. What fails does not keep the other from being written.
  Result<void> finish() {
    Result<void> finished;
    if (capture) finished = capture->flush();
    if (film)
      if (auto filmed = film->finish(); finished.ok()) finished = filmed;
    return finished;
  }
};

// `shared`: null, or this process is one of several that share the world of the experiment.
int run_given_options(const RunArguments& arguments, const Result<sim::RunOptions>& options, sim::Library& library,
                      Log& log, SharedWorld* shared) {
  limit_isolated_memory(options->isolate_megabytes, library);
  auto run = sim::Run::prepare(*options, library, log);
  if (!run.ok()) return complain(run.error());
  say_what_is_not_isolated(**run, library, log);
  if (arguments.pcap && (*run)->simulation().minds().exchange() == nullptr)
    return complain(Error(
        "--pcap: no module of this run has a wire, a radio or a bus, so there are no frames",
        "leave --pcap out, or declare <volvox:wire>, <volvox:radio> or <volvox:bus> in the robot (docs/network.md)"));
  const auto folder = make_output_folder(arguments, (*run)->report().experiment);
  if (!folder.ok()) return complain(folder.error());
  const auto kept = keep_folder(*folder);
  if (!kept.ok()) return complain(kept.error());
  // The files may be in the folder, so it was made first. The results of an earlier run stay if these cannot be
  // written.
  const auto keep_earlier_results = [&](const Error& error) {
    if (!fs::exists(*folder / "summary.json")) write_failure(**run, *folder, error.text());
    return complain(error);
  };
  Besides besides;
  if (auto begun = besides.begin(arguments, **run, library, log); !begun.ok())
    return keep_earlier_results(begun.error());
  std::optional<platform::StopOnSignal> stop;
  std::unique_ptr<view::Viewer> viewer;
  if (arguments.show) {
    stop.emplace();  // before the address is printed: Ctrl-C may come at once
    auto started = start_viewer_of_run(arguments);
    if (!started.ok()) return keep_earlier_results(started.error());
    viewer = std::move(*started);
  }
  clear_results(*folder, log);
  if (auto announced = (*run)->announce(*folder); !announced.ok()) return complain(announced.error());
  if (arguments.record)
    if (auto recorded = besides.begin_recording(**run, *folder); !recorded.ok()) {
      write_failure(**run, *folder, recorded.error().text());  // its status must not stay "running"
      return complain(recorded.error());
    }
  const auto finish_besides = [&] { return besides.finish(); };
  // Film and capture show the run up to its end or its first reset.
  if (arguments.show)
    return view_run(std::move(*run), *viewer, besides.recorder, arguments, *options, folder->string(), library, log,
                    finish_besides, stop->requested());

  {
    Progress bar((*run)->report().experiment, arguments.quiet);
    if (shared == nullptr) stop.emplace();
    (*run)->finish([&](const sim::Progress& progress) { bar.show(progress); },
                   shared == nullptr ? &stop->requested() : &shared->exchange().stops());
    stop.reset();
  }
  const sim::RunReport& report = (*run)->report();
  auto written = write_results(**run, besides.recorder.get(), *folder);
  if (auto finished = finish_besides(); written.ok()) written = finished;
  if (!written.ok()) write_failure(**run, *folder, written.error().text());

  if (arguments.json) fmt::print("{}\n", report.json());
  else if (!arguments.quiet) print_results(report, folder->string());
  if (arguments.video && !arguments.json && !arguments.quiet)
    fmt::print("  drawing the video is not in the times above\n");
  if (!written.ok()) return complain(written.error()), run_failed;
  if (report.status != "done") {
    print_error(fmt::format("the run {}: {}", report.status == "failed" ? "failed" : "did not end", report.failure));
    return run_failed;
  }
  return done;
}

// All ranks do the same, so that they meet in the same order; those that do not lead leave no files.
int run_shared(SharedWorld& shared, RunArguments arguments, const std::string& experiment, const sim::Library& library,
               Log& log) {
  Log silent;
  if (!shared.leads()) {
    arguments.quiet = true;
    arguments.out = (shared.folder() / "results").string();
    if (arguments.save) arguments.save = (shared.folder() / "snapshot").string();
  }
  sim::Library own = shared_library(library, experiment, shared.exchange());
  return shared.end(run_given_options(arguments, run_options(arguments), own, shared.leads() ? log : silent, &shared));
}

}  // namespace

int run_command(const RunArguments& arguments, sim::Library& library, Log& log) {
  if (arguments.show)
    if (auto built = viewer_is_built(); !built.ok()) return complain(built.error());
  const auto options = run_options(arguments);
  if (!options.ok()) return complain(options.error());
  const auto shared = join_shared_world(arguments, options->experiment, library);
  if (!shared.ok()) return complain(shared.error());
  if (*shared) return run_shared(**shared, arguments, options->experiment, library, log);
  return run_given_options(arguments, options, library, log, nullptr);
}

}  // namespace volvox::cli
