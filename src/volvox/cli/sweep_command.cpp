#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/child_process.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/platform/stop_on_signal.h"
#include "volvox/base/text.h"
#include "volvox/cli/sweep.h"
#include "volvox/cli/terminal.h"
#include "volvox/report/run_report.h"

namespace volvox::cli {
namespace fs = std::filesystem;
namespace {

// Runs in the child process. It writes into a folder of another name, which gets the run's name when it is complete.
std::string run_here(const SweepRun& run, const fs::path& parent, const sim::Library& library) {
  const fs::path final_folder = parent / run.folder, folder = parent / (run.folder + ".unfinished");
  fs::remove_all(folder);
  fs::create_directories(folder);
  std::ofstream lines(folder / "log.txt");
  Log log([&](LogLevel level, std::string_view line) { lines << name(level) << ": " << line << std::endl; });
  auto prepared = sim::Run::prepare(run.options, library, log);
  if (!prepared.ok()) throw std::runtime_error(prepared.error().text());
  (*prepared)->finish();
  if (auto written = write_results(**prepared, nullptr, folder); !written.ok())
    throw std::runtime_error(written.error().text());
  lines.close();
  fs::remove_all(final_folder);
  fs::rename(folder, final_folder);
  return {};
}

class SweepProgress {
 public:
  SweepProgress(const std::string& label, std::size_t total, std::size_t done_before, bool quiet)
      : label_(printable(label)),
        total_(total),
        done_before_(done_before),
        quiet_(quiet),
        terminal_(is_terminal(2)),
        begin_(platform::monotonic_seconds()) {}
  ~SweepProgress() {
    if (terminal_ && !quiet_) std::fputs("\r\x1b[K", stderr);
  }
  void show(std::size_t finished, std::size_t failed, std::size_t running) {
    if (quiet_) return;
    const double wall = platform::monotonic_seconds() - begin_;
    const std::size_t here = finished - done_before_;
    const double part = real(finished) / real(std::max<std::size_t>(1, total_));
    const std::string left = here > 0 ? rough_duration(wall * real(total_ - finished) / real(here)) + " left" : "...";
    const std::string words = fmt::format("{} of {} runs{}, {}", finished, total_,
                                          failed > 0 ? fmt::format(" ({} failed)", failed) : "", left);
    if (terminal_) {
      std::fputs(
          fmt::format("\r\x1b[K{} {} {:3.0f} %  {}, {} at once", label_, bar_text(part), 100 * part, words, running)
              .c_str(),
          stderr);
      std::fflush(stderr);
    } else if (wall >= next_line_) {
      std::fputs(fmt::format("{}: {}\n", label_, words).c_str(), stderr);
      next_line_ = wall * 2;
    }
  }

 private:
  std::string label_;
  std::size_t total_, done_before_;
  bool quiet_, terminal_;
  double begin_, next_line_ = 2;  // s
};

// A file may be changed while the sweep runs. What was made of it is none of these results, and tried again next time.
void refuse_other_files(SweepRun& run, SweepPlan& plan, const fs::path& parent) {
  const auto changed = changes_of(run, plan, Made::now);
  if (changed.empty()) return;
  run.status = "failed";
  run.failure = fmt::format("{}, with the sweep under way", fmt::join(changed, "; "));
  std::error_code error;
  fs::rename(parent / run.folder, parent / (run.folder + ".unfinished"), error);
}

struct RunningRun {
  SweepRun* run = nullptr;
  std::unique_ptr<platform::ChildProcess> process;
};

}  // namespace

bool run_all(std::vector<SweepRun*> pending, SweepPlan& plan, const fs::path& parent, std::size_t jobs,
             const sim::Library& library, bool quiet) {
  const platform::StopOnSignal stop;
  const std::size_t done_before = plan.runs.size() - pending.size();
  SweepProgress progress(plan.experiment, plan.runs.size(), done_before, quiet);
  std::vector<RunningRun> running;
  std::size_t next = 0, finished = done_before, failed = 0;
  while (next < pending.size() || !running.empty()) {
    while (running.size() < jobs && next < pending.size() && !stop.requested()) {
      SweepRun& run = *pending[next++];
      auto child = platform::ChildProcess::start([&] { return run_here(run, parent, library); });
      if (child.ok()) {
        running.push_back({&run, std::move(*child)});
        continue;
      }
      run.status = "failed", run.failure = child.error().diagnostics().front().what;
      ++finished, ++failed;
    }
    progress.show(finished, failed, running.size());
    if (stop.requested()) return false;  // this ends the running children
    std::vector<const platform::ChildProcess*> waiting;
    for (const RunningRun& r : running) waiting.push_back(r.process.get());
    platform::ChildProcess::wait_for_any(waiting, 1);
    std::erase_if(running, [&](RunningRun& r) {
      if (!r.process->poll()) return false;
      if (std::string why = r.process->outcome().failure; !why.empty())
        r.run->status = "failed", r.run->failure = std::move(why);
      else if (!read_outcome(parent / r.run->folder, *r.run))
        r.run->status = "failed", r.run->failure = "it left no complete summary.json";
      else refuse_other_files(*r.run, plan, parent);
      ++finished;
      failed += r.run->status != "done";
      return true;
    });
  }
  return true;
}

namespace {

nlohmann::ordered_json to_json(const SweepPlan& plan, const fs::path& folder, std::size_t found,
                               const std::vector<std::string>& plots) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const SweepRun& run : plan.runs) {
    nlohmann::ordered_json one = {{"run", run.folder},
                                  {"settings", nlohmann::ordered_json::object()},
                                  {"seed", run.options.seed},
                                  {"status", run.status}};
    for (std::size_t k = 0; k < plan.varied.size(); ++k) one["settings"][plan.varied[k].key] = run.values[k];
    if (!run.failure.empty()) one["failure"] = run.failure;
    one["state_hash"] = run.state_hash;
    one["metrics"] = nlohmann::ordered_json::object();
    for (const auto& [name, value] : run.metrics) one["metrics"][name] = value;
    results.push_back(std::move(one));
  }
  return {{"experiment", plan.experiment},
          {"folder", folder.string()},
          {"found_finished", found},
          {"seeds_change_nothing", seeds_change_nothing(plan)},
          {"results", results},
          {"plots", plots}};
}

}  // namespace

