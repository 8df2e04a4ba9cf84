#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "volvox/base/csv.h"
#include "volvox/base/index.h"
#include "volvox/base/text.h"
#include "volvox/cli/sweep.h"
#include "volvox/cli/terminal.h"
#include "volvox/report/chart.h"
#include "volvox/report/table.h"

namespace volvox::cli {
namespace fs = std::filesystem;
namespace {

// Student's t at 97.5 %: a table for few degrees of freedom, where the error of the series is above 0.1 %.
double student_t(std::size_t degrees_of_freedom) {
  constexpr double table[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469};
  if (degrees_of_freedom <= std::size(table)) return table[degrees_of_freedom - 1];
  const double z = 1.959964, n = real(degrees_of_freedom);
  return z + (std::pow(z, 3) + z) / (4 * n) + (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / (96 * n * n);
}

// The metrics of all runs, in the order of their first occurrence.
std::vector<std::string> metric_names(const SweepPlan& plan) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const SweepRun& run : plan.runs)
    for (const auto& [name, value] : run.metrics)
      if (known.insert(name).second) names.push_back(name);
  return names;
}

// The metrics that are worth a plot.
std::vector<std::string> changing_metrics(const SweepPlan& plan) {
  std::vector<std::string> names;
  for (const std::string& name : metric_names(plan)) {
    std::set<double> values;
    for (const SweepRun& run : plan.runs)
      if (const auto value = run.metric(name); value && std::isfinite(*value) && run.status == "done")
        values.insert(*value);
    if (values.size() > 1) names.push_back(name);
  }
  return names;
}

template <class Wanted>
Estimate estimate_of(const SweepPlan& plan, const std::string& metric, Wanted&& wanted) {
  std::vector<double> values;
  for (const SweepRun& run : plan.runs)
    if (const auto value = run.metric(metric); run.status == "done" && value && std::isfinite(*value) && wanted(run))
      values.push_back(*value);
  return estimate(values);
}

// The values of the other keys, not on the axis: one curve each, unless there are too many.
std::vector<std::vector<std::string>> curves_beside(const SweepPlan& plan, std::size_t axis) {
  std::vector<std::vector<std::string>> curves;
  for (const SweepRun& run : plan.runs) {
    std::vector<std::string> others = run.values;
    others.erase(others.begin() + axis);
    if (std::find(curves.begin(), curves.end(), others) == curves.end()) curves.push_back(std::move(others));
  }
  constexpr std::size_t most_curves = 6;
  if (curves.size() > most_curves) curves = {{}};
  return curves;
}

report::Panel panel_of(const SweepPlan& plan, std::size_t axis, const std::string& metric) {
  const Varied& varied = plan.varied[axis];
  report::Panel panel{"", {varied.key}, {metric}};
  if (!varied.numbers) panel.x.names = varied.values;
  for (const std::vector<std::string>& others : curves_beside(plan, axis)) {
    report::Curve curve{.label = "", .points = {}, .marks = true};
    curve.join = varied.numbers ? report::Join::lines : report::Join::nothing;  // there is nothing between two words
    curve.spread = varied.numbers ? report::Spread::band : report::Spread::bars;
    for (std::size_t k = 0, o = 0; k < plan.varied.size() && !others.empty(); ++k)
      if (k != axis)
        curve.label += fmt::format("{}{} = {}", curve.label.empty() ? "" : ", ", plan.varied[k].key, others[o++]);
    for (std::size_t i = 0; i < varied.values.size(); ++i) {
      const Estimate e = estimate_of(plan, metric, [&](const SweepRun& run) {
        std::vector<std::string> rest = run.values;
        rest.erase(rest.begin() + axis);
        return run.values[axis] == varied.values[i] && (others.empty() || rest == others);
      });
      if (e.count == 0) continue;
      const double half = e.half_width.value_or(0);
      curve.points.push_back(
          {varied.numbers ? std::stod(varied.values[i]) : real(i), e.mean, e.mean - half, e.mean + half});
    }
    panel.curves.push_back(std::move(curve));
  }
  return panel;
}

}  // namespace

Estimate estimate(const std::vector<double>& values) {
  Estimate e;
  e.count = values.size();
  for (const double value : values) e.mean += value / real(values.size());
  if (values.size() < 2) return e;
  double squares = 0;
  for (const double value : values) squares += (value - e.mean) * (value - e.mean);
  const double n = real(values.size());
  e.half_width = student_t(values.size() - 1) * std::sqrt(squares / (n - 1) / n);
  return e;
}

