#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/platform/file_sync.h"
#include "volvox/base/platform/stop_on_signal.h"
#include "volvox/base/text.h"
#include "volvox/cli/progress.h"
#include "volvox/cli/ranks.h"
#include "volvox/cli/sweep.h"
#include "volvox/cli/terminal.h"
#include "volvox/report/run_report.h"

namespace volvox::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view unfinished = ".unfinished";

// Runs in the child process. It writes into a folder of another name, which gets the run's name when it is complete.
// A rank that was only slow may still work at what has been given to another: each order has a `mark` of its own.
std::string run_here(const SweepRun& run, const fs::path& parent, const std::string& mark,
                     const sim::Library& library) {
  const fs::path final_folder = parent / run.folder,
                 folder = parent / fmt::format("{}{}{}", run.folder, mark, unfinished);
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
  std::error_code there;
  fs::rename(folder, final_folder, there);
  if (!there) return {};
  // The other one was faster, and has the same; or there is what a damaged or failed run has left.
  if (SweepRun found = run; read_outcome(final_folder, found) && found.status == "done") {
    fs::remove_all(folder);
    return {};
  }
  fs::remove_all(final_folder);
  fs::rename(folder, final_folder);
  return {};
}

// What runs that were cut off have left, of those runs for which `of` is true.
void remove_leftovers(const SweepPlan& plan, const fs::path& parent,
                      const std::function<bool(const SweepRun& run)>& of) {
  std::set<std::string> names;
  for (const SweepRun& run : plan.runs)
    if (of(run)) names.insert(run.folder);
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!name.ends_with(unfinished)) continue;
    name.resize(name.size() - unfinished.size());
    if (names.contains(name) || names.contains(name.substr(0, name.rfind('.')))) found.push_back(it->path());
  }
  for (const fs::path& one : found) fs::remove_all(one, error);  // whoever still writes there fails, and nobody asks
}

void show(Progress& progress, std::size_t total, std::size_t done_before, std::size_t finished, std::size_t failed,
          const cluster::Crew& crew) {
  const std::size_t here = finished - done_before;
  const std::string left =
      here > 0 ? rough_duration(progress.elapsed() * real(total - finished) / real(here)) + " left" : "...";
  const std::string failures = failed > 0 ? fmt::format(" ({} failed)", failed) : "";
  progress.show(real(finished) / real(std::max<std::size_t>(1, total)),
                fmt::format("{} of {} runs{}, {}{}", finished, total, failures, left, by_rank(crew)),
                fmt::format(", {} at once", crew.running()));
}

// A file may be changed while the sweep runs. What was made of it is none of these results, and tried again next time.
void refuse_other_files(SweepRun& run, SweepPlan& plan, const fs::path& parent) {
  const auto changed = changes_of(run, plan, Made::now);
  if (changed.empty()) return;
  run.status = "failed";
  run.failure = fmt::format("{}, with the sweep under way", fmt::join(changed, "; "));
  std::error_code error;
  fs::rename(parent / run.folder, parent / fmt::format("{}{}", run.folder, unfinished), error);
}

// An order to a process or rank: the number of the run, its mark, and the folder for all of them.
std::string order_for(const SweepPlan& plan, const SweepRun& run, const fs::path& parent, const std::string& mark) {
  return fmt::format("{} {}\n{}", &run - plan.runs.data(), mark, fs::absolute(parent).string());
}

cluster::Work work_of(const SweepPlan& plan, const sim::Library& library) {
  return [&](const std::string& order) {
    const std::size_t space = order.find(' '), end = order.find('\n', space);
    return run_here(plan.runs.at(std::stoull(order)), order.substr(end + 1), order.substr(space + 1, end - space - 1),
                    library);
  };
}

}  // namespace

