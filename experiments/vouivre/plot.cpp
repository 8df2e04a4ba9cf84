#include "plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "flood.h"
#include "ticks.h"

namespace volvox::experiments::vouivre {

std::string color_of_curve(std::size_t i) {
  // Distinct also to those who cannot tell red from green (after Okabe and Ito).
  static constexpr const char* colors[] = {"#000000", "#999999", "#d55e00", "#e69f00",
                                           "#0072b2", "#56b4e9", "#009e73", "#cc79a7"};
  return colors[i % 8];
}

std::vector<Point> steps(const FloodResult& result) {
  std::vector<double> times;
  for (const double t : result.at)
    if (t >= 0) times.push_back(t);
  std::sort(times.begin(), times.end());
  std::vector<Point> points;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (i + 1 == times.size() || times[i + 1] > times[i]) points.push_back({times[i], static_cast<double>(i + 1)});
  return points;
}

std::vector<Point> median_steps(const std::vector<FloodResult>& results) {
  // The k-th catom is coloured at the median of the times at which each flood coloured its k-th.
  std::vector<std::vector<double>> sorted;
  for (const FloodResult& result : results) {
    std::vector<double>& times = sorted.emplace_back();
    for (const double t : result.at) times.push_back(t >= 0 ? t : std::numeric_limits<double>::infinity());
    std::sort(times.begin(), times.end());
  }
  std::vector<Point> points;
  for (std::size_t k = 0; !sorted.empty() && k < sorted[0].size(); ++k) {
    std::vector<double> times;
    for (const auto& flood : sorted) times.push_back(flood[k]);
    const double t = median(std::move(times));
    if (!std::isfinite(t)) break;
    if (!points.empty() && points.back().x == t) points.back().y = static_cast<double>(k + 1);
    else points.push_back({t, static_cast<double>(k + 1)});
  }
  return points;
}

namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

constexpr const char* header =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
    "font-family=\"Helvetica, Arial, sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";

}  // namespace

std::string svg(const Chart& chart) {
  constexpr double width = 800, height = 470, left = 70, right = 250, top = 46, bottom = 78;
  constexpr double w = width - left - right, h = height - top - bottom;
  double x_low = chart.log_x ? 1e300 : 0, x_high = 0;
  for (const Curve& curve : chart.curves)
    for (const Point& p : curve.points) {
      x_high = std::max(x_high, p.x);
      if (chart.log_x && p.x > 0) x_low = std::min(x_low, p.x);
    }
  if (!(x_high > 0)) x_low = chart.log_x ? 0.1 : 0, x_high = 1;  // nothing to show
  if (chart.log_x) {
    x_low = std::pow(10.0, std::floor(std::log10(x_low)));
    x_high = std::pow(10.0, std::ceil(std::log10(x_high)));
  } else {
    x_high *= 1.03;
  }
  const auto px = [&](double x) {
    if (!chart.log_x) return left + w * (x - x_low) / (x_high - x_low);
    return left + w * std::log10(std::max(x, x_low) / x_low) / std::log10(x_high / x_low);
  };
  const auto py = [&](double y) { return top + h * (1 - y / (1.04 * chart.y_top)); };

  std::string out = fmt::format(fmt::runtime(header), width, height);
  out += fmt::format("<text x=\"{}\" y=\"26\" font-size=\"16\" font-weight=\"bold\">{}</text>\n", left,
                     escaped(chart.title));
  const auto grid = [&](double x1, double y1, double x2, double y2) {
    out += fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"#e4e4e4\"/>\n", x1, y1, x2, y2);
  };
  const auto label = [&](double x, double y, const char* anchor, const std::string& text) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"12\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                       escaped(text));
  };
  const double y_step = tick_step(chart.y_top, 5);
  for (double y = 0; y <= chart.y_top * 1.0001; y += y_step) {
    grid(left, py(y), left + w, py(y));
    label(left - 8, py(y) + 4, "end", fmt::format("{:g}", y));
  }
  if (chart.log_x) {
    for (double x = x_low; x <= x_high * 1.0001; x *= 10) {
      grid(px(x), top, px(x), top + h);
      label(px(x), top + h + 18, "middle", fmt::format("{:g}", x));
    }
  } else {
    const double x_step = tick_step(x_high - x_low, 7);
    for (double x = 0; x <= x_high; x += x_step) {
      grid(px(x), top, px(x), top + h);
      label(px(x), top + h + 18, "middle", fmt::format("{:g}", x));
    }
  }
  out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#333333\"/>\n", left,
                     top, w, h);
  label(left + w / 2, top + h + 40, "middle", chart.x_label);
  out += fmt::format(
      "<text transform=\"translate(20 {:.1f}) rotate(-90)\" font-size=\"12\" text-anchor=\"middle\">{}</text>\n",
      top + h / 2, escaped(chart.y_label));
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const Curve& curve = chart.curves[i];
    const double y_key = top + 12 + 22 * static_cast<double>(i);
    out +=
        fmt::format("<path d=\"M{} {}h22\" stroke=\"{}\" stroke-width=\"2.2\"/>\n", left + w + 14, y_key, curve.color);
    label(left + w + 42, y_key + 4, "start", curve.label);
    if (curve.points.empty()) continue;
    std::string path;
    double x_last = 0, y_last = 0;
    for (const Point& p : curve.points) {
      const double x = px(p.x), y = py(p.y);
      if (path.empty()) path = fmt::format("M{:.2f} {:.2f}", x, y);
      else if (chart.straight) path += fmt::format("L{:.2f} {:.2f}", x, y);
      else if (x - x_last > 0.005 || y_last - y > 0.005) path += fmt::format("H{:.2f}V{:.2f}", x, y);
      x_last = x, y_last = y;
    }
    // It stays what it is to the end.
    if (!chart.straight) path += fmt::format("H{:.2f}", left + w);
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" stroke-linejoin=\"round\"/>\n",
                       path, curve.color);
  }
  if (!chart.note.empty())
    out += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"11\" fill=\"#555555\">{}</text>\n", left, height - 12,
                       escaped(chart.note));
  return out + "</svg>\n";
}

