// Charts as SVG that can be printed as they are: curves with error bars or bands, scatter, box plots, bars, boards of
// cells, maps and strips. The same chart gives the same bytes. Nothing here has state; any thread may draw.
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
  // The spread around y; NaN: not known.
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();
};

enum class Join { lines, steps, nothing };  // steps: y holds until the next x, the last one to the end of the axis
enum class Spread { bars, band };

// Points that are not finite are left out.
struct Curve {
  std::string label;  // in the legend; empty: not listed
  std::vector<Point> points;
  std::string color = {};  // "#0072b2"; empty: colour and dashes by its index in the panel
  bool dashed = false;
  Join join = Join::lines;
  bool marks = false;
  Spread spread = Spread::bars;
};

struct Axis {
  std::string label;                         // with its unit: "time (s)"
  bool log = false;                          // whole powers of ten; values that are not positive are left out
  std::optional<double> from = {}, to = {};  // the axis begins exactly at `from` and reaches at least `to`
  std::vector<std::string> names = {};       // words instead of numbers: a value is an index of a word
  bool whole = false;                        // counts: no ticks between whole numbers
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
  bool same_scale = false;           // one unit has the same length in x and y
};

// Several panels form two columns under one legend: the curves of all panels have the same labels.
struct Chart {
  std::string title;
  std::vector<Panel> panels;
  std::string note = {};                     // a line below
  double panel_width = 0, panel_height = 0;  // px inside the axes; 0: fits a page
};

// Horizontal bars, one group per row.
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
    std::string color = {};  // empty: unknown
    double core = 0;         // the radius of a black dot, relative to the cell's
  };
  struct Board {
    std::string caption;
    std::vector<Cell> cells;
  };
  std::string title, note;
  std::vector<Board> boards;
};

// Cells over two quantities, coloured by their values from the least (dark) to the largest (bright). Cells without a
// value are grey.
struct MapChart {
  struct Side {
    std::string label;
    double from = 0, to = 1;
    int cells = 1;
  };
  struct Cell {
    int x = 0, y = 0;  // from 0; y upwards
    double value = 0;  // finite
  };
  std::string title;  // as other programs read it aloud
  std::string caption;
  Side x, y;
  std::vector<Cell> cells;
};

// Values on one line, for a row of a table: dots, the interval of their median, a number to compare them with, and the
// band in which they agree with it.
struct StripChart {
  std::string title;
  std::vector<double> values;
  std::optional<double> low = {}, high = {};               // the interval
  std::optional<double> expected = {};                     // the number
  std::optional<double> agrees_from = {}, agrees_to = {};  // the band; open where a side is not given
};

std::string svg(const Chart& chart, bool inside_html = false);
std::string svg(const BarChart& chart);
std::string svg(const BoardChart& chart);
std::string svg(const MapChart& chart, bool inside_html = false);
std::string svg(const StripChart& chart, bool inside_html = false);

// A distribution of times: boxes and the mark are given in s and drawn in ms, on a logarithmic axis, because outliers
// are a hundred times the median.
Chart time_boxes(const std::string& title, const std::string& x_label, std::vector<sim::Box> boxes, Mark mark);

// The multiples of 1, 2 or 5 times a power of ten that divide a range into about `count` parts.
std::vector<double> nice_ticks(double low, double high, int count);

}  // namespace volvox::report
