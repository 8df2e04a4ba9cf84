#include "volvox/cli/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace volvox::cli {
namespace {

constexpr const char* colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};
constexpr const char* dashes[] = {"", "7 3", "2 2.5", "9 3 2 3", "12 4", "4 4", "1 4"};
constexpr std::size_t styles = std::size(colours);

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

struct TextStyle {
  int size = 11;
  const char* anchor = "start";
  const char* weight = "normal";
  const char* colour = "#222";
};

std::string text(double x, double y, const std::string& words, const TextStyle& style = {}, double turn = 0) {
  const std::string rotate = turn != 0 ? fmt::format(" transform=\"rotate({:.0f} {:.1f} {:.1f})\"", turn, x, y) : "";
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"{}\" font-weight=\"{}\" "
      "fill=\"{}\"{}>{}</text>\n",
      x, y, style.size, style.anchor, style.weight, style.colour, rotate, escaped(words));
}

std::string line(double x1, double y1, double x2, double y2, const char* colour, double width = 1,
                 const std::string& dash = "") {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n", x1, y1,
      x2, y2, colour, width, dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash));
}

std::string document(double width, double height, const std::string& body) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n{2}</svg>\n",
      width, height, body);
}

// Ticks of one axis share their decimals: 0.0, 0.5, 1.0.
std::string tick_text(double value, double step) {
  const double largest = std::fabs(value);
  if (value != 0 && (largest >= 1e5 || step < 1e-4)) return fmt::format("{:.3g}", value);
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  return fmt::format("{:.{}f}", value == 0 ? 0.0 : value, decimals);
}

struct Range {
  double low = 1e300, high = -1e300;
  void add(double x) {
    if (!std::isfinite(x)) return;
    low = std::min(low, x), high = std::max(high, x);
  }
  // Room around the data, and around a single value.
  void widen(double part) {
    if (low > high) low = 0, high = 1;
    const double size = high - low > 1e-12 * std::max(std::fabs(low), std::fabs(high))
                            ? high - low
                            : std::max(1e-3, 0.2 * std::fabs(high));
    low -= part * size, high += part * size;
  }
};

struct Frame {
  double x, y, width, height;
  Range across, up;
  double at_x(double value) const { return x + width * (value - across.low) / (across.high - across.low); }
  double at_y(double value) const { return y + height * (1 - (value - up.low) / (up.high - up.low)); }
};

std::string axes(const Frame& f, const PlotPanel& panel) {
  std::string out;
  const auto ticks_y = nice_ticks(f.up.low, f.up.high, 5), ticks_x = nice_ticks(f.across.low, f.across.high, 6);
  for (const double tick : ticks_y) {
    out += line(f.x, f.at_y(tick), f.x + f.width, f.at_y(tick), "#e4e4e4");
    out +=
        text(f.x - 6, f.at_y(tick) + 4, tick_text(tick, ticks_y.size() > 1 ? ticks_y[1] - ticks_y[0] : 1), {11, "end"});
  }
  for (std::size_t i = 0; i < panel.x_names.size(); ++i) {
    const double at = f.at_x(static_cast<double>(i));
    out += line(at, f.y + f.height, at, f.y + f.height + 4, "#222") +
           text(at, f.y + f.height + 17, panel.x_names[i], {11, "middle"});
  }
  for (const double tick : ticks_x) {
    if (!panel.x_names.empty()) break;
    out += line(f.at_x(tick), f.y + f.height, f.at_x(tick), f.y + f.height + 4, "#222");
    out += text(f.at_x(tick), f.y + f.height + 17, tick_text(tick, ticks_x.size() > 1 ? ticks_x[1] - ticks_x[0] : 1),
                {11, "middle"});
  }
  out += line(f.x, f.y, f.x, f.y + f.height, "#222");
  out += line(f.x, f.y + f.height, f.x + f.width, f.y + f.height, "#222");
  out += text(f.x, f.y - 9, panel.title, {12, "start", "bold"});
  out += text(f.x + f.width / 2, f.y + f.height + 34, panel.x_label, {11, "middle"});
  out += text(f.x - 50, f.y + f.height / 2, panel.y_label, {11, "middle"}, -90);
  return out;
}

std::string curve(const Frame& f, const PlotSeries& series, std::size_t style) {
  std::string points;
  for (const auto& [x, y] : series.points)
    if (std::isfinite(x) && std::isfinite(y)) points += fmt::format("{:.1f},{:.1f} ", f.at_x(x), f.at_y(y));
  const std::string dash = dashes[style % styles];
  return fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.7\" stroke-linejoin=\"round\"{}/>\n",
      points, colours[style % styles], dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash));
}

// The band around a curve; where nothing lies between two points, a bar at each. And the points.
std::string band(const Frame& f, const PlotSeries& series, std::size_t style, bool between) {
  std::string upper, lower, out;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const auto [x, y] = series.points[i];
    const double half = series.half_widths[i];
    if (!std::isfinite(x) || !std::isfinite(y + half)) continue;
    upper += fmt::format("{:.1f},{:.1f} ", f.at_x(x), f.at_y(y + half));
    lower = fmt::format("{:.1f},{:.1f} ", f.at_x(x), f.at_y(y - half)) + lower;
    if (!between || series.points.size() == 1)
      out += line(f.at_x(x), f.at_y(y - half), f.at_x(x), f.at_y(y + half), colours[style % styles], 1.7);
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", f.at_x(x), f.at_y(y),
                       colours[style % styles]);
  }
  if (between)
    out = fmt::format("<polygon points=\"{}{}\" fill=\"{}\" fill-opacity=\"0.18\"/>\n", upper, lower,
                      colours[style % styles]) +
          out;
  return out;
}

