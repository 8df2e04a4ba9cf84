#include "volvox/sim/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "volvox/base/hash.h"

namespace volvox::sim {
namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t most_picture_bytes = 20 << 20;  // of all pictures together
constexpr std::size_t most_points = 1000;                // of a curve: more cannot be seen

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  return out;
}

// As the terminal has it: counts with all their digits.
std::string number(double value) {
  if (!std::isfinite(value)) return "–";
  return std::fabs(value) < 1e15 && value == std::round(value) ? fmt::format("{:.0f}", value)
                                                               : fmt::format("{:.4g}", value);
}

std::string base64(const std::string& bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? digits[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

// 1, 2 or 5 times a power of ten, so that about four of them span the range.
double tick_step(double range) {
  if (!(range > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(range / 4)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (range / (factor * power) <= 5) return factor * power;
  return 10 * power;
}

struct Curve {
  std::string name, color;
  std::vector<double> values;
};

struct Range {
  double low = 1e300, high = -1e300;
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void widen() {
    if (low > high) low = 0, high = 1;
    if (high - low < 1e-12 * std::max(1.0, std::fabs(high))) low -= 0.5, high += 0.5;
  }
};

// Curves over x, as SVG. With `same_scale` a metre is as long in y as in x.
std::string plot(const std::string& title, const std::string& x_label, const std::vector<double>& x,
                 const std::vector<Curve>& curves, bool same_scale = false) {
  constexpr double width = 440, height = 240, left = 58, right = 14, top = 30, bottom = 38;
  Range across, up;
  for (const double v : x) across.add(v);
  for (const Curve& curve : curves)
    for (const double v : curve.values) up.add(v);
  across.widen(), up.widen();
  double x_scale = (width - left - right) / (across.high - across.low),
         y_scale = (height - top - bottom) / (up.high - up.low);
  if (same_scale) {
    x_scale = y_scale = std::min(x_scale, y_scale);
    const double more_x = (width - left - right) / x_scale - (across.high - across.low),
                 more_y = (height - top - bottom) / y_scale - (up.high - up.low);
    across.low -= more_x / 2, across.high += more_x / 2, up.low -= more_y / 2, up.high += more_y / 2;
  }
  const auto px = [&](double v) { return left + (v - across.low) * x_scale; };
  const auto py = [&](double v) { return height - bottom - (v - up.low) * y_scale; };
  std::string svg = fmt::format(
      R"(<figure><svg viewBox="0 0 {} {}" role="img" aria-label="{}"><text class="title" x="{}" y="16">{}</text>)",
      width, height, escape(title), left, escape(title));
  const auto text = [&](double at_x, double at_y, const char* anchor, const std::string& words) {
    svg += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", at_x, at_y, anchor, escape(words));
  };
  for (double step = tick_step(across.high - across.low), v = std::ceil(across.low / step) * step;
       v <= across.high + 1e-9 * step; v += step) {
    svg +=
        fmt::format(R"(<line class="grid" x1="{0:.1f}" y1="{1}" x2="{0:.1f}" y2="{2}"/>)", px(v), top, height - bottom);
    text(px(v), height - bottom + 14, "middle", number(std::fabs(v) < 1e-9 * step ? 0 : v));
  }
  for (double step = tick_step(up.high - up.low), v = std::ceil(up.low / step) * step; v <= up.high + 1e-9 * step;
       v += step) {
    svg +=
        fmt::format(R"(<line class="grid" x1="{1}" y1="{0:.1f}" x2="{2}" y2="{0:.1f}"/>)", py(v), left, width - right);
    text(left - 6, py(v) + 3.5, "end", number(std::fabs(v) < 1e-9 * step ? 0 : v));
  }
  text(width - right, height - 6, "end", x_label);
  const std::size_t stride = std::max<std::size_t>(1, x.size() / most_points);
  // The legend ends at the right edge: it leaves the title the most room.
  const auto legend_width = [](const Curve& curve) { return 30 + 6.0 * static_cast<double>(curve.name.size()); };
  double legend = width - right + 12;
  for (const Curve& curve : curves) legend -= legend_width(curve);
  for (const Curve& curve : curves) {
    std::string points;
    for (std::size_t i = 0; i < x.size(); i += stride)
      if (std::isfinite(curve.values[i])) points += fmt::format("{:.1f},{:.1f} ", px(x[i]), py(curve.values[i]));
    svg += fmt::format(R"(<polyline points="{}" style="stroke:{}"/>)", points, curve.color);
    if (curves.size() > 1) {
      svg += fmt::format(R"(<line x1="{}" y1="12" x2="{}" y2="12" style="stroke:{};stroke-width:2"/>)", legend,
                         legend + 14, curve.color);
      text(legend + 18, 16, "start", curve.name);
      legend += legend_width(curve);
    }
  }
  return svg + "</svg></figure>\n";
}

std::string plots(const RunReport& report) {
  std::vector<double> time, x, y, z, energy, lift, organisms, connections;
  for (const TimePoint& p : report.history) {
    time.push_back(p.time);
    x.push_back(p.centre_of_mass.x), y.push_back(p.centre_of_mass.y), z.push_back(p.centre_of_mass.z);
    energy.push_back(p.kinetic_energy), lift.push_back(p.lift);
    organisms.push_back(static_cast<double>(p.organisms)), connections.push_back(static_cast<double>(p.connections));
  }
  if (time.size() < 2) return "";
  const std::string blue = "#1f5fbf", orange = "#c2570c", green = "#2b8a3e";
  const auto changes = [](const std::vector<double>& values) {
    return std::any_of(values.begin(), values.end(), [&](double v) { return v != values.front(); });
  };
  // What never changes is no plot: a run over a network alone moves nothing.
  std::string out;
  if (changes(x) || changes(y))
    out += plot("Path of the centre of mass, from above: y (m)", "x (m)", x, {{"", blue, y}}, true);
  if (changes(x) || changes(y) || changes(z))
    out += plot("Centre of mass (m)", "time (s)", time, {{"x", blue, x}, {"y", orange, y}, {"z", green, z}});
  if (changes(lift)) out += plot("Highest link (m)", "time (s)", time, {{"", blue, lift}});
  if (changes(energy)) out += plot("Kinetic energy (J)", "time (s)", time, {{"", blue, energy}});
  if (changes(organisms) || changes(connections))
    out += plot("Organisms and connections", "time (s)", time,
                {{"organisms", blue, organisms}, {"connections", orange, connections}});
  return out.empty() ? "" : "<h2>Over time</h2>\n<div class=\"plots\">\n" + out + "</div>\n";
}

std::string pacing(const RunReport& report) {
  if (!report.pacing) return "";
  const PacingReport& p = *report.pacing;
  std::string out = "<h2>Real time</h2>\n<table><thead><tr><th>ms</th>";
  for (const char* heading : {"least", "quarter", "median", "3/4", "p99", "p99.9", "most"})
    out += fmt::format("<th>{}</th>", heading);
  out += "</tr></thead><tbody>\n";
  for (const auto& [name, times] : {std::pair{"tick", &p.tick_times}, {"woken late by", &p.wake_delays}}) {
    out += fmt::format("<tr><td>{}</td>", name);
    for (const double part : {0.0, 0.25, 0.5, 0.75, 0.99, 0.999, 1.0})
      out += fmt::format("<td class=\"number\">{}</td>", number(times->quantile(part) * 1e3));
    out += "</tr>\n";
  }
  out += fmt::format(
      "</tbody></table>\n<p>{} of {} ticks were late, the worst by {:.3g} ms; at the end the run was {:.3g} ms behind. "
      "Scheduling: {}; memory: {}.</p>\n",
      p.late_ticks, p.ticks, p.worst_lateness * 1e3, p.drift * 1e3, escape(p.scheduling), escape(p.memory));
  return out + "<figure class=\"pacing\">" +
         box_plot(fmt::format("Tick times, {} ticks", p.ticks), "box: quartiles; cross: outlier",
                  {p.tick_times.box("tick"), p.wake_delays.box("woken late by")},
                  {{p.tick_length, fmt::format("length of a tick: {:.4g} ms", p.tick_length * 1e3)}}) +
         "</figure>\n";
}

std::string metrics_table(const RunReport& report) {
  const auto& metrics = report.metrics.all();
  const bool paper = std::any_of(metrics.begin(), metrics.end(), [](const Metric& m) { return m.paper.has_value(); });
  std::string out = "<h2>Metrics</h2>\n<table><thead><tr><th>metric</th><th>value</th>";
  if (paper) out += "<th>paper</th><th>difference</th>";
  out += "<th>what it is</th></tr></thead><tbody>\n";
  for (const Metric& m : metrics) {
    out += fmt::format("<tr><td>{}</td><td class=\"number\">{}</td>", escape(m.name), number(m.value));
    if (paper)
      out += fmt::format(
          "<td class=\"number\">{}</td><td class=\"number\">{}</td>", m.paper ? number(*m.paper) : "",
          m.paper && *m.paper != 0 ? fmt::format("{:+.1f} %", 100 * (m.value - *m.paper) / std::fabs(*m.paper)) : "");
    out += fmt::format("<td>{}</td></tr>\n", escape(m.note));
  }
  return out + "</tbody></table>\n";
}

const char* media_type(const fs::path& picture) {
  const std::string ending = picture.extension().string();
  return ending == ".png" ? "png" : ending == ".svg" ? "svg+xml" : "jpeg";
}

// What the experiment drew, and what people put beside it.
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
    std::ifstream in(file, std::ios::binary);
    const std::string content((std::istreambuf_iterator<char>(in)), {});
    out += fmt::format(
        "<figure class=\"picture\"><img alt=\"{0}\" "
        "src=\"data:image/{1};base64,{2}\"><figcaption>{0}</figcaption></figure>\n",
        escape(file.filename().string()), media_type(file), base64(content));
  }
  return out.empty() ? "" : "<h2>Pictures</h2>\n" + out;
}

std::string settings_table(const RunReport& report) {
  std::string out = "<h2>Settings</h2>\n<table><tbody>\n";
  const auto row = [&](const std::string& name, const std::string& value) {
    out += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escape(name), escape(value));
  };
  for (const auto& [name, value] : report.settings) row(name, value);
  row("engine", report.engine + (report.engine_settings.empty() ? "" : " (" + report.engine_settings + ")"));
  row("dt", report.dt.text() + " s");
  row("seed", std::to_string(report.seed));
  row("threads", std::to_string(report.threads));
  row("state hash", hash_text(report.state_hash));
  row("reproducible", report.inputs == 0 ? "yes: the same seed gives the same bits"
                                         : fmt::format("with its {} recorded inputs", report.inputs));
  return out + "</tbody></table>\n";
}

constexpr const char* style = R"(
body { font: 15px/1.5 system-ui, sans-serif; color: #1d2530; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.summary { color: #5b6775; margin-top: .2rem; } .failed { color: #b3261e; font-weight: 600; }
table { border-collapse: collapse; } th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid #e3e8ee; vertical-align: top; }
th { color: #5b6775; font-weight: 600; } .number { text-align: right; font-variant-numeric: tabular-nums; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 1rem; }
figure { margin: 0; } figure.pacing { max-width: 34rem; } figure.picture { margin-bottom: 1rem; } img { max-width: 100%; border-radius: 6px; } figcaption { color: #5b6775; font-size: .85rem; }
svg { width: 100%; height: auto; } svg text { font: 11px system-ui, sans-serif; fill: #5b6775; } svg .title { font-size: 12.5px; font-weight: 600; fill: #1d2530; }
svg .grid { stroke: #e3e8ee; } svg polyline { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
.warning { white-space: pre-line; }
@media print { body { margin: 0; } }
)";

}  // namespace

std::string report_html(const RunReport& report, const fs::path& folder) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\n<meta name=\"viewport\" "
      "content=\"width=device-width\">"
      "<style>{}</style></head><body>\n<h1>{}</h1>\n",
      escape(report.experiment), style, escape(report.experiment));
  out +=
      fmt::format("<p class=\"summary\">{} modules, {:.4g} s simulated in {:.3g} s ({:.3g} x real time), seed {}</p>\n",
                  report.modules, report.sim_time, report.wall_time, report.real_time_factor(), report.seed);
  if (report.status != "done")
    out += fmt::format("<p class=\"failed\">The run {}: {}</p>\n", escape(report.status), escape(report.failure));
  out += metrics_table(report) + pacing(report) + plots(report) + pictures(folder) + settings_table(report);
  if (!report.warnings.empty()) out += "<h2>Warnings</h2>\n";
  for (const std::string& warning : report.warnings)
    out += fmt::format("<p class=\"warning\">{}</p>\n", escape(warning));
  return out + "</body></html>\n";
}

}  // namespace volvox::sim
