#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/letters.h"
#include "volvox/base/platform/paths.h"
#include "volvox/base/text.h"
#include "volvox/cli/bench_view.h"
#include "volvox/cli/reproduce.h"
#include "volvox/cli/terminal.h"
#include "volvox/report/run_report.h"
#include "volvox/report/table.h"

namespace volvox::cli {
namespace fs = std::filesystem;
namespace {

using report::Claim;
using report::Verdict;

constexpr int quick_seeds = 3, full_seeds = 20;

// "Figure 6" is as good as figure6 or figure-6.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (is_letter_or_digit(c)) out += small_letter(c);
  return out;
}

// "figure4" of "figure4c": a figure's number stands for all that its letters name.
std::string without_letter(std::string place) {
  const std::size_t size = place.size();
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (size >= 2 && !is_digit(place[size - 1]) && is_digit(place[size - 2])) place.pop_back();
  return place;
}

bool is_meant(const Claim& claim, const std::string& word) {
  const std::string wanted = plain(word);
  if (wanted == plain(claim.paper) || word == claim.experiment) return true;
  for (const std::string& place : {plain(claim.place), plain(claim.paper + claim.place)})
    if (wanted == place || wanted == without_letter(place)) return true;
  return false;
}

Result<std::vector<Claim>> selected(std::vector<Claim> claims, const std::vector<std::string>& words) {
  if (words.empty()) return claims;
  for (const std::string& word : words) {
    if (std::any_of(claims.begin(), claims.end(), [&](const Claim& c) { return is_meant(c, word); })) continue;
    std::set<std::string> places, names;
    for (const Claim& claim : claims) {
      places.insert(claim.paper + "/" + claim.place);
      names.insert({claim.paper, claim.place, claim.experiment});
    }
    names.insert(places.begin(), places.end());
    const std::string near = nearest_name(word, {names.begin(), names.end()});
    return Error(
        fmt::format("no paper claims anything at '{}'", word),
        fmt::format("{}give a paper (004), a place (\"figure 6\", \"004/figure 6\") or an experiment; there are: {}",
                    near.empty() ? "" : fmt::format("did you mean '{}'? Or ", near), fmt::join(places, ", ")));
  }
  std::erase_if(claims, [&](const Claim& claim) {
    return std::none_of(words.begin(), words.end(), [&](const std::string& word) { return is_meant(claim, word); });
  });
  return claims;
}

// Plans runs. Claims that need the same run share it.
class Planner {
 public:
  Planner(SweepPlan& plan, std::uint64_t first_seed) : plan_(plan), first_seed_(first_seed) {}

  // The first runs of this claim, one a seed.
  Result<std::vector<std::size_t>> runs_of(const Claim& claim, bool than, std::size_t seeds) {
    std::vector<std::size_t>& mine = runs_[command_of(claim, 0, than)];
    for (std::size_t k = mine.size(); k < seeds; ++k) {
      RunArguments arguments;
      arguments.experiment = claim.experiment;
      for (const auto& [key, value] : than ? *claim.than : claim.set) arguments.set.push_back(key + "=" + value);
      arguments.duration = claim.duration;
      if (!claim.dt.empty()) arguments.dt = claim.dt;
      arguments.seed = first_seed_ + k;
      auto options = run_options(arguments);
      if (!options.ok()) return options.error();
      SweepRun run;
      run.options = std::move(*options);
      std::string name = claim.experiment;
      std::replace(name.begin(), name.end(), '/', '_');
      run.folder = fmt::format("{:03}_{}_seed={}", plan_.runs.size() + 1, name, run.options.seed);
      mine.push_back(plan_.runs.size());
      plan_.runs.push_back(std::move(run));
    }
    return std::vector<std::size_t>(mine.begin(), mine.begin() + narrow<std::ptrdiff_t>(seeds));
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const auto& [key, runs] : runs_) all.push_back(key);
    return all;
  }

 private:
  SweepPlan& plan_;
  std::uint64_t first_seed_;
  std::map<std::string, std::vector<std::size_t>> runs_;  // by command, one a seed
};

// `full`: claims of which the paper tells its number of trials get at least as many seeds.
Result<Reproduction> plan_of(std::vector<Claim> claims, std::size_t seeds, std::uint64_t first_seed, bool full,
                             const sim::Library& library) {
  Reproduction r;
  r.seeds = seeds;
  r.first_seed = first_seed;
  r.plan.experiment = "reproduce";
  Planner planner(r.plan, first_seed);
  for (Claim& claim : claims) {
    ReproducedClaim row;
    row.claim = std::move(claim);
    if (row.claim.missing.empty()) {
      if (auto located = sim::locate_experiment(row.claim.experiment, library); !located.ok()) return located.error();
      if (row.claim.metric == report::frames_per_second) {
        row.command = command_of(row.claim, first_seed);
        r.claims.push_back(std::move(row));
        continue;
      }
      const std::size_t wanted = !row.claim.chance ? 1 : full ? std::max(seeds, row.claim.trials) : seeds;
      auto runs = planner.runs_of(row.claim, false, wanted);
      if (!runs.ok()) return runs.error();
      row.runs = std::move(*runs);
      row.command = command_of(row.claim, first_seed);
      if (row.claim.than) {
        auto than = planner.runs_of(row.claim, true, wanted);
        if (!than.ok()) return than.error();
        row.than = std::move(*than);
        row.command += "; " + command_of(row.claim, first_seed, true);
      }
    }
    r.claims.push_back(std::move(row));
  }
  r.plan.identity = to_json_text(
      nlohmann::ordered_json{
          {"experiment", "reproduce"}, {"seed", first_seed}, {"seeds", seeds}, {"runs", planner.keys()}},
      2);
  return r;
}

