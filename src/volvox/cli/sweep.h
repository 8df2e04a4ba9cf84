// The plan and the results of `volvox sweep`: runs over values and seeds, and their statistics.
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

  std::optional<double> metric(const std::string& name) const;
};

struct SweepPlan {
  std::string experiment;  // by its name
  std::vector<Varied> varied;
  std::vector<SweepRun> runs;  // the seed varies fastest, then the last key
  std::string identity;        // JSON: everything on which a run's result depends
};
// Reports every mistake in the arguments, before anything is run or written.
Result<SweepPlan> plan_sweep(const SweepArguments& arguments, const sim::Library& library);

// Makes the folder belong to this sweep; the folder of another sweep is refused.
Result<void> claim_folder(const std::filesystem::path& folder, const SweepPlan& plan);

// Reads the results of a finished run. False: there is no complete, matching summary.json.
bool read_outcome(const std::filesystem::path& folder, SweepRun& run);

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
