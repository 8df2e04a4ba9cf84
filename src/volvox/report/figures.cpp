#include "volvox/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "volvox/base/csv.h"
#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/text.h"
#include "volvox/report/chart.h"
#include "volvox/report/claims.h"
#include "volvox/report/table.h"

namespace volvox::report {
namespace {

using nlohmann::json;

constexpr std::pair<const char*, FigureKind> kinds[] = {{"curves", FigureKind::curves},
                                                        {"table", FigureKind::table},
                                                        {"boxes", FigureKind::boxes},
                                                        {"steps", FigureKind::steps},
                                                        {"copies", FigureKind::copies}};

// nlohmann's exceptions name the key that is wrong; read_figures reports them.
std::map<std::string, std::string> settings(const json& from) {
  std::map<std::string, std::string> read;
  if (from.contains("set"))
    for (const auto& [name, value] : from.at("set").items())
      read[name] = value.is_string() ? value.get<std::string>() : to_json_text(value);
  return read;
}

std::vector<FigureRow> rows_of(const json& from) {
  std::vector<FigureRow> rows;
  if (from.contains("values"))
    for (const json& value : from.at("values")) {
      const std::string text = value.is_string() ? value.get<std::string>() : to_json_text(value);
      rows.push_back({text, {}, {{from.at("key").get<std::string>(), text}}});
      if (value.is_number()) rows.back().x = value.get<double>() + from.value("x_offset", 0.0);
    }
  if (from.contains("cases"))
    for (const json& one : from.at("cases")) {
      rows.push_back({one.at("name"), {}, settings(one)});
      if (one.contains("x")) rows.back().x = one.at("x").get<double>();
    }
  return rows;
}

FigureColumn column_of(const json& from) {
  FigureColumn column;
  column.label = from.value("label", "");
  column.experiment = from.value("experiment", "");
  column.metric = from.value("metric", "");
  column.engine = from.value("engine", "");
  column.file = from.value("file", "");
  column.dt = from.value("dt", "");
  column.set = settings(from);
  if (from.contains("duration")) column.duration = from.at("duration").get<double>();
  column.duration_per_x = from.value("duration_per_x", 0.0);
  column.scale = from.value("scale", 1.0);
  if (from.contains("values")) column.values = from.at("values").get<std::vector<double>>();
  return column;
}

std::string mistake_in(const Figure& figure) {
  const auto runs = [](const FigureColumn& c) { return c.values.empty(); };
  if (figure.name.empty() || figure.columns.empty()) return "it needs a name and columns";
  for (const FigureColumn& column : figure.columns) {
    if (runs(column) && column.experiment.empty()) return fmt::format("column '{}' has no experiment", column.label);
    if (!runs(column) && column.values.size() != figure.rows.size())
      return fmt::format("column '{}' has {} values for {} rows", column.label, column.values.size(),
                         figure.rows.size());
    const bool measured = figure.kind != FigureKind::steps && figure.kind != FigureKind::copies;
    if (measured && runs(column) && column.metric.empty())
      return fmt::format("column '{}' has no metric", column.label);
    if (figure.kind == FigureKind::steps && column.file.empty())
      return fmt::format("column '{}' has no file", column.label);
  }
  if (figure.kind == FigureKind::boxes && figure.columns.size() != 6) return "boxes have six columns";
  if (figure.kind == FigureKind::copies && figure.copies.empty()) return "it needs copies";
  if (figure.kind == FigureKind::curves)
    for (const FigureRow& row : figure.rows)
      if (!row.x) return "curves have rows of numbers";
  return {};
}

Figure figure_of(const json& from) {
  Figure figure;
  figure.name = from.at("name");
  figure.title = from.value("title", "");
  figure.note = from.value("note", "");
  const std::string kind = from.value("kind", "curves");
  const auto found = std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& k) { return kind == k.first; });
  if (found == std::end(kinds)) throw std::invalid_argument(fmt::format("there is no kind '{}'", kind));
  figure.kind = found->second;
  figure.y_label = from.value("y", "");
  figure.x_label = from.value("x", "");
  figure.log_x = from.value("log_x", false);
  if (from.contains("rows")) figure.rows = rows_of(from.at("rows"));
  if (figure.rows.empty()) figure.rows.push_back({});
  for (const json& column : from.at("columns")) figure.columns.push_back(column_of(column));
  if (from.contains("lines"))
    for (const json& line : from.at("lines")) figure.lines.push_back({line.at("y"), line.value("label", "")});
  if (from.contains("copies"))
    for (const auto& [file, name] : from.at("copies").items()) figure.copies.push_back({file, name});
  figure.seeds = std::clamp<std::size_t>(from.value("seeds", std::size_t{5}), 1, 1000);
  Hasher hasher;
  const std::string text = to_json_text(from);
  hasher.add(text.data(), text.size());
  figure.identity = hash_text(hasher.value());
  return figure;
}