// What was found in the folder and was made of the files as they are now need not be run again.
std::vector<SweepRun*> pending_runs(Reproduction& r, const fs::path& parent) {
  std::vector<SweepRun*> pending;
  for (SweepRun& run : r.plan.runs) {
    const bool found =
        read_outcome(parent / run.folder, run) && run.status == "done" && changes_of(run, r.plan, Made::before).empty();
    if (found) continue;
    run.status = "waiting";
    pending.push_back(&run);
  }
  return pending;
}

// After the runs, one at a time, because drawing takes all processors.
void measure_drawing(Reproduction& r, sim::Library& library, Log& log) {
  for (ReproducedClaim& row : r.claims) {
    if (row.claim.metric != report::frames_per_second) continue;
    const auto measured = drawn_per_second(row.claim.experiment, row.claim.set, library, log);
    if (!measured.ok()) log.warning("nothing is drawn: " + measured.error().text());
    row.measured = {measured.ok() ? *measured : std::numeric_limits<double>::quiet_NaN()};
  }
}

void judge_all(Reproduction& r) {
  r.judged = true;
  for (ReproducedClaim& row : r.claims) {
    std::vector<double> values = row.measured;
    for (std::size_t k = 0; k < row.runs.size(); ++k) {
      values.push_back(value_of(r.plan.runs[row.runs[k]], row.claim.metric));
      if (!row.than.empty()) values.back() /= value_of(r.plan.runs[row.than[k]], row.claim.metric);
    }
    row.judgement = judge(row.claim, values);
    for (const auto& runs : {row.runs, row.than})
      for (const std::size_t run : runs)
        if (const std::string& failure = r.plan.runs[run].failure; !failure.empty()) {
          row.judgement.why += ": " + failure;
          break;
        }
  }
}

nlohmann::ordered_json to_json(const Reproduction& r, const fs::path& folder) {
  nlohmann::ordered_json claims = nlohmann::ordered_json::array();
  const auto number = [](const auto& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  for (const ReproducedClaim& row : r.claims) {
    const auto& median = row.judgement.median;
    const auto part = [&](double report::Median::*which) {
      return median ? nlohmann::ordered_json((*median).*which) : nlohmann::ordered_json(nullptr);
    };
    claims.push_back({{"paper", row.claim.paper},
                      {"place", row.claim.place},
                      {"claim", row.claim.claim},
                      {"paper_value", number(row.claim.paper_value)},
                      {"value", part(&report::Median::value)},
                      {"low", part(&report::Median::low)},
                      {"high", part(&report::Median::high)},
                      {"seeds", row.judgement.seeds},
                      {"unit", row.claim.unit},
                      {"verdict", r.judged ? nlohmann::ordered_json(name(row.judgement.verdict)) : nullptr},
                      {"why", row.judgement.why},
                      {"command", row.command}});
  }
  return {{"folder", folder.string()}, {"seed", r.first_seed}, {"seeds", r.seeds}, {"claims", claims}};
}

// What `--list` prints: everything but the measured values.
std::string list_of(const Reproduction& r) {
  std::string text;
  for (const ReproducedClaim& row : r.claims) {
    const Claim& claim = row.claim;
    const bool ran = claim.missing.empty();
    text += fmt::format("{}/{}: {}\n    {}\n", claim.paper, claim.place, claim.claim,
                        ran ? fmt::format("{}: {}", claim.metric, rule_of(claim)) : "missing: " + claim.missing);
    if (ran) text += "    " + row.command + "\n";
    if (claim.picture) text += "    " + picture_command_of(claim, r.first_seed) + "\n";
  }
  return printable(text);
}

std::string text_of(const Reproduction& r) {
  report::Rows rows = {{"paper", "place", "claim", "agrees if", "Volvox", "verdict"}};
  constexpr std::size_t longest = 44;
  const auto shortened = [](const std::string& text) {
    return text.size() <= longest ? text : text.substr(0, longest - 3) + "...";
  };
  for (const ReproducedClaim& row : r.claims)
    rows.push_back({row.claim.paper, row.claim.place, shortened(row.claim.claim),
                    row.claim.missing.empty() ? rule_of(row.claim) : "",
                    row.claim.missing.empty() ? measured_text(row) : "", name(row.judgement.verdict)});
  return report::text_table(rows);
}

}  // namespace

double value_of(const SweepRun& run, const std::string& metric) {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  if (run.status != "done") return nothing;
  if (metric == "real_time_factor") return run.sim_time / run.wall_time;
  return run.metric(metric).value_or(nothing);
}

