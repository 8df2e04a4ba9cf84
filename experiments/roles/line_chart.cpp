#include "line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ticks.h"

namespace volvox::experiments::roles {

std::string svg(const LineChart& chart) {
  constexpr double width = 760, height = 400, left = 70, right = 220, top = 44, bottom = 76;
  constexpr double w = width - left - right, h = height - top - bottom;
  double x_top = 1e-9, y_top = 1e-9;
  for (const ChartCurve& curve : chart.curves)
    for (const ChartPoint& p : curve.points) x_top = std::max(x_top, p.x), y_top = std::max({y_top, p.y, p.high});
  x_top *= 1.04, y_top *= 1.08;
  const auto px = [&](double x) { return left + w * x / x_top; };
  const auto py = [&](double y) { return top + h * (1 - y / y_top); };

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"Helvetica, Arial, sans-serif\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n<text x=\"{2}\" y=\"26\" font-size=\"16\" "
      "font-weight=\"bold\">{3}</text>\n",
      width, height, left, chart.title);
  const auto words = [&](double x, double y, const char* anchor, const std::string& text) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"12\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                       text);
  };
  const auto line = [&](double x1, double y1, double x2, double y2, const std::string& color) {
    out += fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2, y2, color);
  };
  for (double step = tick_step(x_top, 7), x = 0; x <= x_top; x += step)
    line(px(x), top, px(x), top + h, "#e4e4e4"), words(px(x), top + h + 18, "middle", fmt::format("{:g}", x));
  for (double step = tick_step(y_top, 5), y = 0; y <= y_top; y += step)
    line(left, py(y), left + w, py(y), "#e4e4e4"), words(left - 8, py(y) + 4, "end", fmt::format("{:g}", y));
  out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#333333\"/>\n", left,
                     top, w, h);
  words(left + w / 2, top + h + 38, "middle", chart.x_label);
  out += fmt::format(
      "<text transform=\"translate(20 {:.1f}) rotate(-90)\" font-size=\"12\" text-anchor=\"middle\">{}</text>\n",
      top + h / 2, chart.y_label);
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const ChartCurve& curve = chart.curves[i];
    const double key = top + 12 + 22 * static_cast<double>(i);
    const std::string style = curve.dashed ? " stroke-dasharray=\"6 4\"" : "";
    out += fmt::format("<path d=\"M{} {}h22\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", left + w + 14, key, curve.color,
                       style);
    words(left + w + 42, key + 4, "start", curve.label);
    std::string path;
    for (const ChartPoint& p : curve.points)
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", px(p.x), py(p.y));
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", path, curve.color, style);
    for (const ChartPoint& p : curve.points) {
      if (p.high > p.low) line(px(p.x), py(p.low), px(p.x), py(p.high), curve.color);
      if (!curve.dashed)
        out +=
            fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", px(p.x), py(p.y), curve.color);
    }
  }
  out += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"11\" fill=\"#555555\">{}</text>\n", left, height - 12,
                     chart.note);
  return out + "</svg>\n";
}

}  // namespace volvox::experiments::roles
