#include "volvox/report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/text.h"
#include "volvox/report/chart.h"
#include "volvox/report/page.h"
#include "volvox/report/table.h"

namespace volvox::report {
namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t most_picture_bytes = 20 << 20;  // of all pictures together

std::string plots(const sim::RunReport& report) {
  if (report.history.size() < 2) return "";
  const auto curve = [&](const std::string& label, const auto& value_of, const auto& x_of) {
    Curve made{label, {}};
    for (const sim::TimePoint& p : report.history) made.points.push_back({x_of(p), static_cast<double>(value_of(p))});
    return made;
  };
  const auto time = [](const sim::TimePoint& p) { return p.time; };
  const auto x = [](const sim::TimePoint& p) { return p.centre_of_mass.x; };
  const auto y = [](const sim::TimePoint& p) { return p.centre_of_mass.y; };
  const auto z = [](const sim::TimePoint& p) { return p.centre_of_mass.z; };
  const auto lift = [](const sim::TimePoint& p) { return p.lift; };
  const auto energy = [](const sim::TimePoint& p) { return p.kinetic_energy; };
  const auto organisms = [](const sim::TimePoint& p) { return p.organisms; };
  const auto connections = [](const sim::TimePoint& p) { return p.connections; };
  const auto changes = [&](const auto& value_of) {
    return std::any_of(report.history.begin(), report.history.end(),
                       [&](const sim::TimePoint& p) { return value_of(p) != value_of(report.history.front()); });
  };
  std::string out;
  const auto add = [&](const std::string& title, const std::string& x_label, const std::string& y_label,
                       std::vector<Curve> curves, bool same_scale = false) {
    Panel panel{"", {x_label}, {y_label}, std::move(curves)};
    panel.same_scale = same_scale;
    out += "<figure>" + svg(Chart{title, {std::move(panel)}, "", 370, 170}, true) + "</figure>\n";
  };
  // A constant quantity gets no plot: in a run of a network alone nothing moves.
  if (changes(x) || changes(y))
    add("Path of the centre of mass, from above", "x (m)", "y (m)", {curve("", y, x)}, true);
  if (changes(x) || changes(y) || changes(z))
    add("Centre of mass", "time (s)", "position (m)", {curve("x", x, time), curve("y", y, time), curve("z", z, time)});
  if (changes(lift)) add("Highest link", "time (s)", "height (m)", {curve("", lift, time)});
  if (changes(energy)) add("Kinetic energy", "time (s)", "energy (J)", {curve("", energy, time)});
  if (changes(organisms) || changes(connections))
    add("Organisms and connections", "time (s)", "number",
        {curve("organisms", organisms, time), curve("connections", connections, time)});
  return out.empty() ? "" : "<h2>Over time</h2>\n<div class=\"plots\">\n" + out + "</div>\n";
}

std::string pacing(const sim::RunReport& report) {
  if (!report.pacing) return "";
  const sim::PacingReport& p = *report.pacing;
  Rows rows = {{"ms", "least", "quarter", "median", "3/4", "p99", "p99.9", "most"}};
  for (const auto& [name, times] : {std::pair{"tick", &p.tick_times}, {"woken late by", &p.wake_delays}}) {
    rows.push_back({name});
    for (const double part : {0.0, 0.25, 0.5, 0.75, 0.99, 0.999, 1.0})
      rows.back().push_back(number(times->quantile(part) * 1e3));
  }
  const Chart chart = time_boxes(fmt::format("Tick times, {} ticks", p.ticks), "box: quartiles; cross: outlier",
                                 {p.tick_times.box("tick"), p.wake_delays.box("woken late by")},
                                 {p.tick_length, fmt::format("length of a tick: {:.4g} ms", p.tick_length * 1e3)});
  return fmt::format(
      "<h2>Real time</h2>\n{}<p>{} of {} ticks were late, the worst by {:.3g} ms; at the end the run was {:.3g} ms "
      "behind. Scheduling: {}; memory: {}.</p>\n<figure class=\"pacing\">{}</figure>\n",
      html_table(rows), p.late_ticks, p.ticks, p.worst_lateness * 1e3, p.drift * 1e3, xml_escaped(p.scheduling),
      xml_escaped(p.memory), svg(chart, true));
}

std::string metrics_table(const sim::RunReport& report) {
  const auto& metrics = report.metrics.all();
  const bool paper =
      std::any_of(metrics.begin(), metrics.end(), [](const sim::Metric& m) { return m.paper.has_value(); });
  Rows rows = {{"metric", "value"}};
  if (paper) rows[0].insert(rows[0].end(), {"paper", "difference"});
  rows[0].push_back("what it is");
  for (const sim::Metric& m : metrics) {
    rows.push_back({m.name, number(m.value)});
    if (paper) {
      rows.back().push_back(m.paper ? number(*m.paper) : "");
      rows.back().push_back(m.paper && *m.paper != 0 && std::isfinite(m.value)
                                ? fmt::format("{:+.1f} %", 100 * (m.value - *m.paper) / std::fabs(*m.paper))
                                : "");
    }
    rows.back().push_back(m.note);
  }
  return "<h2>Metrics</h2>\n" + html_table(rows);
}

// The pictures of the experiment, and those that users put into the folder.
std::string pictures(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string ending = entry->path().extension().string();
    if (ending == ".png" || ending == ".jpg" || ending == ".jpeg" || ending == ".svg") files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  std::string out;
  std::uintmax_t bytes = 0;
  for (const fs::path& file : files) {
    const std::uintmax_t size = fs::file_size(file, error);
    if (error || (bytes += size) > most_picture_bytes) break;
    out += html_picture(file, file.filename().string());
  }
  return out.empty() ? "" : "<h2>Pictures</h2>\n" + out;
}

std::string settings_table(const sim::RunReport& report) {
  Rows rows = {{}};
  for (const auto& [name, value] : report.settings) rows.push_back({name, value});
  rows.push_back(
      {"engine", report.engine + (report.engine_settings.empty() ? "" : " (" + report.engine_settings + ")")});
  rows.push_back({"dt", report.dt.text() + " s"});
  rows.push_back({"seed", std::to_string(report.seed)});
  rows.push_back({"threads", std::to_string(report.threads)});
  rows.push_back({"state hash", hash_text(report.state_hash)});
  rows.push_back({"reproducible", report.clock_decided ? "no: the clock decided what happened (docs/real_time.md)"
                                  : report.inputs == 0 ? "yes: the same seed gives the same bits"
                                                       : fmt::format("with its {} recorded inputs", report.inputs)});
  return "<h2>Settings</h2>\n" + html_table(rows);
}

}  // namespace

std::string report_html(const sim::RunReport& report, const fs::path& folder) {
  std::string body =
      fmt::format("<p class=\"summary\">{} modules, {:.4g} s simulated in {:.3g} s ({:.3g} x real time), seed {}</p>\n",
                  report.modules, report.sim_time, report.wall_time, report.real_time_factor(), report.seed);
  if (report.restored) {
    body += fmt::format("<p>It began at {:.4g} s, with the snapshot {}.</p>\n", report.restored->time,
                        xml_escaped(report.restored->file));
    for (const std::string& difference : report.restored->differences)
      body += fmt::format("<p class=\"warning\">Since the snapshot: {}</p>\n", xml_escaped(difference));
  }
  if (report.status != "done")
    body += fmt::format("<p class=\"failed\">The run {}: {}</p>\n", xml_escaped(report.status),
                        xml_escaped(report.failure));
  body += metrics_table(report) + pacing(report) + plots(report) + pictures(folder) + settings_table(report);
  if (!report.warnings.empty()) body += "<h2>Warnings</h2>\n";
  for (const std::string& warning : report.warnings)
    body += fmt::format("<p class=\"warning\">{}</p>\n", xml_escaped(warning));
  return html_page(report.experiment, body);
}

}  // namespace volvox::report