// Every claims.json under experiments/, along the resource path; of two of one paper the first counts.
Result<std::vector<Claim>> all_claims() {
  std::map<std::string, fs::path> files;  // by folder, so by paper
  for (const fs::path& root : platform::resource_path()) {
    std::error_code error;
    for (fs::directory_iterator it(root / "experiments", error), end; !error && it != end; it.increment(error))
      if (fs::exists(it->path() / "claims.json", error))
        files.emplace(it->path().filename().string(), it->path() / "claims.json");
  }
  std::vector<Claim> claims;
  for (const auto& [folder, file] : files) {
    auto read = report::read_claims(file);
    if (!read.ok()) return read.error();
    claims.insert(claims.end(), std::make_move_iterator(read->begin()), std::make_move_iterator(read->end()));
  }
  if (claims.empty())
    return Error("there is no experiments/*/claims.json along the resource path",
                 "add the folder of Volvox to VOLVOX_RESOURCE_PATH");
  std::stable_sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) { return a.paper < b.paper; });
  return claims;
}

// What cannot be written does not keep the others from it.
static Result<void> write(const Reproduction& r, const fs::path& folder) {
  const auto page = write_file(folder / "index.html", reproduction_page(r));
  const auto table = write_file(folder / "claims.csv", reproduction_csv(r));
  const auto summary = write_file(folder / "reproduction.md", reproduction_markdown(r));
  return !page.ok() ? page : !table.ok() ? table : summary;
}

int reproduce_command(const ReproduceArguments& arguments, sim::Library& library, Log& log) {
  if (arguments.check) return check_figures(arguments.what);
  if (arguments.figures && arguments.list)
    return complain(
        Error("--list lists claims, not figures", "leave out --figures; docs/formats.md says how figures are defined"));
  if (arguments.figures) {
    const auto folder = arguments.out ? Result<fs::path>(fs::path(*arguments.out)) : make_next_run_folder("figures");
    return folder.ok() ? draw_figures(arguments, *folder, arguments.what, library, log) : complain(folder.error());
  }
  auto claims = all_claims();
  if (!claims.ok()) return complain(claims.error());
  claims = selected(std::move(*claims), arguments.what);
  if (!claims.ok()) return complain(claims.error());
  const int seeds = arguments.seeds.value_or(arguments.full ? full_seeds : quick_seeds);
  auto r = plan_of(std::move(*claims), narrow<std::size_t>(seeds), arguments.seed, arguments.full && !arguments.seeds,
                   library);
  if (!r.ok()) return complain(r.error());
  if (arguments.list) {
    fmt::print("{}", arguments.json ? to_json_text(to_json(*r, {}), 2) + "\n" : list_of(*r));
    return done;
  }
  const auto folder = arguments.out ? Result<fs::path>(fs::path(*arguments.out)) : make_next_run_folder("reproduce");
  if (!folder.ok()) return complain(folder.error());
  const auto kept = keep_folder(*folder, 2);
  if (!kept.ok()) return complain(kept.error());
  if (auto claimed = claim_folder(*folder, r->plan); !claimed.ok()) return complain(claimed.error());

  const fs::path parent = *folder / "runs";
  const std::vector<SweepRun*> pending = pending_runs(*r, parent);
  const bool quiet = arguments.quiet || arguments.json;
  if (!quiet && pending.size() < r->plan.runs.size())
    log.info(fmt::format("{} of {} runs are already done", r->plan.runs.size() - pending.size(), r->plan.runs.size()));
  const std::size_t jobs =
      arguments.jobs > 0 ? arguments.jobs : std::max<std::size_t>(1, std::thread::hardware_concurrency());
  const bool whole = run_all(pending, r->plan, parent, jobs, library, quiet);
  if (!whole) {
    print_error("stopped on request; continue with the same command and --out " + shell_word(folder->string()));
    return run_failed;
  }
  measure_drawing(*r, library, log);
  judge_all(*r);
  for (ReproducedClaim& row : r->claims)
    if (!row.runs.empty()) row.results = parent / r->plan.runs[row.runs.front()].folder;
  if (!arguments.no_pictures)
    if (auto drawn = draw_pictures(*r, *folder / "pictures", library, log, quiet); !drawn.ok())
      return complain(drawn.error()), run_failed;
  if (auto written = write(*r, *folder); !written.ok()) return complain(written.error()), run_failed;
  if (arguments.json) fmt::print("{}\n", to_json_text(to_json(*r, *folder), 2));
  else if (!arguments.quiet)
    fmt::print("\n{}\n  {} claims: {} agree, {} better, {} differ, {} failed, {} missing\n  page   {}\n  table  {}\n",
               text_of(*r), r->claims.size(), r->count(Verdict::agrees), r->count(Verdict::better),
               r->count(Verdict::differs), r->count(Verdict::failed), r->count(Verdict::missing),
               (*folder / "index.html").string(), (*folder / "claims.csv").string());
  const int figures =
      arguments.full && arguments.what.empty() ? draw_figures(arguments, *folder / "figures", {}, library, log) : done;
  return r->count(Verdict::failed) == 0 ? figures : run_failed;
}

}  // namespace volvox::cli
