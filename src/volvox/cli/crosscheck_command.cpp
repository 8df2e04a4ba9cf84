#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "volvox/base/csv.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/text.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/progress.h"
#include "volvox/cli/terminal.h"
#include "volvox/report/chart.h"
#include "volvox/report/table.h"
#include "volvox/sim/run.h"

namespace volvox::cli {
namespace fs = std::filesystem;
namespace {

// Differences that do not matter: a dock with a gap of 1e-4 mm on one engine and 1e-13 mm on another is closed on both,
// and rounding alone moves a centre of mass by 1e-11 m.
constexpr double negligible_m = 1e-5, negligible_J = 1e-6, negligible_otherwise = 1e-6;

double negligible(const std::string& metric) {
  struct Kind {
    const char* ending;
    double least;
  };
  constexpr Kind kinds[] = {{"_m", negligible_m}, {"_mm", 0.01}, {"_m_s", 1e-5}, {"_deg", 0.01},
                            {"_rad", 1e-4},       {"_N", 1e-3},  {"_Nm", 1e-3},  {"_J", negligible_J}};
  for (const Kind& kind : kinds)
    if (metric.ends_with(kind.ending)) return kind.least;
  return negligible_otherwise;
}

// The difference of a figure from the reference, relative to the larger of the two. It is 1 if only one of them was
// measured: something happened on one engine only.
double disagreement(const std::string& metric, double value, double reference) {
  if (!std::isfinite(value) || !std::isfinite(reference))
    return std::isfinite(value) == std::isfinite(reference) ? 0 : 1;
  const double scale = std::max(std::fabs(value), std::fabs(reference)), off = std::fabs(value - reference);
  return off > negligible(metric) ? off / scale : 0;
}

std::string percent(double part) { return part == 0 ? "" : fmt::format("{:.0f} %", 100 * part); }

// The time histories side by side, as figures.
Result<void> write_histories(const fs::path& file, const std::vector<sim::RunReport>& reports) {
  Csv csv({"engine", "time_s", "centre_x_m", "centre_y_m", "centre_z_m", "kinetic_energy_J", "lift_m", "connections"});
  for (const sim::RunReport& report : reports)
    for (const sim::TimePoint& p : report.history)
      csv.row(report.engine, p.time, p.centre_of_mass.x, p.centre_of_mass.y, p.centre_of_mass.z, p.kinetic_energy,
              p.lift, p.connections);
  if (!write_file(file, csv.text()).ok())
    return Diagnostic{file.string(), 0, "the histories cannot be written",
                      "give a path that can be written, with --csv"};
  return {};
}

// The quantities that are drawn and compared over time.
struct History {
  const char *title, *axis, *words, *unit;
  double negligible;
  double (*value)(const sim::TimePoint&);
};
constexpr History histories[] = {
    {"Centre of mass, x", "x (m)", "the x of the centre of mass", " m", negligible_m,
     [](const sim::TimePoint& p) { return p.centre_of_mass.x; }},
    {"Centre of mass, y", "y (m)", "the y of the centre of mass", " m", negligible_m,
     [](const sim::TimePoint& p) { return p.centre_of_mass.y; }},
    {"Centre of mass, z", "z (m)", "the height of the centre of mass", " m", negligible_m,
     [](const sim::TimePoint& p) { return p.centre_of_mass.z; }},
    {"Highest link", "z (m)", "the height of the highest link", " m", negligible_m,
     [](const sim::TimePoint& p) { return p.lift; }},
    {"Kinetic energy", "energy (J)", "the kinetic energy", " J", negligible_J,
     [](const sim::TimePoint& p) { return p.kinetic_energy; }},
    {"Docked connections", "number", "the number of connections", "", negligible_otherwise,
     [](const sim::TimePoint& p) { return real(p.connections); }},
};

std::string history_plots(const std::vector<sim::RunReport>& reports) {
  std::vector<report::Panel> panels;
  for (const History& history : histories) {
    report::Panel panel{history.title, {"time (s)"}, {history.axis}};
    bool changes = false;  // a quantity that is constant and equal on all engines gets no plot
    for (const sim::RunReport& run : reports) {
      report::Curve curve{run.engine, {}};
      for (const sim::TimePoint& p : run.history) {
        curve.points.push_back({p.time, history.value(p)});
        changes = changes || history.value(p) != history.value(reports.front().history.front());
      }
      panel.curves.push_back(std::move(curve));
    }
    if (changes) panels.push_back(std::move(panel));
  }
  return svg(report::Chart{
      fmt::format("{}: the same experiment on {} engines", reports.front().experiment, reports.size()), panels});
}

std::string disagreement_plot(const std::vector<sim::RunReport>& reports, double tolerance) {
  const sim::RunReport& reference = reports.front();
  report::BarChart chart{
      fmt::format("{}: how far metrics are from those on {}", reference.experiment, reference.engine),
      "difference (% of the larger)",
      {},
      {},
      {100 * tolerance, fmt::format("tolerance, {:.0f} %", 100 * tolerance)}};
  for (std::size_t i = 1; i < reports.size(); ++i) chart.series.push_back(reports[i].engine);
  for (const sim::Metric& metric : reference.metrics.all()) {
    report::BarChart::Group group{metric.name, {}};
    for (std::size_t i = 1; i < reports.size(); ++i) {
      const sim::Metric* other = reports[i].metrics.find(metric.name);
      group.values.push_back(100 * (other != nullptr ? disagreement(metric.name, other->value, metric.value) : 1));
    }
    if (std::any_of(group.values.begin(), group.values.end(), [](double v) { return v > 0; }))
      chart.groups.push_back(std::move(group));
  }
  return svg(chart);
}

// A figure relative to the reference, in words: "48 % less", "950 times as much".
std::string compared(double value, double reference) {
  if (reference == 0) return "not 0";
  const double ratio = value / reference;
  if (ratio > 1e4) return "far more";
  if (ratio > 10) return fmt::format("{:.0f} times as much", ratio);
  return fmt::format("{:.0f} % {}", 100 * std::fabs(value - reference) / std::fabs(reference),
                     value < reference ? "less" : "more");
}

// "bullet 0.07 (48 % less)"
std::string beside(const sim::RunReport& report, const sim::Metric& metric) {
  const sim::Metric* other = report.metrics.find(metric.name);
  if (other == nullptr || !std::isfinite(other->value)) return fmt::format("{} has none", report.engine);
  if (!std::isfinite(metric.value)) return fmt::format("{} {}", report.engine, number(other->value));
  return fmt::format("{} {} ({})", report.engine, number(other->value), compared(other->value, metric.value));
}

std::string metric_finding(const sim::Metric& metric, const std::vector<sim::RunReport>& reports, double tolerance) {
  std::vector<std::string> apart, near;
  for (std::size_t i = 1; i < reports.size(); ++i) {
    if (reports[i].status != "done") continue;
    const sim::Metric* other = reports[i].metrics.find(metric.name);
    if (other == nullptr || disagreement(metric.name, other->value, metric.value) > tolerance)
      apart.push_back(beside(reports[i], metric));
    else near.push_back(reports[i].engine);
  }
  if (apart.empty()) return {};
  return fmt::format(
      "{}: {} {}, but {}{}.", metric.name, reports.front().engine, number(metric.value), fmt::join(apart, ", "),
      near.empty() ? "" : fmt::format("; {} agree{}", fmt::join(near, " and "), near.size() == 1 ? "s" : ""));
}

// The time at which the history of each engine first differs from the reference by more than the tolerance, relative to
// the range of the reference.
std::string history_finding(const History& history, const std::vector<sim::RunReport>& reports, double tolerance) {
  const sim::RunReport& reference = reports.front();
  double low = 1e300, high = -1e300;
  for (const sim::TimePoint& p : reference.history)
    low = std::min(low, history.value(p)), high = std::max(high, history.value(p));
  const double range = high - low;
  std::vector<std::string> apart;
  for (std::size_t i = 1; i < reports.size(); ++i) {
    double worst = 0;
    std::optional<double> since;
    for (std::size_t k = 0; k < std::min(reports[i].history.size(), reference.history.size()); ++k) {
      const double off = std::fabs(history.value(reports[i].history[k]) - history.value(reference.history[k]));
      worst = std::max(worst, off);
      if (!since && off > tolerance * range && off > history.negligible) since = reference.history[k].time;
    }
    if (since)
      apart.push_back(fmt::format("{} from {:.2f} s on (at most {}{} apart)", reports[i].engine, *since,
                                  number(worst, 3), history.unit));
  }
  if (apart.empty()) return {};
  if (range <= history.negligible)
    return fmt::format("{} does not change on {}, but differs from it on {}.", history.words, reference.engine,
                       fmt::join(apart, ", "));
  return fmt::format("{} differs from that on {} by more than {:.0f} % of its range ({}{}): {}.", history.words,
                     reference.engine, 100 * tolerance, number(range, 3), history.unit, fmt::join(apart, ", "));
}

std::vector<std::string> findings(const std::vector<sim::RunReport>& reports, double tolerance) {
  std::vector<std::string> found;
  for (const sim::RunReport& report : reports)
    if (report.status != "done") found.push_back(fmt::format("{} did not finish: {}.", report.engine, report.failure));
  for (const sim::Metric& metric : reports.front().metrics.all())
    if (std::string text = metric_finding(metric, reports, tolerance); !text.empty()) found.push_back(std::move(text));
  for (const History& history : histories)
    if (std::string text = history_finding(history, reports, tolerance); !text.empty())
      found.push_back(std::move(text));
  return found;
}

Result<fs::path> make_folder(const CrosscheckArguments& arguments, const std::string& experiment) {
  if (!arguments.out) return make_next_run_folder("crosscheck_" + folder_name(arguments.experiment, experiment));
  std::error_code error;
  fs::create_directories(*arguments.out, error);
  if (error || !can_write_file(fs::path(*arguments.out) / "findings.txt"))
    return Diagnostic{*arguments.out, 0, "no results can be written into this folder",
                      "give another one with --out DIR"};
  return fs::path(*arguments.out);
}

Result<void> write_folder(const fs::path& folder, const std::vector<sim::RunReport>& reports,
                          const std::vector<std::string>& found, double tolerance) {
  const auto write = [&](const char* name, const std::string& content) {
    return write_file(folder / name, content).ok();
  };
  std::string text;
  for (const std::string& finding : found) text += finding + "\n";
  if (found.empty()) text = fmt::format("The engines agree: nothing differs by more than {:.0f} %.\n", 100 * tolerance);
  bool written = write("histories.svg", history_plots(reports)) && write("findings.txt", text);
  if (reports.size() > 1) written = written && write("disagreements.svg", disagreement_plot(reports, tolerance));
  if (!written)
    return Diagnostic{folder.string(), 0, "the plots cannot be written", "give another folder with --out DIR"};
  return write_histories(folder / "histories.csv", reports);
}

void print_table(const std::vector<sim::RunReport>& reports, const std::vector<std::string>& found, double tolerance,
                 const fs::path& folder) {
  std::vector<std::vector<std::string>> rows = {{"metric"}};
  for (const sim::RunReport& report : reports) {
    rows[0].push_back(report.engine);
    if (&report != &reports.front()) rows[0].push_back("off by");
  }
  rows[0].push_back("");
  for (const sim::Metric& metric : reports.front().metrics.all()) {
    std::vector<std::string> row = {metric.name, number(metric.value)};
    double worst = 0;
    for (std::size_t i = 1; i < reports.size(); ++i) {
      const sim::Metric* other = reports[i].metrics.find(metric.name);
      const double off = other != nullptr ? disagreement(metric.name, other->value, metric.value) : 1;
      row.push_back(other != nullptr ? number(other->value) : "-");
      row.push_back(percent(off));
      worst = std::max(worst, off);
    }
    row.push_back(worst > tolerance ? "they disagree" : "");
    rows.push_back(std::move(row));
  }
  fmt::print(
      "\n{}\n  'off by' is the difference from {}, as a part of the larger of the two; more than {:.0f} % is called a "
      "disagreement,\n  unless it is too small to matter (volvox crosscheck --help).\n",
      report::text_table(rows), reports.front().engine, 100 * tolerance);
  fmt::print("{}\n", found.empty() ? "  The engines agree." : "  Where they disagree:");
  for (const std::string& finding : found) fmt::print("  - {}\n", finding);
  fmt::print("\n  plots, histories and findings: {}\n", folder.string());
}

void print_json(const std::vector<sim::RunReport>& reports, const std::vector<std::string>& found,
                const fs::path& folder) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const sim::RunReport& report : reports) results.push_back(nlohmann::ordered_json::parse(report.json()));
  fmt::print(
      "{}\n",
      to_json_text(nlohmann::ordered_json{{"results", results}, {"findings", found}, {"folder", folder.string()}}, 2));
}