bool run_all(std::vector<SweepRun*> pending, SweepPlan& plan, const fs::path& parent, std::size_t jobs,
             const sim::Library& library, bool quiet, cluster::Ranks* ranks) {
  const platform::StopOnSignal stop;
  const std::size_t done_before = plan.runs.size() - pending.size();
  Progress progress(plan.experiment, quiet);
  cluster::Crew crew(work_of(plan, library), narrow<int>(jobs), ranks, hash_text(hash_of(plan.identity)));
  std::deque<SweepRun*> waiting(pending.begin(), pending.end());
  std::size_t finished = done_before, failed = 0;
  const auto note_end = [&](SweepRun& run, std::string why) {
    if (!why.empty()) run.status = "failed", run.failure = std::move(why);
    else if (!read_outcome(parent / run.folder, run))
      run.status = "failed", run.failure = "it left no complete summary.json";
    else refuse_other_files(run, plan, parent);
    ++finished;
    failed += run.status != "done";
  };
  // Different also from those of a rank 0 that was here before. It has one dot, at its beginning: see remove_leftovers.
  std::size_t orders = 0;
  const auto next_mark = [&, begun = platform::monotonic_seconds()] {
    return ranks == nullptr ? "" : fmt::format(".{}-{:.0f}-{}", platform::process_number(), 1e6 * begun, ++orders);
  };
  remove_leftovers(plan, parent, [](const SweepRun& run) { return run.status != "done"; });
  while (finished < plan.runs.size()) {
    while (crew.has_room() && !waiting.empty() && !stop.requested()) {
      SweepRun& run = *waiting.front();
      waiting.pop_front();
      const auto piece = static_cast<std::size_t>(&run - plan.runs.data());
      if (auto started = crew.start(piece, order_for(plan, run, parent, next_mark())); !started.ok())
        note_end(run, started.error().diagnostics().front().what);
    }
    show(progress, plan.runs.size(), done_before, finished, failed, crew);
    if (stop.requested()) return false;  // this ends the running children
    for (cluster::Finished& one : crew.wait(1)) {
      SweepRun& run = plan.runs[one.piece];
      if (one.lost) waiting.push_front(&run);
      else note_end(run, std::move(one.failure));
    }
    for (const std::string& news : crew.news()) std::fputs(fmt::format("volvox: {}\n", news).c_str(), stderr);
  }
  if (ranks != nullptr) remove_leftovers(plan, parent, [](const SweepRun& run) { return run.status == "done"; });
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

// The runs that have no results yet. What is there must come of the same files.
Result<std::vector<SweepRun*>> still_to_do(SweepPlan& plan, const fs::path& parent) {
  std::vector<SweepRun*> pending;
  for (SweepRun& run : plan.runs) {
    if (!read_outcome(parent / run.folder, run) || run.status != "done") {
      pending.push_back(&run), run.status = "waiting";
      continue;
    }
    if (const auto changed = changes_of(run, plan, Made::before); !changed.empty())
      return other_files(parent, run.folder, changed);
  }
  return pending;
}

void tell_found(const SweepPlan& plan, const fs::path& folder, std::size_t found, bool quiet, Log& log) {
  if (!quiet) log.info(fmt::format("{} of {} runs are already done", found, plan.runs.size()));
  if (!begun_by_this_program(folder, plan))
    log.warning(
        fmt::format("{}: {} of these runs were made by another build of Volvox, whose results may differ (see "
                    "CHANGELOG.md); remove the folder to run all anew",
                    folder.string(), found));
}

void print_table(const SweepPlan& plan, const fs::path& folder, bool plots) {
  fmt::print("\n{}\n  means over the seeds +- 95 % confidence\n  table  {}\n  plots  {}\n", sweep_table(plan),
             (folder / "sweep.csv").string(),
             plots                 ? (folder / "by_*.svg").string()
             : plan.varied.empty() ? "none: there is no --vary"
                                   : "none: no metric changes");
  if (seeds_change_nothing(plan))
    fmt::print("  seeds  change nothing here: all metrics are the same for every seed, so one seed tells as much\n");
}

std::size_t tell_failures(const SweepPlan& plan, const fs::path& folder, Log& log) {
  std::size_t failed = 0;
  for (const SweepRun& run : plan.runs) {
    if (run.status == "done" || run.status == "waiting") continue;
    ++failed;
    log.error(fmt::format("{}: {}", run.folder, run.failure));
  }
  if (failed > 0)
    print_error(fmt::format("{} of {} runs failed; the same command with --out {} tries them again", failed,
                            plan.runs.size(), shell_word(folder.string())));
  return failed;
}

}  // namespace

int sweep_command(const SweepArguments& arguments, sim::Library& library, Log& log) {
  auto plan = plan_sweep(arguments, library);
  if (!plan.ok()) return complain(plan.error());
  auto ranks = cluster::join(arguments.ranks, arguments.run.out.value_or(""));
  if (!ranks.ok()) return complain(ranks.error());
  RanksEnd tell_the_others(ranks->get());
  const std::size_t jobs =
      arguments.jobs > 0
          ? arguments.jobs
          : std::max<std::size_t>(1, std::thread::hardware_concurrency() / arguments.run.threads.value_or(1));
  if (*ranks && (*ranks)->rank() > 0)
    return serve_rank(**ranks, work_of(*plan, library), narrow<int>(jobs), hash_text(hash_of(plan->identity)));
  const auto folder = arguments.run.out
                          ? Result<fs::path>(fs::path(*arguments.run.out))
                          : make_next_run_folder("sweep_" + folder_name(arguments.run.experiment, plan->experiment));
  if (!folder.ok()) return complain(folder.error());
  const auto kept = keep_folder(*folder, 2);
  if (!kept.ok()) return complain(kept.error());
  if (auto claimed = claim_folder(*folder, *plan); !claimed.ok()) return complain(claimed.error());

  const auto pending = still_to_do(*plan, *folder / "runs");
  if (!pending.ok()) return complain(pending.error());
  const std::size_t found = plan->runs.size() - pending->size();
  const bool quiet = arguments.run.quiet || arguments.run.json;
  if (found > 0) tell_found(*plan, *folder, found, quiet, log);
  const bool whole = run_all(*pending, *plan, *folder / "runs", jobs, library, quiet, ranks->get());
  if (!whole) tell_the_others.stopped();
  else tell_the_others.over();  // they need not wait for plots

  const auto table = write_file(*folder / "sweep.csv", sweep_csv(*plan));
  auto plots = write_plots(*folder, *plan);
  if (!table.ok() || !plots.ok()) return complain(!plots.ok() ? plots.error() : table.error()), run_failed;
  if (arguments.run.json) fmt::print("{}\n", to_json_text(to_json(*plan, *folder, found, *plots), 2));
  else if (!arguments.run.quiet) print_table(*plan, *folder, !plots->empty());
  const std::size_t failed = tell_failures(*plan, *folder, log);
  if (!whole)
    print_error("stopped on request; continue with the same command and --out " + shell_word(folder->string()));
  return whole && failed == 0 ? done : run_failed;
}

}  // namespace volvox::cli