double median(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : median_of(std::move(values)).value;
}

Point point_of(double x, double scale, std::vector<double> values) {
  const double middle = median(values);
  if (!std::isfinite(middle)) return {x, middle};
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {x, scale * middle, scale * *low, scale * *high};
}

std::string cell_text(const Point& p, std::size_t failed, std::size_t seeds) {
  std::string text = number(p.y, 3);
  if (std::isfinite(p.low) && p.low != p.high) text += fmt::format(" ({} to {})", number(p.low, 3), number(p.high, 3));
  if (failed > 0) text += fmt::format(", none in {} of {}", failed, seeds);
  return text;
}

FigureFiles table_files(const Figure& figure, const std::vector<std::vector<Point>>& points,
                        const FigureValues& values) {
  Csv csv({"row", "column", "median", "least", "most", "seeds", "none"});
  Rows rows = {{figure.x_label}};
  for (const FigureColumn& column : figure.columns) rows[0].push_back(column.label);
  std::size_t seeds = 0;  // that were used, not those of the definition
  for (std::size_t r = 0; r < figure.rows.size(); ++r) {
    rows.push_back({figure.rows[r].name});
    for (std::size_t c = 0; c < figure.columns.size(); ++c) {
      const Point& p = points[r][c];
      seeds = std::max(seeds, values[r][c].size());
      const auto failed = static_cast<std::size_t>(
          std::count_if(values[r][c].begin(), values[r][c].end(), [](double v) { return !std::isfinite(v); }));
      rows.back().push_back(cell_text(p, failed, values[r][c].size()));
      csv.row(figure.rows[r].name, figure.columns[c].label, p.y, p.low, p.high, values[r][c].size(), failed);
    }
  }
  const std::string unit = figure.y_label.empty() ? "" : ", " + figure.y_label;
  return {{figure.name + ".csv", csv.text()},
          {figure.name + ".md", fmt::format("# {}{}\nMedian (least to most) of up to {} seeds. {}\n\n{}", figure.title,
                                            unit, seeds, figure.note, markdown_table(rows))}};
}

std::string boxes_svg(const Figure& figure, const std::vector<std::vector<Point>>& points) {
  Panel panel{"", {figure.x_label}, {.label = figure.y_label, .from = 0}};
  for (std::size_t r = 0; r < figure.rows.size(); ++r) {
    const auto at = [&](std::size_t c) { return points[r][c].y; };
    panel.boxes.push_back({figure.rows[r].name, at(0), at(1), at(2), at(3), at(4), {at(5)}});
    panel.x.names.push_back(figure.rows[r].name);
  }
  for (const auto& [y, label] : figure.lines) panel.marks.push_back({y, label});
  const double width = 44 * real(figure.rows.size());
  return svg(Chart{figure.title, {std::move(panel)}, figure.note, std::max(420.0, width), 230});
}

std::string curves_svg(const Figure& figure, const std::vector<std::vector<Point>>& points) {
  std::vector<Curve> curves;
  for (std::size_t c = 0; c < figure.columns.size(); ++c) {
    Curve curve{figure.columns[c].label, {}};
    for (std::size_t r = 0; r < figure.rows.size(); ++r) curve.points.push_back(points[r][c]);
    curve.dashed = !figure.columns[c].values.empty();
    curve.marks = !curve.dashed;
    curves.push_back(std::move(curve));
  }
  Panel panel{
      "", {.label = figure.x_label, .log = figure.log_x}, {.label = figure.y_label, .from = 0}, std::move(curves)};
  if (!figure.log_x) panel.x.from = 0;
  for (const auto& [y, label] : figure.lines) panel.marks.push_back({y, label});
  return svg(Chart{figure.title, {std::move(panel)}, figure.note});
}

