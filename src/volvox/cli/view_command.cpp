#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <utility>

#include "volvox/base/guarded.h"
#include "volvox/base/index.h"
#include "volvox/base/platform/stop_on_signal.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/terminal.h"
#include "volvox/model/reader.h"
#include "volvox/record/recording_format.h"
#include "volvox/view/web/viewed_recording.h"
#include "volvox/view/web/viewed_robot.h"
#include "volvox/view/web/viewed_run.h"

namespace volvox::cli {
namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds patience{10};  // for a first viewer; then the run starts without one

// `when`: what starts when, for the person who reads the address.
Result<std::unique_ptr<view::Viewer>> start_viewer(const ViewerArguments& arguments, const std::string& when = "") {
  view::ViewerOptions options;
  options.server.host = arguments.host;
  options.server.port = narrow<std::uint16_t>(arguments.port);
  options.open_browser = !arguments.no_browser;
  options.use_token = !arguments.no_token;
  auto viewer = view::Viewer::start(options);
  // Printed even with --quiet: the user needs the address.
  if (viewer.ok())
    std::fputs(fmt::format("volvox: the viewer is at {}  ({}Ctrl-C ends it)\n", (*viewer)->address(), when).c_str(),
               stderr);
  return viewer;
}

// recording.mcap of a run that was reset becomes recording.1.mcap, ...: nothing is lost.
Result<std::shared_ptr<record::Recorder>> record_into(sim::Run& run, const fs::path& folder) {
  const fs::path file = folder / record::format::file_name;
  std::error_code error;
  for (int i = 1; fs::exists(file) && i < 10'000; ++i)
    if (const fs::path old = folder / fmt::format("recording.{}.mcap", i); !fs::exists(old)) {
      fs::rename(file, old, error);
      break;
    }
  return start_recording(run, file);
}

}  // namespace

Result<void> viewer_is_built() {
  auto files = view::WebServer::read_bundle(view::bundle_folder());
  if (!files.ok()) return files.error();
  return {};
}

namespace {

// Settings come from a client: what an experiment throws at them must not end the run that others watch.
Result<std::unique_ptr<sim::Run>> prepare_guarded(const sim::RunOptions& options, sim::Library& library, Log& log) {
  std::optional<Result<std::unique_ptr<sim::Run>>> made;
  const StepStatus status = guarded("the experiment", [&] { made.emplace(sim::Run::prepare(options, library, log)); });
  if (!status.ok()) return Error(status.text(), "give other settings");
  return std::move(*made);
}

}  // namespace

Result<std::unique_ptr<view::Viewer>> start_viewer_of_run(const RunArguments& arguments) {
  return start_viewer(arguments.viewer,
                      arguments.paused
                          ? "the run waits for somebody to press play; "
                          : fmt::format("the run waits for it to be opened, at most {} s; ", patience.count()));
}

int view_run(std::unique_ptr<sim::Run> run, view::Viewer& viewer, std::shared_ptr<record::Recorder> recorder,
             const RunArguments& arguments, const sim::RunOptions& options, const std::string& folder,
             sim::Library& library, Log& log, std::function<Result<void>()> finish_besides,
             const std::atomic<bool>& stop) {
  std::optional<Error> not_written;
  std::map<std::string, std::string> changed;  // by users, since the start
  const auto prepare = [&](const std::map<std::string, std::string>& settings) -> Result<std::unique_ptr<sim::Run>> {
    sim::RunOptions again = options;
    for (const auto& [key, value] : changed) again.settings[key] = value;
    for (const auto& [key, value] : settings) again.settings[key] = value;
    auto made = prepare_guarded(again, library, log);
    if (!made.ok()) return made.error();
    for (const auto& [key, value] : settings) changed[key] = value;
    if (auto announced = (*made)->announce(folder); !announced.ok()) return announced.error();
    if (arguments.record) {
      auto started = record_into(**made, folder);
      if (!started.ok()) return started.error();
      recorder = std::move(*started);
    }
    return made;
  };
  const auto at_end = [&](sim::Run& ended) {
    auto written = write_results(ended, recorder.get(), folder);
    if (const auto finish = std::exchange(finish_besides, {}))
      if (auto besides = finish(); written.ok()) written = besides;
    if (written.ok()) return;
    not_written = written.error();
    write_failure(ended, folder, not_written->text());
  };
  view::ViewedRun viewed(viewer, std::move(run), prepare, at_end, arguments.record);
  if (options.real_time) viewed.set_speed(*options.real_time);
  viewed.loop(stop, arguments.paused ? view::ViewedRun::Start::paused : view::ViewedRun::Start::watched, patience);
  if (viewed.lost()) return complain(*viewed.lost());
  const sim::RunReport& report = viewed.run().report();
  if (arguments.json) fmt::print("{}\n", report.json());
  else if (!arguments.quiet) print_results(report, folder);
  if (not_written) return complain(*not_written), run_failed;
  if (report.status == "failed") {
    print_error(fmt::format("the run failed: {}", report.failure));
    return run_failed;
  }
  // With --paused somebody may only want to look.
  if (report.status == "stopped" && report.ticks == 0 && !arguments.paused && options.duration.value_or(1) > 0) {
    print_error("the run did not begin: it was stopped while it waited for a browser");
    return run_failed;
  }
  return done;  // Ctrl-C is the normal end of viewing
}

int view_recording(record::Recording& recording, const ReplayArguments& arguments) {
  const platform::StopOnSignal stop;  // before the address is printed: Ctrl-C may come at once
  auto viewer = start_viewer(arguments.viewer);
  if (!viewer.ok()) return complain(viewer.error());
  auto viewed = view::ViewedRecording::create(**viewer, recording);
  if (!viewed.ok()) return complain(viewed.error());
  (*viewed)->loop(stop.requested());
  return done;
}

int view_robot_command(const std::string& robot, const ViewerArguments& arguments, const sim::Library& library) {
  model::ModelLibrary models;
  auto model = models.load(robot);
  for (const sim::Located& experiment : model.ok() ? std::vector<sim::Located>() : sim::find_experiments(library))
    if (experiment.name == robot)
      return complain(Error(fmt::format("{} is an experiment, and view shows robots", robot),
                            fmt::format("use: volvox run {} --view", robot)));
  if (!model.ok()) return complain(model.error());
  const platform::StopOnSignal stop;  // before the address is printed: Ctrl-C may come at once
  auto viewer = start_viewer(arguments);
  if (!viewer.ok()) return complain(viewer.error());
  auto viewed = view::ViewedRobot::create(**viewer, *model);
  if (!viewed.ok()) return complain(viewed.error());
  (*viewed)->loop(stop.requested());
  return done;
}

}  // namespace volvox::cli