// The reference comes first. Each can be made: that is found before anything runs, and before a folder is made.
Result<std::vector<std::string>> chosen_engines(const CrosscheckArguments& arguments, const sim::Library& library) {
  const auto engines = engines_to_compare(arguments.engines, library);
  if (!engines.ok()) return engines.error();
  for (const std::string& engine : *engines)
    if (const auto made = library.engines.make(engine, {}); !made.ok()) return made.error();
  if (std::set<std::string>(engines->begin(), engines->end()).size() < 2)
    return Error(fmt::format("there is nothing to compare {} with", engines->front()),
                 "name at least two different engines, the reference first, as in --engines native,bullet");
  return engines;
}

}  // namespace

int crosscheck_command(const CrosscheckArguments& arguments, sim::Library& library, Log& log) {
  auto settings = parse_settings(arguments.set);
  if (!settings.ok()) return complain(settings.error());
  const auto engines = chosen_engines(arguments, library);
  if (!engines.ok()) return complain(engines.error());
  std::vector<sim::RunReport> reports;
  fs::path folder;
  Result<platform::FolderLock> kept = Error("no folder was made yet", "");
  for (const std::string& engine : *engines) {
    sim::RunOptions options;
    options.experiment = arguments.experiment;
    options.engine = engine;
    options.seed = arguments.seed;
    options.duration = arguments.duration;
    options.settings = *settings;
    auto run = sim::Run::prepare(options, library, log);
    if (!run.ok()) return complain(run.error());
    if ((*run)->ticks() == 0)
      return complain(Error("there is nothing to compare in a run of 0 s", "give a --duration above zero"));
    if (folder.empty()) {
      const auto made = make_folder(arguments, (*run)->report().experiment);
      if (!made.ok()) return complain(made.error());
      folder = *made;
      kept = keep_folder(folder);
      if (!kept.ok()) return complain(kept.error());
    }
    {
      Progress bar(fmt::format("{} on {}", (*run)->report().experiment, engine), arguments.json);
      (*run)->finish([&](const sim::Progress& progress) { bar.show(progress); });
    }
    reports.push_back((*run)->report());
    // An engine that fails counts as a disagreement; the other engines still run.
    if (reports.back().status != "done") log.warning(fmt::format("{}: {}", engine, reports.back().failure));
  }
  const std::vector<std::string> found = findings(reports, arguments.tolerance);
  if (const auto written = write_folder(folder, reports, found, arguments.tolerance); !written.ok())
    return complain(written.error());
  if (!arguments.csv.empty())
    if (const auto written = write_histories(arguments.csv, reports); !written.ok()) return complain(written.error());
  if (arguments.json) print_json(reports, found, folder);
  else print_table(reports, found, arguments.tolerance, folder);
  return std::all_of(reports.begin(), reports.end(), [](const sim::RunReport& r) { return r.status == "done"; })
             ? done
             : run_failed;
}

}  // namespace volvox::cli
