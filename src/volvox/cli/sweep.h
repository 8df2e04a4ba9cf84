// What `volvox sweep` plans and finds: runs over values and seeds, and what they say together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/cli/commands.h"

namespace volvox::cli {

// --vary KEY=A:B:N or KEY=a,b,c
struct Varied {
  std::string key;
  std::vector<std::string> values;
  bool numbers = true;  // all of them are; words otherwise
};
Result<Varied> parse_varied(const std::string& text);

struct SweepRun {
  std::vector<std::string> values;  // by varied key
  std::string folder;               // its name in the sweep's folder
  sim::RunOptions options;

  // What came out; status is "waiting" until then.
  std::string status = "waiting", failure, state_hash;
  double sim_time = 0, wall_time = 0;  // s
  std::vector<std::pair<std::string, double>> metrics;

  std::optional<double> metric(const std::string& name) const;
};

struct SweepPlan {
  std::string experiment;  // by its name
  std::vector<Varied> varied;
  std::vector<SweepRun> runs;  // the last key changes before the first, and the seed before both
  std::string identity;        // JSON: all that a run's result depends on
};
// Everything that can be wrong is told here, before anything runs or is written.
Result<SweepPlan> plan_sweep(const SweepArguments& arguments, const sim::Library& library);

// The folder is this sweep's from here on, or was already; one of another sweep is refused.
Result<void> claim_folder(const std::filesystem::path& folder, const SweepPlan& plan);

// Takes what a finished run has left. False: there is no complete, matching summary.json.
bool read_outcome(const std::filesystem::path& folder, SweepRun& run);

// A mean with the half width of its 95 % confidence interval, by Student's t. None: one value alone.
struct Estimate {
  double mean = 0;
  std::optional<double> half_width;
  std::size_t count = 0;
};
Estimate estimate(const std::vector<double>& values);

// Whether the runs of each setting that were done, several of them, have the same metrics: their seeds
// change nothing. What is measured in wall time never is the same, and does not count.
bool seeds_change_nothing(const SweepPlan& plan);

std::string sweep_csv(const SweepPlan& plan);
// Means over the seeds of each setting, for people.
std::string sweep_table(const SweepPlan& plan);
// by_KEY.svg with all metrics that change, and plots/METRIC_by_KEY.svg with each; gives their names.
Result<std::vector<std::string>> write_plots(const std::filesystem::path& folder, const SweepPlan& plan);

}  // namespace volvox::cli
