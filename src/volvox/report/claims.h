// What the papers claim, as data beside the experiments that show it (experiments/PAPER/claims.json, docs/formats.md),
// and the one rule by which measured values are compared with it. Plain values without state; any thread may use them.
// The same values give the same verdict.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "volvox/base/result.h"

namespace volvox::report {

// The metric of claims about drawing: simulated and drawn together, as `volvox bench view` measures it.
inline constexpr const char* frames_per_second = "frames_per_second";

enum class Better { neither, less, more };

// What `volvox picture` draws beside a claim: the view of the paper's figure.
struct ClaimPicture {
  double at = 0;       // s
  int strobe = 1;      // instants in one picture
  std::string camera;  // empty: the experiment's own
};

struct Claim {
  std::string paper, title;  // "004", and what the paper is called
  std::string place, claim;  // "figure 6", and the paper's words
  std::string missing;       // why there is no experiment for it yet; empty: there is one
  std::string experiment;
  std::map<std::string, std::string> set;  // settings of the experiment
  // If given, the value is a ratio: the metric with `set` over the metric with these settings, seed by seed.
  std::optional<std::map<std::string, std::string>> than;
  std::string dt;                  // "1/30"; empty: the experiment's own
  std::optional<double> duration;  // s; none: the experiment's own
  std::string metric, unit;        // of a run; or real_time_factor: simulated over wall time; or frames_per_second
  // Either the paper's number, with the relative tolerance within which ours agrees with it, or bounds that every seed
  // has to keep.
  std::optional<double> paper_value, at_least, at_most;
  double tolerance = 0;
  Better better = Better::neither;  // on which side of the paper's number a value is better
  bool chance = true;               // false: every seed gives the same, so one is run
  std::string explains;             // what explains a difference
  std::optional<ClaimPicture> picture;
};

// A mistake names the file and the claim.
Result<std::vector<Claim>> read_claims(const std::filesystem::path& file);

enum class Verdict { agrees, better, differs, failed, missing };
const char* name(Verdict verdict);

// The middle of the values and an interval that holds the median of all seeds with 95 % probability, whatever their
// distribution; of fewer than six values it is their range, which promises less.
struct Median {
  double value = 0, low = 0, high = 0;
};
Median median_of(std::vector<double> values);

struct Judgement {
  Verdict verdict = Verdict::missing;
  std::optional<Median> median;  // none: nothing was measured
  std::vector<double> values;    // that were measured, one a seed
  std::size_t seeds = 0;         // that were run, also those that failed
  std::string why;               // of a verdict that is not plain from the numbers
};
// `values`: what each seed measured; NaN: its run failed or could not measure it.
//   failed    a seed measured nothing
//   agrees    all values keep the bounds; or the interval reaches into the paper's number +- its tolerance
//   better    beyond that, on the better side
//   differs   otherwise
Judgement judge(const Claim& claim, std::span<const double> values);

// "within 10 % of 3 s", "at least 1"
std::string rule_of(const Claim& claim);
// The command that runs one seed of it; `than`: with the settings that it is compared with.
std::string command_of(const Claim& claim, std::uint64_t seed, bool than = false);
// The command that draws its picture; it needs one.
std::string picture_command_of(const Claim& claim, std::uint64_t seed);

}  // namespace volvox::report
