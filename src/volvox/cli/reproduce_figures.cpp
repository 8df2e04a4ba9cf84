// The figures of `volvox reproduce --figures`: experiments/*/results, drawn from the list `figures` of claims.json.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/paths.h"
#include "volvox/base/text.h"
#include "volvox/cli/reproduce.h"
#include "volvox/cli/terminal.h"
#include "volvox/report/figures.h"

namespace volvox::cli {
namespace fs = std::filesystem;
namespace {

using nlohmann::ordered_json;
using report::Figure;
using report::FigureColumn;
using report::FigureRow;

struct PlannedFigure {
  Figure figure;
  fs::path results;                                         // where it is kept
  std::vector<std::vector<std::vector<std::size_t>>> runs;  // of the plan, by row, column and seed
};

std::string content_hash(const std::string& text) {
  Hasher hasher;
  hasher.add(text.data(), text.size());
  return hash_text(hasher.value());
}

// Every figure along the resource path, by paper; of two folders of one name the first counts.
Result<std::vector<PlannedFigure>> all_figures() {
  std::map<std::string, fs::path> folders;
  for (const fs::path& root : platform::resource_path()) {
    std::error_code error;
    for (fs::directory_iterator it(root / "experiments", error), end; !error && it != end; it.increment(error))
      if (fs::exists(it->path() / "claims.json", error)) folders.emplace(it->path().filename().string(), it->path());
  }
  std::vector<PlannedFigure> all;
  for (const auto& [name, folder] : folders) {
    auto figures = report::read_figures(folder / "claims.json");
    if (!figures.ok()) return figures.error();
    for (Figure& figure : *figures) all.push_back({std::move(figure), folder / "results", {}});
  }
  return all;
}

bool is_meant(const Figure& figure, const std::string& word) {
  return word == figure.paper || word == figure.name || word == figure.paper + "/" + figure.name ||
         std::any_of(figure.columns.begin(), figure.columns.end(),
                     [&](const FigureColumn& column) { return column.experiment == word; });
}

Result<void> select(std::vector<PlannedFigure>& figures, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (std::any_of(figures.begin(), figures.end(), [&](const auto& f) { return is_meant(f.figure, word); })) continue;
    std::vector<std::string> names;
    for (const PlannedFigure& f : figures) names.push_back(f.figure.paper + "/" + f.figure.name);
    return Error(fmt::format("there is no figure '{}'", word),
                 fmt::format("give a paper (004), an experiment or one of: {}", fmt::join(names, ", ")));
  }
  if (!words.empty())
    std::erase_if(figures, [&](const PlannedFigure& f) {
      return std::none_of(words.begin(), words.end(), [&](const std::string& w) { return is_meant(f.figure, w); });
    });
  return {};
}

Result<SweepRun> run_for(const Figure& figure, const FigureRow& row, const FigureColumn& column, std::uint64_t seed) {
  RunArguments arguments;
  arguments.experiment = column.experiment;
  arguments.engine = column.engine;
  std::map<std::string, std::string> set = row.set;
  for (const auto& [key, value] : column.set) set[key] = value;
  for (const auto& [key, value] : set) arguments.set.push_back(key + "=" + value);
  arguments.duration = column.duration;
  if (column.duration_per_x != 0)
    arguments.duration = column.duration.value_or(0) + column.duration_per_x * row.x.value_or(0);
  if (!column.dt.empty()) arguments.dt = column.dt;
  arguments.seed = seed;
  auto options = run_options(arguments);
  if (!options.ok()) return options.error();
  SweepRun run;
  run.options = std::move(*options);
  run.folder = fmt::format("{}_{}", figure.paper, figure.name);
  return run;
}

// Figures and cells that need the same run share it.
Result<SweepPlan> plan_figures(std::vector<PlannedFigure>& figures, std::uint64_t first_seed,
                               std::optional<int> seeds) {
  SweepPlan plan;
  plan.experiment = "reproduce --figures";
  std::map<std::string, std::size_t> known;  // by what is run
  for (PlannedFigure& f : figures) {
    const std::size_t count = seeds ? narrow<std::size_t>(*seeds) : f.figure.seeds;
    for (const FigureRow& row : f.figure.rows) {
      f.runs.emplace_back();
      for (const FigureColumn& column : f.figure.columns) {
        f.runs.back().emplace_back();
        for (std::size_t k = 0; k < count && column.values.empty(); ++k) {
          auto run = run_for(f.figure, row, column, first_seed + k);
          if (!run.ok()) return run.error();
          std::string key = fmt::format("{} {} {} {}", run->options.experiment, run->options.engine,
                                        run->options.duration.value_or(0), run->options.seed) +
                            (run->options.dt ? " " + run->options.dt->text() : "");
          for (const auto& [name, value] : run->options.settings) key += " " + name + "=" + value;
          const auto [found, added] = known.emplace(key, plan.runs.size());
          if (added) {
            run->folder = fmt::format("{:04}_{}_seed={}", plan.runs.size() + 1, run->folder, run->options.seed);
            plan.runs.push_back(std::move(*run));
          }
          f.runs.back().back().push_back(found->second);
        }
      }
    }
  }
  ordered_json names = ordered_json::array();
  for (const auto& [key, run] : known) names.push_back(key);
  plan.identity = to_json_text(ordered_json{{"experiment", plan.experiment}, {"runs", names}}, 2);
  return plan;
}

Result<report::Steps> read_steps(const fs::path& file) {
  const auto text = read_file(file);
  if (!text.ok()) return text.error();
  report::Steps steps;
  std::istringstream in(*text);
  std::string line;
  std::getline(in, line);  // the heading
  while (std::getline(in, line)) {
    char* rest = nullptr;
    const double time = std::strtod(line.c_str(), &rest);
    if (rest != nullptr && *rest == ',') steps.push_back({time, std::strtod(rest + 1, nullptr)});
  }
  return steps;
}

Result<report::FigureFiles> files_of(const PlannedFigure& f, const SweepPlan& plan, const fs::path& parent) {
  const Figure& figure = f.figure;
  if (figure.kind == report::FigureKind::copies) {
    report::FigureFiles files;
    for (const auto& [file, name] : figure.copies) {
      auto text = read_file(parent / plan.runs[f.runs[0][0].front()].folder / file);
      if (!text.ok()) return text.error();
      files.push_back({name, std::move(*text)});
    }
    return files;
  }
  if (figure.kind == report::FigureKind::steps) {
    std::vector<std::vector<report::Steps>> steps;
    for (std::size_t c = 0; c < figure.columns.size(); ++c) {
      steps.emplace_back();
      for (const std::size_t run : f.runs[0][c]) {
        auto read = read_steps(parent / plan.runs[run].folder / figure.columns[c].file);
        if (!read.ok()) return read.error();
        steps[c].push_back(std::move(*read));
      }
    }
    return draw_steps(figure, steps);
  }
  report::FigureValues values;
  for (std::size_t r = 0; r < figure.rows.size(); ++r) {
    values.emplace_back();
    for (std::size_t c = 0; c < figure.columns.size(); ++c) {
      const FigureColumn& column = figure.columns[c];
      values[r].emplace_back();
      if (!column.values.empty()) values[r][c].push_back(column.values[r]);
      for (const std::size_t run : f.runs[r][c]) values[r][c].push_back(value_of(plan.runs[run], column.metric));
    }
  }
  return draw(figure, values);
}

ordered_json read_stamps(const fs::path& results) {
  const auto text = read_file(results / "figures.json");
  if (!text.ok()) return ordered_json::object();
  ordered_json stamps = ordered_json::parse(*text, nullptr, false);
  return stamps.is_object() ? stamps : ordered_json::object();
}

// Keeps the files beside the experiments, and how they were made.
Result<void> store(const PlannedFigure& f, const report::FigureFiles& files, std::uint64_t first_seed,
                   std::optional<int> seeds) {
  std::error_code error;
  fs::create_directories(f.results, error);
  ordered_json stamps = read_stamps(f.results), hashes = ordered_json::object();
  for (const auto& [name, text] : files) {
    if (auto written = write_file(f.results / name, text); !written.ok()) return written;
    hashes[name] = content_hash(text);
  }
  const std::time_t now = std::time(nullptr);
  char today[32] = {};
  if (const std::tm* utc = std::gmtime(&now)) std::strftime(today, sizeof today, "%Y-%m-%d", utc);
  stamps[f.figure.name] = {
      {"definition", f.figure.identity},
      {"command", fmt::format("volvox reproduce --figures {}/{} --store", f.figure.paper, f.figure.name)},
      {"date", today},
      {"first_seed", first_seed},
      {"seeds", seeds ? narrow<std::size_t>(*seeds) : f.figure.seeds},
      {"files", hashes}};
  return write_file(f.results / "figures.json", to_json_text(stamps, 2) + "\n");
}

// What is wrong with the stored figures, in words: those whose definition has changed since, that were edited by hand,
// that are missing, and files that no figure has.
std::vector<std::string> stale(const std::vector<PlannedFigure>& figures, const std::vector<PlannedFigure>& all) {
  std::vector<std::string> wrong;
  std::map<fs::path, std::set<std::string>> known;
  for (const PlannedFigure& f : figures) known[f.results].insert("figures.json");
  for (const PlannedFigure& f : all)
    if (const auto found = known.find(f.results); found != known.end())
      for (const std::string& file : f.figure.files()) found->second.insert(file);
  for (const PlannedFigure& f : figures) {
    const ordered_json stamps = read_stamps(f.results);
    const std::string which = fmt::format("{}/{}", f.figure.paper, f.figure.name);
    if (!stamps.contains(f.figure.name)) {
      wrong.push_back(which + " was never drawn");
      continue;
    }
    const ordered_json& stamp = stamps.at(f.figure.name);
    if (stamp.value("definition", "") != f.figure.identity)
      wrong.push_back(which + ": its definition in claims.json has changed since it was drawn");
    for (const std::string& file : f.figure.files()) {
      const auto text = read_file(f.results / file);
      if (!text.ok()) wrong.push_back(fmt::format("{}: {} is missing", which, file));
      else if (!stamp.contains("files") || stamp.at("files").value(file, "") != content_hash(*text))
        wrong.push_back(fmt::format("{}: {} was not written by volvox reproduce", which, file));
    }
  }
  for (const auto& [folder, names] : known) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
      if (!names.contains(it->path().filename().string()))
        wrong.push_back(fmt::format("{}: no figure of claims.json has this file", it->path().string()));
  }
  return wrong;
}