std::string board_svg(const Plan& plan, const FloodResult& result, int phases) {
  int columns = 0, rows = 0;
  for (const Cell& cell : plan.cells) columns = std::max(columns, cell.x + 1), rows = std::max(rows, cell.y + 1);
  constexpr double gap = 26, top = 44, widest = 1200;  // what a page holds
  const int across = std::min(phases, 3), down = (phases + across - 1) / across;
  // Catoms are drawn as large as they fit; those of the cross overlap, so that they are seen at all.
  const double pitch = std::min(11.0, (widest - gap) / across / columns - gap / columns);
  const bool tiny = pitch < 4;
  const double radius = tiny ? 1.6 : 5.0 * pitch / 11;
  const double board_w = pitch * columns, board_h = pitch * rows + 18;
  const double last = *std::max_element(result.at.begin(), result.at.end());
  std::string out = fmt::format(fmt::runtime(header), std::round(gap + across * (board_w + gap)),
                                std::round(top + down * (board_h + gap) + 14));
  out += fmt::format("<text x=\"{}\" y=\"27\" font-size=\"15\" font-weight=\"bold\">Simulation {}: {}</text>\n", gap,
                     plan.name, escaped(plan.description));
  for (int phase = 0; phase < phases; ++phase) {
    const double until = phases > 1 ? last * phase / (phases - 1) : last;
    const double x0 = gap + (phase % across) * (board_w + gap), y0 = top + (phase / across) * (board_h + gap);
    const auto coloured =
        std::count_if(result.at.begin(), result.at.end(), [&](double t) { return t >= 0 && t <= until; });
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\">t = {:.2f} s, {} of {}</text>\n", x0, y0 + 10,
                       until, coloured, plan.cells.size());
    for (std::size_t i = 0; i < plan.cells.size(); ++i) {
      const double x = x0 + pitch * (plan.cells[i].x + 0.5),
                   y = y0 + 18 + pitch * (rows - plan.cells[i].y - 0.5);  // y up
      std::string fill = tiny ? "#d4d4d4" : "#f2f2f2";
      if (result.at[i] >= 0 && result.at[i] <= until) {
        const mind::Light c = robots::Flood::color_of(result.by[i]);
        const auto byte = [](double v) { return static_cast<int>(std::lround(255 * v)); };
        fill = fmt::format("#{:02x}{:02x}{:02x}", byte(c.red), byte(c.green), byte(c.blue));
      }
      out += fmt::format(
          "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.3g}\" fill=\"{}\" stroke=\"#b8b8b8\" stroke-width=\"{:.3g}\"/>\n",
          x, y, radius, fill, tiny ? 0 : 0.1 * radius);
      if (plan.relays[i] || static_cast<int>(i) == plan.source)
        out += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.3g}\" fill=\"#000000\"/>\n", x, y,
                           (static_cast<int>(i) == plan.source ? 0.68 : 0.4) * radius * (tiny ? 2 : 1));
    }
  }
  out += fmt::format(
      "<text x=\"{}\" y=\"{:.1f}\" font-size=\"11\" fill=\"#555555\">Coloured by the last re-transmitter; black: "
      "relays, the largest one the source.</text>\n",
      gap, top + down * (board_h + gap));
  return out + "</svg>\n";
}

Result<void> write_text(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.flush();
  if (!out)
    return Diagnostic{file.string(), 0, "the file cannot be written",
                      "give a folder that can be written, with --out DIR"};
  return {};
}

}  // namespace volvox::experiments::vouivre
