// `volvox reproduce`: what the papers claim, run with several seeds and judged. Internal to cli/.
// For one thread; the runs themselves may be several at once. The same seeds give the same judgements.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "volvox/cli/sweep.h"
#include "volvox/report/claims.h"

namespace volvox::cli {

struct ReproducedClaim {
  report::Claim claim;
  std::vector<std::size_t> runs, than;  // in the plan, one a seed; than: those that they are compared with
  std::vector<double> measured;         // instead of runs, where drawing is measured, too: frames_per_second
  report::Judgement judgement;
  std::string command;            // of its first seed
  std::filesystem::path picture;  // drawn for it; empty: none
  std::filesystem::path
      results;  // the folder of its first seed, with the figures that the experiment wrote; empty: none
};

struct Reproduction {
  SweepPlan plan;
  std::vector<ReproducedClaim> claims;  // by paper
  std::size_t seeds = 0;                // of each claim with chance in it
  std::uint64_t first_seed = 0;
  bool judged = false;  // false: only planned, nothing was run

  std::size_t count(report::Verdict verdict) const;
};

// A metric of a finished run, or real_time_factor; NaN: it failed or did not measure it.
double value_of(const SweepRun& run, const std::string& metric);

// Every claim along the resource path (experiments/*/claims.json), by paper.
Result<std::vector<report::Claim>> all_claims();

// Draws the pictures of the claims into the folder, each in a process of its own; what is there already stays. A
// picture that cannot be drawn is a warning.
Result<void> draw_pictures(Reproduction& reproduction, const std::filesystem::path& folder, sim::Library& library,
                           Log& log, bool quiet);

// Draws the figures of claims.json (all, or those named by `what`) into the folder, and into experiments/*/results if
// the arguments say so. Goes on with what is there. Returns the exit status.
int draw_figures(const ReproduceArguments& arguments, const std::filesystem::path& folder,
                 const std::vector<std::string>& what, sim::Library& library, Log& log);
// Whether experiments/*/results are what the figures of claims.json define, and nothing else. Returns the exit status.
int check_figures(const std::vector<std::string>& what);

// One page that stands alone.
std::string reproduction_page(const Reproduction& reproduction);
// The same as docs/reproduction.md keeps it.
std::string reproduction_markdown(const Reproduction& reproduction);
std::string reproduction_csv(const Reproduction& reproduction);
// "0.0466 m/s [0.0461, 0.0472]"; "-": nothing was measured
std::string measured_text(const ReproducedClaim& claim);

}  // namespace volvox::cli
