// Curves and boards as SVG, written by us, the same bytes every time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "flood_run.h"

namespace volvox::experiments::vouivre {

struct Point {
  double x = 0, y = 0;
};

struct Curve {
  std::string label;
  std::string color;          // "#1f77b4"
  std::vector<Point> points;  // steps: y holds until the next x
};

struct Chart {
  std::string title, x_label, y_label;
  double y_top = 1;
  bool log_x = false;
  std::vector<Curve> curves;
  std::string note;       // a line below
  bool straight = false;  // from point to point, instead of steps
};

std::string color_of_curve(std::size_t i);
// The number of coloured catoms against time, of one flood.
std::vector<Point> steps(const FloodResult& result);
// And the median over several, at the times where it changes.
std::vector<Point> median_steps(const std::vector<FloodResult>& results);

std::string svg(const Chart& chart);
// Figure 10: the board in as many phases, coloured by the last re-transmitter.
std::string board_svg(const Plan& plan, const FloodResult& result, int phases);

Result<void> write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace volvox::experiments::vouivre
