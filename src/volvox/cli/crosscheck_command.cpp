#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "volvox/cli/commands.h"
#include "volvox/cli/terminal.h"
#include "volvox/sim/run.h"

namespace volvox::cli {
namespace {

// How far a figure is from the reference, as a part of the larger of the two.
double disagreement(double value, double reference) {
  const double scale = std::max(std::fabs(value), std::fabs(reference));
  return scale > 0 ? std::fabs(value - reference) / scale : 0;
}

std::string percent(double part) { return part == 0 ? "" : fmt::format("{:.0f} %", 100 * part); }

// The time histories side by side, for a plot.
Result<void> write_histories(const std::string& file, const std::vector<sim::RunReport>& reports) {
  std::ofstream out(file);
  out << "engine,time_s,centre_x_m,centre_y_m,centre_z_m,kinetic_energy_J,lift_m,connections\n";
  for (const sim::RunReport& report : reports)
    for (const sim::TimePoint& p : report.history)
      out << fmt::format("{},{},{},{},{},{},{},{}\n", report.engine, p.time, p.centre_of_mass.x, p.centre_of_mass.y,
                         p.centre_of_mass.z, p.kinetic_energy, p.lift, p.connections);
  out.flush();
  if (!out) return Diagnostic{file, 0, "the histories cannot be written", "give a path that can be written, with --csv"};
  return {};
}

void print_table(const std::vector<sim::RunReport>& reports, double tolerance) {
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
      const double off = other != nullptr ? disagreement(other->value, metric.value) : 1;
      row.push_back(other != nullptr ? number(other->value) : "-");
      row.push_back(percent(off));
      worst = std::max(worst, off);
    }
    row.push_back(worst > tolerance ? "they disagree" : "");
    rows.push_back(std::move(row));
  }
  fmt::print("\n{}\n  'off by' is against {}; more than {:.0f} % is called a disagreement.\n", table(rows),
             reports.front().engine, 100 * tolerance);
}

}  // namespace

int crosscheck_command(const CrosscheckArguments& arguments, sim::Library& library, Log& log) {
  auto settings = parse_settings(arguments.set);
  if (!settings.ok()) return complain(settings.error());
  std::vector<std::string> engines = split_list(arguments.engines);
  if (engines.empty()) {
    engines.push_back(physics::default_engine);
    for (const std::string& name : library.engines.names()) {
      const auto engine = library.engines.make(name, {});
      if (name != engines.front() && engine.ok() && (*engine)->info().moves) engines.push_back(name);
    }
  }
  std::vector<sim::RunReport> reports;
  for (const std::string& engine : engines) {
    sim::RunOptions options;
    options.experiment = arguments.experiment;
    options.engine = engine;
    options.seed = arguments.seed;
    options.duration = arguments.duration;
    options.settings = *settings;
    auto run = sim::Run::prepare(options, library, log);
    if (!run.ok()) return complain(run.error());
    {
      ProgressBar bar(fmt::format("{} on {}", (*run)->report().experiment, engine), arguments.json);
      (*run)->finish([&](const sim::Progress& progress) { bar.show(progress); });
    }
    reports.push_back((*run)->report());
    // An engine that could not finish is a disagreement of its own; the others go on.
    if (reports.back().status != "done") log.warning(fmt::format("{}: {}", engine, reports.back().failure));
  }
  if (!arguments.csv.empty())
    if (const auto written = write_histories(arguments.csv, reports); !written.ok()) return complain(written.error());
  if (arguments.json) {
    nlohmann::ordered_json results = nlohmann::ordered_json::array();
    for (const sim::RunReport& report : reports) results.push_back(nlohmann::ordered_json::parse(report.json()));
    fmt::print("{}\n", nlohmann::ordered_json{{"results", results}}.dump(2));
  } else {
    print_table(reports, arguments.tolerance);
  }
  return std::all_of(reports.begin(), reports.end(), [](const sim::RunReport& r) { return r.status == "done"; }) ? done : run_failed;
}

}  // namespace volvox::cli