bool seeds_change_nothing(const SweepPlan& plan) {
  const auto in_wall_time = [](const std::string& name) {
    return name.ends_with("_ms") || name.ends_with("_us") || name == "late_ticks" || name == "drift_s" ||
           name == "cpu_s";
  };
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  const auto measured_alike = [&](const SweepRun& a, const SweepRun& b) {
    return std::equal(a.metrics.begin(), a.metrics.end(), b.metrics.begin(), b.metrics.end(),
                      [&](const auto& x, const auto& y) {
                        return x.first == y.first && (in_wall_time(x.first) || same(x.second, y.second));
                      });
  };
  std::map<std::vector<std::string>, const SweepRun*> firsts;
  bool several = false;
  for (const SweepRun& run : plan.runs) {
    if (run.status != "done") continue;
    const auto [first, is_first] = firsts.try_emplace(run.values, &run);
    if (is_first) continue;
    several = true;
    if (!measured_alike(*first->second, run)) return false;
  }
  return several;
}

std::string sweep_csv(const SweepPlan& plan) {
  const std::vector<std::string> names = metric_names(plan);
  std::vector<std::string> headings = {"run"};
  for (const Varied& varied : plan.varied) headings.push_back(varied.key);
  headings.insert(headings.end(), {"seed", "status", "failure", "state_hash", "sim_time_s", "wall_time_s"});
  headings.insert(headings.end(), names.begin(), names.end());
  Csv csv(headings);
  for (const SweepRun& run : plan.runs) {
    csv.field(run.folder);
    for (const std::string& value : run.values) csv.field(value);
    csv.field(run.options.seed), csv.field(run.status), csv.field(run.failure), csv.field(run.state_hash);
    csv.field(run.sim_time), csv.field(run.wall_time);
    for (const std::string& name : names) {
      const auto value = run.metric(name);
      csv.field(value && std::isfinite(*value) ? fmt::format("{}", *value) : "");
    }
    csv.end_row();
  }
  return csv.text();
}

std::string sweep_table(const SweepPlan& plan) {
  std::vector<std::string> names = changing_metrics(plan);
  constexpr std::size_t most_columns = 6;
  if (names.size() > most_columns) names.resize(most_columns);
  std::vector<std::vector<std::string>> rows(1);
  for (const Varied& varied : plan.varied) rows[0].push_back(varied.key);
  rows[0].push_back("runs");
  rows[0].insert(rows[0].end(), names.begin(), names.end());
  std::vector<std::string> last;
  for (const SweepRun& first : plan.runs) {
    if (!rows.empty() && rows.size() > 1 && first.values == last) continue;
    last = first.values;
    rows.push_back(first.values);
    const auto same = [&](const SweepRun& run) { return run.values == first.values; };
    rows.back().push_back(std::to_string(std::count_if(
        plan.runs.begin(), plan.runs.end(), [&](const SweepRun& run) { return same(run) && run.status == "done"; })));
    for (const std::string& name : names) {
      const Estimate e = estimate_of(plan, name, same);
      rows.back().push_back(e.count == 0   ? "-"
                            : e.half_width ? fmt::format("{} +- {}", number(e.mean), number(*e.half_width, 2))
                                           : number(e.mean));
    }
  }
  return report::text_table(rows);
}

Result<std::vector<std::string>> write_plots(const fs::path& folder, const SweepPlan& plan) {
  std::vector<std::string> written;
  const auto write = [&](const std::string& name, const report::Chart& chart) {
    written.push_back(name);
    return write_file(folder / name, svg(chart)).ok();
  };
  const std::vector<std::string> names = changing_metrics(plan);
  if (names.empty() || plan.varied.empty()) return written;
  std::error_code error;
  fs::create_directories(folder / "plots", error);
  const std::size_t done_runs =
      std::count_if(plan.runs.begin(), plan.runs.end(), [](const SweepRun& run) { return run.status == "done"; });
  bool good = !error;
  for (std::size_t k = 0; k < plan.varied.size(); ++k) {
    const std::string title = fmt::format("{}: {} runs, means with 95 % confidence", plan.experiment, done_runs);
    std::vector<report::Panel> panels;
    for (const std::string& name : names) {
      panels.push_back(panel_of(plan, k, name));
      good = good && write(fmt::format("plots/{}_by_{}.svg", name, plan.varied[k].key), {title, {panels.back()}});
    }
    good = good && write(fmt::format("by_{}.svg", plan.varied[k].key), {title, panels});
  }
  if (!good) return Diagnostic{folder.string(), 0, "the plots cannot be written", "give another folder with --out DIR"};
  return written;
}

}  // namespace volvox::cli