// At every time at which a seed's count changes, the median of all; those of one seed are taken as they are.
std::vector<Point> median_steps(const std::vector<Steps>& seeds) {
  std::vector<double> times;
  for (const Steps& steps : seeds)
    for (const auto& [time, count] : steps) times.push_back(time);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::vector<std::size_t> next(seeds.size(), 0);
  std::vector<double> counts(seeds.size(), 0);
  std::vector<Point> points;
  for (const double time : times) {
    for (std::size_t k = 0; k < seeds.size(); ++k)
      for (; next[k] < seeds[k].size() && seeds[k][next[k]].first <= time; ++next[k])
        counts[k] = seeds[k][next[k]].second;
    std::vector<double> sorted = counts;
    std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
    const double middle = sorted[sorted.size() / 2];
    if (points.empty() || points.back().y != middle) points.push_back({time, middle});
  }
  return points;
}

}  // namespace

std::vector<std::string> Figure::files() const {
  std::vector<std::string> all;
  switch (kind) {
    case FigureKind::curves:
    case FigureKind::boxes: return {name + ".csv", name + ".md", name + ".svg"};
    case FigureKind::table: return {name + ".csv", name + ".md"};
    case FigureKind::steps: return {name + ".csv", name + ".svg"};
    case FigureKind::copies:
      for (const auto& [file, here] : copies) all.push_back(here);
  }
  return all;
}

Result<std::vector<Figure>> read_figures(const std::filesystem::path& file) {
  const auto wrong = [&](const std::string& what) {
    return Diagnostic{file.string(), 0, what, "see docs/formats.md, \"Claims\""};
  };
  const auto text = read_file(file);
  if (!text.ok()) return text.error();
  std::vector<Figure> figures;
  std::string which = "figures";
  try {
    const json whole = json::parse(*text);
    if (!whole.contains("figures")) return figures;
    for (const json& one : whole.at("figures")) {
      which = fmt::format("figure {}", figures.size() + 1);
      if (one.contains("name") && one.at("name").is_string()) which += " (" + one.at("name").get<std::string>() + ")";
      Figure figure = figure_of(one);
      figure.paper = whole.at("paper");
      if (const std::string mistake = mistake_in(figure); !mistake.empty()) return wrong(which + ": " + mistake);
      figures.push_back(std::move(figure));
    }
  } catch (const std::exception& error) {
    return wrong(fmt::format("{}: {}", which, error.what()));
  }
  return figures;
}

FigureFiles draw(const Figure& figure, const FigureValues& values) {
  std::vector<std::vector<Point>> points;
  for (std::size_t r = 0; r < figure.rows.size(); ++r) {
    points.emplace_back();
    for (std::size_t c = 0; c < figure.columns.size(); ++c)
      points[r].push_back(point_of(figure.rows[r].x.value_or(real(r)), figure.columns[c].scale, values[r][c]));
  }
  FigureFiles files = table_files(figure, points, values);
  if (figure.kind == FigureKind::curves) files.push_back({figure.name + ".svg", curves_svg(figure, points)});
  if (figure.kind == FigureKind::boxes) files.push_back({figure.name + ".svg", boxes_svg(figure, points)});
  return files;
}

FigureFiles draw_steps(const Figure& figure, const std::vector<std::vector<Steps>>& steps) {
  Csv csv({"column", "x", "y"});
  // More curves than the charts' own colours: eight that differ.
  constexpr std::string_view colors[] = {color::black, color::gray, color::vermilion, color::orange,
                                         color::blue,  color::sky,  color::green,     color::purple};
  const bool many = figure.columns.size() > 7;
  std::vector<Curve> curves;
  for (std::size_t c = 0; c < figure.columns.size(); ++c) {
    curves.push_back({figure.columns[c].label, median_steps(steps[c])});
    curves.back().join = Join::steps;
    if (many) curves.back().color = std::string(colors[c % std::size(colors)]);
    for (const Point& p : curves.back().points) csv.row(figure.columns[c].label, Csv::fixed(p.x, 9), p.y);
  }
  Panel panel{
      "", {.label = figure.x_label, .log = figure.log_x}, {.label = figure.y_label, .from = 0}, std::move(curves)};
  if (!figure.log_x) panel.x.from = 0;
  return {{figure.name + ".csv", csv.text()},
          {figure.name + ".svg", svg(Chart{figure.title, {std::move(panel)}, figure.note})}};
}

}  // namespace volvox::report
