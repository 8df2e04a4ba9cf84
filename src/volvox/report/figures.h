// The figures and tables of an experiment's results/, as data beside its claims (the list `figures` of claims.json,
// docs/formats.md): which runs, which metric of them, drawn how. Plain values without state; any thread may use them.
// The same values give the same files.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "volvox/base/result.h"

namespace volvox::report {

// A row of the table, or a place on the x axis.
struct FigureRow {
  std::string name;
  std::optional<double> x;                 // none: words
  std::map<std::string, std::string> set;  // settings of every experiment
};

// A column of the table, or a curve. Each cell is the median over the seeds of a metric of its runs, or a number given.
struct FigureColumn {
  std::string label, experiment, metric, engine, dt;  // metric: as of a claim
  std::map<std::string, std::string> set;
  std::optional<double> duration;  // s
  double duration_per_x = 0;       // s more for each unit of the row's x
  double scale = 1;                // the metric times this is shown
  std::vector<double> values;      // by row, instead of runs: the paper's
  std::string file;                // figures of steps: a CSV file of time and count that the run writes
};

enum class FigureKind {
  curves,  // the columns over the rows' x
  table,   // no picture
  boxes,   // of each row: the columns are low, first quartile, median, third quartile, high and the longest
  steps,   // the median over the seeds of a count that grows in time
  copies,  // files that the first seed's run wrote
};

struct Figure {
  std::string paper, name, title, note;
  FigureKind kind = FigureKind::curves;
  std::string x_label, y_label;
  bool log_x = false;
  std::vector<FigureRow> rows;
  std::vector<FigureColumn> columns;
  std::vector<std::pair<double, std::string>> lines;        // at a y, dashed
  std::vector<std::pair<std::string, std::string>> copies;  // a file of the run, and its name here
  std::size_t seeds = 5;
  std::string identity;  // changes with the definition

  std::vector<std::string> files() const;  // that it consists of, in results/
};

// A mistake names the file and the figure.
Result<std::vector<Figure>> read_figures(const std::filesystem::path& file);

// What was measured: by row, column and seed. NaN: a run that failed.
using FigureValues = std::vector<std::vector<std::vector<double>>>;
// A count that grows: the times (s) at which it does, and how far.
using Steps = std::vector<std::pair<double, double>>;

using FigureFiles = std::vector<std::pair<std::string, std::string>>;  // name and content
FigureFiles draw(const Figure& figure, const FigureValues& values);
// By column and seed.
FigureFiles draw_steps(const Figure& figure, const std::vector<std::vector<Steps>>& steps);

}  // namespace volvox::report
