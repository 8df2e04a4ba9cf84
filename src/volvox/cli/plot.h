// Plots as SVG, written by hand: line plots over time in panels, and bars. Colours are told apart
// by the colour-blind too (Okabe and Ito), and lines by their dashes.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace volvox::cli {

struct PlotSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;
  std::vector<double> half_widths = {};  // of a band around the curve, by point; empty: none. Points are marked then.
};

struct PlotPanel {
  std::string title;             // "Lift"
  std::string x_label, y_label;  // with their units: "time (s)"
  std::vector<PlotSeries> series;
  std::vector<std::string> x_names = {};  // words instead of numbers: x is their index, and nothing lies between two
};

// Panels in two columns under one title, with one legend: the series of all panels are the same.
std::string line_plots(const std::string& title, const std::vector<PlotPanel>& panels);

struct BarGroup {
  std::string name;
  std::vector<double> values;  // by series
};

// Horizontal bars, a group a row, with a dashed line at `mark`, which the legend explains.
std::string bar_plot(const std::string& title, const std::string& x_label, const std::vector<std::string>& series,
                     const std::vector<BarGroup>& groups, double mark, const std::string& mark_label);

// The multiples of 1, 2 or 5 times a power of ten that divide a range into about `count` parts.
std::vector<double> nice_ticks(double low, double high, int count);

}  // namespace volvox::cli
