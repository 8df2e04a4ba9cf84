// Charts as SVG that can be printed as they are: curves with error bars or bands, scatter, box plots, bars and boards
// of cells. The same chart gives the same bytes. Nothing here has state; any thread may draw.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "volvox/report/svg.h"
#include "volvox/sim/tick_times.h"

namespace volvox::report {

struct Point {
  double x = 0, y = 0;
  // How far the value is spread around y; not a number: not known.
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();
};

enum class Join { lines, steps, nothing };  // steps: y holds until the next x, the last one to the end of the axis
enum class Spread { bars, band };

// Points that are not finite are left out.
struct Curve {
  std::string label;  // in the legend; empty: it needs none
  std::vector<Point> points;
  std::string color = {};  // "#0072b2"; empty: by its place in the panel, and so are its dashes
  bool dashed = false;
  Join join = Join::lines;
  bool marks = false;
  Spread spread = Spread::bars;
};

struct Axis {
  std::string label;                         // with its unit: "time (s)"
  bool log = false;                          // whole powers of ten; what is not positive is left out
  std::optional<double> from = {}, to = {};  // it begins exactly there; it reaches at least so far
  std::vector<std::string> names = {};       // words instead of numbers: a value is an index into them
};

// A dashed line across the panel.
struct Mark {
  double value = 0;
  std::string label;
};

struct Panel {
  std::string title;
  Axis x, y;
  std::vector<Curve> curves = {};
  std::vector<sim::Box> boxes = {};  // side by side, in the units of y; their labels are the names of x
  std::vector<Mark> marks = {};      // at a y
  bool same_scale = false;           // a metre is as long in y as in x
};

// Several panels stand in two columns under one legend: the curves of all of them have the same labels.
struct Chart {
  std::string title;
  std::vector<Panel> panels;
  std::string note = {};                     // a line below
  double panel_width = 0, panel_height = 0;  // px inside of the axes; 0: as fits a page
};

// Horizontal bars, one group a row.
struct BarChart {
  struct Group {
    std::string name;
    std::vector<double> values;  // by series
  };
  std::string title, x_label;
  std::vector<std::string> series;
  std::vector<Group> groups;
  Mark mark;  // at an x, explained by the legend
};

// Cells of a lattice seen from above, y upwards, in one or more boards side by side.
struct BoardChart {
  struct Cell {
    double x = 0, y = 0;     // in cells, from 0
    std::string color = {};  // empty: nothing is known of it
    double core = 0;         // the radius of a black dot in it, as a part of its own
  };
  struct Board {
    std::string caption;
    std::vector<Cell> cells;
  };
  std::string title, note;
  std::vector<Board> boards;
};

std::string svg(const Chart& chart, bool inside_html = false);
std::string svg(const BarChart& chart);
std::string svg(const BoardChart& chart);

// How times are distributed: boxes given in s, drawn in ms on a logarithmic axis, because outliers lie a hundred
// medians away. The mark is in s too.
Chart time_boxes(const std::string& title, const std::string& x_label, std::vector<sim::Box> boxes, Mark mark);

// The multiples of 1, 2 or 5 times a power of ten that divide a range into about `count` parts.
std::vector<double> nice_ticks(double low, double high, int count);

}  // namespace volvox::report