// A little more than any of the fonts needs.
double text_width(const std::string& words, int size) { return 0.62 * size * static_cast<double>(words.size()); }

}  // namespace

std::vector<double> nice_ticks(double low, double high, int count) {
  std::vector<double> ticks;
  if (!(high > low) || count < 1) return ticks;
  const double rough = (high - low) / count, power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double nice : {1.0, 2.0, 5.0})
    if (nice * power >= rough * (1 - 1e-9)) {
      step = nice * power;
      break;
    }
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) ticks.push_back(k * step);
  return ticks;
}

std::string line_plots(const std::string& title, const std::vector<PlotPanel>& panels) {
  constexpr double panel_width = 400, panel_height = 230, left = 70, top = 84, inner_width = 310, inner_height = 150;
  const std::size_t columns = panels.size() > 1 ? 2 : 1, rows = (panels.size() + columns - 1) / columns;
  const double width = std::max(panel_width * static_cast<double>(columns), left + 1.12 * text_width(title, 15)) + 10;
  std::string body = text(left, 26, title, {15, "start", "bold"});
  double x = left;
  for (std::size_t s = 0; !panels.empty() && s < panels.front().series.size(); ++s) {
    const std::string dash = dashes[s % styles], &name = panels.front().series[s].name;
    if (name.empty()) continue;  // alone, it needs none
    body += line(x, 46, x + 30, 46, colours[s % styles], 1.7, dash) + text(x + 36, 50, name, {12});
    x += 36 + text_width(name, 12) + 24;
  }
  for (std::size_t p = 0; p < panels.size(); ++p) {
    Frame f{left + panel_width * static_cast<double>(p % columns),
            top + panel_height * static_cast<double>(p / columns),
            inner_width,
            inner_height,
            {},
            {}};
    const bool words = !panels[p].x_names.empty();
    for (const PlotSeries& series : panels[p].series)
      for (std::size_t i = 0; i < series.points.size(); ++i) {
        const double half = series.half_widths.empty() ? 0 : series.half_widths[i];
        f.across.add(series.points[i].first), f.up.add(series.points[i].second - half),
            f.up.add(series.points[i].second + half);
      }
    if (words) f.across.add(-0.5), f.across.add(static_cast<double>(panels[p].x_names.size()) - 0.5);
    f.across.widen(0), f.up.widen(0.06);
    if (f.across.high <= f.across.low) f.across.high = f.across.low + 1;
    body += axes(f, panels[p]);
    for (std::size_t s = 0; s < panels[p].series.size(); ++s) {
      const PlotSeries& series = panels[p].series[s];
      if (!series.half_widths.empty()) body += band(f, series, s, !words);
      if (!words) body += curve(f, series, s);
    }
  }
  return document(width, top + panel_height * static_cast<double>(rows), body);
}

std::string bar_plot(const std::string& title, const std::string& x_label, const std::vector<std::string>& series,
                     const std::vector<BarGroup>& groups, double mark, const std::string& mark_label) {
  constexpr double bar = 9, gap = 10, top = 84, inner_width = 420;
  double left = 80;
  for (const BarGroup& group : groups) left = std::max(left, text_width(group.name, 11) + 24);
  Range range;
  range.add(0), range.add(mark);
  for (const BarGroup& group : groups)
    for (const double value : group.values) range.add(value);
  range.high *= 1.05;
  const double group_height = bar * static_cast<double>(series.size()) + gap;
  const double inner_height = std::max(group_height, group_height * static_cast<double>(groups.size()));
  const Frame f{left, top, inner_width, inner_height, range, {0, 1}};
  std::string body = text(left, 26, title, {15, "start", "bold"});
  double x = left;
  for (std::size_t s = 0; s < series.size(); ++s) {
    body += fmt::format("<rect x=\"{:.1f}\" y=\"38\" width=\"14\" height=\"11\" fill=\"{}\"/>\n", x,
                        colours[(s + 1) % styles]) +
            text(x + 20, 48, series[s], {12});
    x += 20 + text_width(series[s], 12) + 20;
  }
  body += line(x, 44, x + 24, 44, "#222", 1.2, "4 3") + text(x + 30, 48, mark_label, {12});
  const double legend_end = x + 30 + text_width(mark_label, 12);
  const auto ticks = nice_ticks(range.low, range.high, 6);
  for (const double tick : ticks) {
    body += line(f.at_x(tick), top - 8, f.at_x(tick), top + inner_height, "#e4e4e4");
    body += text(f.at_x(tick), top + inner_height + 17, tick_text(tick, ticks.size() > 1 ? ticks[1] - ticks[0] : 1),
                 {11, "middle"});
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const double y = top + group_height * static_cast<double>(g);
    body += text(left - 10, y + bar * static_cast<double>(series.size()) / 2 + 4, groups[g].name, {11, "end"});
    for (std::size_t s = 0; s < groups[g].values.size(); ++s) {
      const double end = std::max(f.at_x(0) + 0.8, f.at_x(groups[g].values[s]));  // a hair where there is nothing
      body +=
          fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", f.at_x(0),
                      y + bar * static_cast<double>(s), end - f.at_x(0), bar - 1, colours[(s + 1) % styles]);
    }
  }
  body += line(f.at_x(mark), top - 8, f.at_x(mark), top + inner_height, "#222", 1.2, "4 3");
  body += line(left, top - 8, left, top + inner_height, "#222") +
          line(left, top + inner_height, left + inner_width, top + inner_height, "#222");
  body += text(left + inner_width / 2, top + inner_height + 36, x_label, {11, "middle"});
  return document(std::max({left + inner_width + 30, legend_end + 20, left + 1.12 * text_width(title, 15) + 20}),
                  top + inner_height + 50, body);
}

}  // namespace volvox::cli