// Says which runs failed, and why. What they lack must not be drawn as if it had been measured.
bool all_done(const SweepPlan& plan, const fs::path& folder, Log& log) {
  std::size_t failed = 0;
  for (const SweepRun& run : plan.runs) {
    if (run.status == "done") continue;
    ++failed;
    log.error(fmt::format("{}: {}", run.folder, run.failure.empty() ? run.status : run.failure));
  }
  if (failed > 0)
    print_error(
        fmt::format("{} of {} runs failed, so no figure is drawn; the same command with --out {} tries them again",
                    failed, plan.runs.size(), shell_word(folder.string())));
  return failed == 0;
}

// Draws one figure into the folder and, if asked for, beside the experiment. All is made before any file is written.
Result<void> draw_one(const PlannedFigure& f, const SweepPlan& plan, const fs::path& folder,
                      const ReproduceArguments& arguments) {
  const auto files = files_of(f, plan, folder / "runs");
  if (!files.ok()) return files.error();
  std::error_code error;
  fs::create_directories(folder / f.figure.paper, error);  // if it cannot be made, writing says so
  for (const auto& [name, text] : *files)
    if (auto written = write_file(folder / f.figure.paper / name, text); !written.ok()) return written;
  return arguments.store ? store(f, *files, arguments.seed, arguments.seeds) : Result<void>();
}

}  // namespace