int sweep_command(const SweepArguments& arguments, sim::Library& library, Log& log) {
  auto plan = plan_sweep(arguments, library);
  if (!plan.ok()) return complain(plan.error());
  const auto folder = arguments.run.out
                          ? Result<fs::path>(fs::path(*arguments.run.out))
                          : make_next_run_folder("sweep_" + folder_name(arguments.run.experiment, plan->experiment));
  if (!folder.ok()) return complain(folder.error());
  const auto kept = keep_folder(*folder, 2);
  if (!kept.ok()) return complain(kept.error());
  if (auto claimed = claim_folder(*folder, *plan); !claimed.ok()) return complain(claimed.error());

  const fs::path parent = *folder / "runs";
  std::vector<SweepRun*> pending;
  for (SweepRun& run : plan->runs) {
    if (!read_outcome(parent / run.folder, run) || run.status != "done") {
      pending.push_back(&run), run.status = "waiting";
      continue;
    }
    if (const auto changed = changes_of(run, *plan, Made::before); !changed.empty())
      return complain(other_files(parent, run.folder, changed));
  }
  const std::size_t found = plan->runs.size() - pending.size();
  const bool quiet = arguments.run.quiet || arguments.run.json;
  if (found > 0 && !quiet) log.info(fmt::format("{} of {} runs are already done", found, plan->runs.size()));
  if (found > 0 && !begun_by_this_program(*folder, *plan))
    log.warning(
        fmt::format("{}: {} of these runs were made by another build of Volvox, whose results may differ (see "
                    "CHANGELOG.md); remove the folder to run all anew",
                    folder->string(), found));
  const std::size_t jobs = arguments.jobs > 0
                               ? arguments.jobs
                               : std::max<std::size_t>(1, std::thread::hardware_concurrency() / arguments.run.threads);
  const bool whole = run_all(pending, *plan, parent, jobs, library, quiet);

  const auto table = write_file(*folder / "sweep.csv", sweep_csv(*plan));
  auto plots = write_plots(*folder, *plan);
  if (!table.ok() || !plots.ok()) return complain(!plots.ok() ? plots.error() : table.error()), run_failed;
  if (arguments.run.json) fmt::print("{}\n", to_json_text(to_json(*plan, *folder, found, *plots), 2));
  else if (!arguments.run.quiet)
    fmt::print("\n{}\n  means over the seeds +- 95 % confidence\n  table  {}\n  plots  {}\n", sweep_table(*plan),
               (*folder / "sweep.csv").string(), (*folder / "by_*.svg").string());

  if (!quiet && seeds_change_nothing(*plan))
    fmt::print("  seeds  change nothing here: all metrics are the same for every seed, so one seed tells as much\n");

  std::size_t failed = 0;
  for (const SweepRun& run : plan->runs) {
    if (run.status == "done" || run.status == "waiting") continue;
    ++failed;
    log.error(fmt::format("{}: {}", run.folder, run.failure));
  }
  if (failed > 0)
    std::fputs(fmt::format("{} {} of {} runs failed; the same command with --out '{}' tries them again\n",
                           red("volvox:"), failed, plan->runs.size(), folder->string())
                   .c_str(),
               stderr);
  if (!whole)
    std::fputs(fmt::format("{} stopped on request; continue with the same command and --out '{}'\n", red("volvox:"),
                           folder->string())
                   .c_str(),
               stderr);
  return whole && failed == 0 ? done : run_failed;
}

}  // namespace volvox::cli
