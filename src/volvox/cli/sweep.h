// The plan and the results of `volvox sweep`: runs over values and seeds, and their statistics.
// Values that own their texts. Runs are planned in a fixed order, and the results do not depend on how many run at
// once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/cli/commands.h"
#include "volvox/cluster/crew.h"

namespace volvox::cli {

// --vary KEY=A:B:N or KEY=a,b,c
struct Varied {
  std::string key;
  std::vector<std::string> values;
  bool numbers = true;  // all values are numbers; false: words
};
Result<Varied> parse_varied(const std::string& text);

struct SweepRun {
  std::vector<std::string> values;  // by varied key
  std::string folder;               // its name in the sweep's folder
  sim::RunOptions options;

  // The outcome; status is "waiting" until the run has ended.
  std::string status = "waiting", failure, state_hash;
  double sim_time = 0, wall_time = 0;  // s
  std::vector<std::pair<std::string, double>> metrics;
  model::Sources files;  // that it was read from

  std::optional<double> metric(const std::string& name) const;
};

struct SweepPlan {
  std::string experiment;  // by its name
  std::vector<Varied> varied;
  std::vector<SweepRun> runs;  // the seed varies fastest, then the last key
  std::string identity;        // JSON: everything on which a run's result depends
  model::Sources files;        // that the runs are read from, as they were when the sweep was planned
};
// Reports every mistake in the arguments, before anything is run or written.
Result<SweepPlan> plan_sweep(const SweepArguments& arguments, const sim::Library& library);

// Makes the folder belong to this sweep; the folder of another sweep, or of one of other files, is refused.
Result<void> claim_folder(const std::filesystem::path& folder, const SweepPlan& plan);

// Whether the sweep in the folder was begun by the program that runs now: what it finds there may differ by its
// version.
bool begun_by_this_program(const std::filesystem::path& folder, const SweepPlan& plan);

// Refuses what was made of other files: a run of the sweep in this folder, or ("") all of it.
Error other_files(const std::filesystem::path& folder, const std::string& run, const std::vector<std::string>& changes);

// Reads the results of a finished run. False: there is no complete, matching summary.json.
bool read_outcome(const std::filesystem::path& folder, SweepRun& run);
// The files of a finished run that were not as those of the sweep are; of one that the plan has not read (a plugin), as
// it is now for a run that was found, and as it was at its first use for a run of this process.
enum class Made { before, now };
std::vector<std::string> changes_of(const SweepRun& run, SweepPlan& plan, Made made);

// Runs these, each in a process of its own, here or on other ranks, into folders of `parent`; their outcomes are in the
// plan's runs. False: stopped on request, with its child processes.
bool run_all(std::vector<SweepRun*> pending, SweepPlan& plan, const std::filesystem::path& parent, std::size_t jobs,
             const sim::Library& library, bool quiet, cluster::Ranks* ranks = nullptr);

// A mean with the half width of its 95 % confidence interval, by Student's t. None: one value alone.
struct Estimate {
  double mean = 0;
  std::optional<double> half_width;
  std::size_t count = 0;
};
Estimate estimate(const std::vector<double>& values);

// Whether the finished runs of each setting, at least two, have the same metrics although their seeds differ. Metrics
// of wall time always differ and are not compared.
bool seeds_change_nothing(const SweepPlan& plan);

std::string sweep_csv(const SweepPlan& plan);
// Means over the seeds of each setting, as text.
std::string sweep_table(const SweepPlan& plan);
// Writes by_KEY.svg with all metrics that change, and plots/METRIC_by_KEY.svg for each; returns their names.
Result<std::vector<std::string>> write_plots(const std::filesystem::path& folder, const SweepPlan& plan);

}  // namespace volvox::cli