int check_figures(const std::vector<std::string>& what) {
  auto figures = all_figures();
  if (!figures.ok()) return complain(figures.error());
  const std::vector<PlannedFigure> all = *figures;
  if (auto selected = select(*figures, what); !selected.ok()) return complain(selected.error());
  const std::vector<std::string> wrong = stale(*figures, all);
  for (const std::string& one : wrong) std::fputs(fmt::format("{} {}\n", red("stale:"), one).c_str(), stderr);
  if (!wrong.empty())
    std::fputs("  fix: volvox reproduce --figures PAPER/NAME --store, which draws it again\n", stderr);
  else fmt::print("{} figures, all as claims.json defines them\n", figures->size());
  return wrong.empty() ? done : run_failed;
}

int draw_figures(const ReproduceArguments& arguments, const fs::path& folder, const std::vector<std::string>& what,
                 sim::Library& library, Log& log) {
  auto figures = all_figures();
  if (!figures.ok()) return complain(figures.error());
  if (auto selected = select(*figures, what); !selected.ok()) return complain(selected.error());
  auto plan = plan_figures(*figures, arguments.seed, arguments.seeds);
  if (!plan.ok()) return complain(plan.error());
  const auto kept = keep_folder(folder, 2);
  if (!kept.ok()) return complain(kept.error());
  if (auto claimed = claim_folder(folder, *plan); !claimed.ok()) return complain(claimed.error());
  const fs::path parent = folder / "runs";
  std::vector<SweepRun*> pending;
  for (SweepRun& run : plan->runs) {
    if (read_outcome(parent / run.folder, run) && run.status == "done" && changes_of(run, *plan, Made::before).empty())
      continue;
    run.status = "waiting";
    pending.push_back(&run);
  }
  const bool quiet = arguments.quiet || arguments.json;
  if (!quiet)
    log.info(fmt::format("{} figures, {} of {} runs to do", figures->size(), pending.size(), plan->runs.size()));
  const std::size_t jobs =
      arguments.jobs > 0 ? arguments.jobs : std::max<std::size_t>(1, std::thread::hardware_concurrency());
  if (!run_all(pending, *plan, parent, jobs, library, quiet)) {
    print_error("stopped on request; the same command goes on");
    return run_failed;
  }
  if (!all_done(*plan, folder, log)) return run_failed;
  for (const PlannedFigure& f : *figures) {
    if (auto drawn = draw_one(f, *plan, folder, arguments); !drawn.ok()) return complain(drawn.error()), run_failed;
    if (!quiet) fmt::print("  {}/{}  {}\n", f.figure.paper, f.figure.name, (folder / f.figure.paper).string());
  }
  return done;
}

}  // namespace volvox::cli
