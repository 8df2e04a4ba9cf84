// Curves with marks as SVG, the same bytes every time.
#pragma once

#include <string>
#include <vector>

namespace volvox::experiments::roles {

struct ChartPoint {
  double x = 0, y = 0;
  double low = 0, high = 0;  // a bar from one to the other; equal: none
};

struct ChartCurve {
  std::string label;
  std::string color;  // "#0072b2"
  std::vector<ChartPoint> points;
  bool dashed = false;  // without marks: what is expected
};

struct LineChart {
  std::string title, x_label, y_label, note;
  std::vector<ChartCurve> curves;
};

std::string svg(const LineChart& chart);

}  // namespace volvox::experiments::roles
