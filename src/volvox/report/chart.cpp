#include "volvox/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "volvox/base/index.h"
#include "volvox/report/table.h"
#include "volvox/sim/cloud.h"

namespace volvox::report {
namespace {

// Curves without a given colour also differ in their dashes, because charts may be printed in grey.
struct Style {
  std::string_view color, dash;
};
constexpr std::array<Style, 7> styles = {{{color::blue, ""},
                                          {color::vermilion, "7 3"},
                                          {color::green, "2 2.5"},
                                          {color::purple, "9 3 2 3"},
                                          {color::orange, "12 4"},
                                          {color::sky, "4 4"},
                                          {color::black, "1 4"}}};

Stroke stroke_of(const Curve& curve, std::size_t place) {
  const Style& style = styles[place % styles.size()];
  if (curve.color.empty()) return {style.color, 1.8, style.dash};
  return {curve.color, 1.8, curve.dashed ? "6 4" : ""};
}

// Maps values to px along one axis of a panel.
class Scale {
 public:
  explicit Scale(const Axis& axis) : axis_(axis) {
    if (axis.from) add(*axis.from);
    if (axis.to) add(*axis.to);
    if (!axis.names.empty()) add(-0.5), add(real(axis.names.size()) - 0.5);
  }

  void add(double value) {
    if (!std::isfinite(value) || (axis_.log && value <= 0)) return;
    low_ = std::min(low_, value), high_ = std::max(high_, value);
  }

  // Room around the data, and around a single value.
  void finish(double margin) {
    if (low_ > high_) low_ = axis_.log ? 0.1 : 0, high_ = 1;
    if (axis_.log) {
      low_ = std::floor(std::log10(low_) + 1e-9);
      high_ = std::max(std::ceil(std::log10(high_) - 1e-9), low_ + 1);
      return;
    }
    if (!axis_.names.empty()) return;
    const double span = high_ - low_ > 1e-12 * std::max(std::fabs(low_), std::fabs(high_))
                            ? high_ - low_
                            : std::max(1e-3, 0.2 * std::fabs(high_));
    if (!axis_.from || low_ < *axis_.from) low_ -= margin * span;
    high_ += margin * span;
    if (!(high_ > low_)) high_ = low_ + span;
  }

  void place(double begin, double end) { begin_ = begin, end_ = end; }
  void widen_to(double span) {
    const double more = (span - (high_ - low_)) / 2;
    low_ -= more, high_ += more;
  }
  double span() const { return high_ - low_; }
  double end() const { return end_; }

  bool shows(double value) const { return std::isfinite(value) && (!axis_.log || value > 0); }
  double at(double value) const {
    return begin_ + (end_ - begin_) * ((axis_.log ? std::log10(value) : value) - low_) / (high_ - low_);
  }

  // The positions of the ticks and their labels.
  std::vector<std::pair<double, std::string>> ticks(int count) const {
    std::vector<std::pair<double, std::string>> all;
    if (!axis_.names.empty()) {
      for (std::size_t i = 0; i < axis_.names.size(); ++i) all.emplace_back(real(i), axis_.names[i]);
    } else if (axis_.log) {
      for (double power = low_; power <= high_; ++power)
        all.emplace_back(std::pow(10, power), fmt::format("{:g}", std::pow(10, power)));
    } else {
      std::vector<double> values = nice_ticks(low_, high_, count);
      double step = values.size() > 1 ? values[1] - values[0] : 1;
      if (axis_.whole && step < 1) {
        step = 1, values.clear();
        for (double value = std::ceil(low_); value <= high_; ++value) values.push_back(value);
      }
      for (const double value : values) all.emplace_back(value, tick_text(value, step));
    }
    return all;
  }

 private:
  // Ticks of one axis share their decimals: 0.0, 0.5, 1.0.
  static std::string tick_text(double value, double step) {
    if (std::fabs(value) < 1e-9 * step) value = 0;
    if (value != 0 && (std::fabs(value) >= 1e6 || step < 1e-4)) return fmt::format("{:.3g}", value);
    return fmt::format("{:.{}f}", value, std::max(0, truncated(std::ceil(-std::log10(step) - 1e-9))));
  }

  const Axis& axis_;
  double low_ = std::numeric_limits<double>::max(), high_ = std::numeric_limits<double>::lowest();
  double begin_ = 0, end_ = 1;
};

struct Scales {
  Scale x, y;
};

Scales scales_of(const Panel& panel) {
  Scales s{Scale(panel.x), Scale(panel.y)};
  for (const Curve& curve : panel.curves)
    for (const Point& p : curve.points)
      for (const double y : {p.y, p.low, p.high}) s.x.add(p.x), s.y.add(y);
  for (const sim::Box& box : panel.boxes) {
    for (const double y : {box.low, box.high}) s.y.add(y);
    for (const double y : box.outliers) s.y.add(y);
  }
  for (const Mark& mark : panel.marks) s.y.add(mark.value);
  s.x.finish(0.02), s.y.finish(0.05);
  return s;
}

int y_ticks(double height) { return std::max(4, truncated(height / 50)); }

void draw_axes(Svg& svg, const Panel& panel, const Scales& s, double left, double top, double width, double height,
               double label_x) {
  for (const auto& [value, words] : s.y.ticks(y_ticks(height))) {
    svg.line(left, s.y.at(value), left + width, s.y.at(value), {color::grid});
    svg.text(left - 7, s.y.at(value) + 4, words, {11, "end"});
  }
  for (const auto& [value, words] : s.x.ticks(truncated(width / 60))) {
    if (panel.x.names.empty()) svg.line(s.x.at(value), top, s.x.at(value), top + height, {color::grid});
    svg.line(s.x.at(value), top + height, s.x.at(value), top + height + 4);
    svg.text(s.x.at(value), top + height + 17, words, {11, "middle"});
  }
  svg.rect(left, top, width, height, "none", color::ink);
  svg.text(left, top - 8, panel.title, {12, "start", true});
  svg.text(left + width / 2, top + height + 35, panel.x.label, {12, "middle"});
  svg.text(label_x, top + height / 2, panel.y.label, {12, "middle"}, -90);
}

void draw_spread(Svg& svg, const Curve& curve, const Scales& s, const Stroke& stroke) {
  std::string upper, lower;
  for (const Point& p : curve.points) {
    if (!s.x.shows(p.x) || !s.y.shows(p.low) || !s.y.shows(p.high) || !(p.high >= p.low)) continue;
    if (curve.spread == Spread::bars || curve.points.size() == 1) {
      svg.line(s.x.at(p.x), s.y.at(p.low), s.x.at(p.x), s.y.at(p.high), {stroke.color, 1.2});
      continue;
    }
    upper += fmt::format("{:.1f},{:.1f} ", s.x.at(p.x), s.y.at(p.high));
    lower = fmt::format("{:.1f},{:.1f} ", s.x.at(p.x), s.y.at(p.low)) + lower;
  }
  if (!upper.empty()) svg.polygon(upper + lower, stroke.color, 0.18);
}

void draw_curve(Svg& svg, const Curve& curve, const Scales& s, const Stroke& stroke) {
  draw_spread(svg, curve, s, stroke);
  std::string points;
  double last_x = 0, last_y = 0;
  const auto add = [&](double x, double y) { points += fmt::format("{:.2f},{:.2f} ", x, y); };
  for (const Point& p : curve.points) {
    if (!s.x.shows(p.x) || !s.y.shows(p.y)) continue;
    const double x = s.x.at(p.x), y = s.y.at(p.y);
    if (curve.marks || curve.join == Join::nothing) svg.circle(x, y, 3, stroke.color);
    // Points closer than a quarter of a pixel cannot be distinguished, but make files large.
    if (!points.empty() && &p != &curve.points.back() && std::hypot(x - last_x, y - last_y) < 0.25) continue;
    if (!points.empty() && curve.join == Join::steps) add(x, last_y);
    add(x, y);
    last_x = x, last_y = y;
  }
  if (points.empty() || curve.join == Join::nothing) return;
  if (curve.join == Join::steps) add(s.x.end(), last_y);
  svg.polyline(points, stroke);
}

void draw_box(Svg& svg, const sim::Box& box, const Scales& s, double x, double half) {
  const auto y = [&](double value) { return s.y.at(value); };
  for (const double value : box.outliers) {
    if (!s.y.shows(value)) continue;
    svg.line(x - 2.5, y(value) - 2.5, x + 2.5, y(value) + 2.5, {color::vermilion});
    svg.line(x - 2.5, y(value) + 2.5, x + 2.5, y(value) - 2.5, {color::vermilion});
  }
  for (const double value : {box.low, box.q1, box.median, box.q3, box.high})
    if (!s.y.shows(value)) return;
  for (const auto& [end, edge] : {std::pair{box.low, box.q1}, {box.high, box.q3}}) {
    svg.line(x, y(end), x, y(edge));
    svg.line(x - half / 2, y(end), x + half / 2, y(end));
  }
  svg.rect(x - half, y(box.q3), 2 * half, std::max(y(box.q1) - y(box.q3), 1.0), "#dce8f8", color::blue);
  svg.line(x - half, y(box.median), x + half, y(box.median), {color::vermilion, 2});
}

void draw_panel(Svg& svg, const Panel& panel, Scales s, double left, double top, double width, double height,
                double label_x) {
  if (panel.same_scale) {
    const double unit = std::max(s.x.span() / width, s.y.span() / height);
    s.x.widen_to(unit * width), s.y.widen_to(unit * height);
  }
  s.x.place(left, left + width), s.y.place(top + height, top);
  draw_axes(svg, panel, s, left, top, width, height, label_x);
  const double slot = width / real(std::max<std::size_t>(panel.boxes.size(), 1));
  for (std::size_t i = 0; i < panel.boxes.size(); ++i)
    draw_box(svg, panel.boxes[i], s, s.x.at(real(i)), std::min(0.28 * slot, 26.0));
  for (std::size_t i = 0; i < panel.curves.size(); ++i)
    draw_curve(svg, panel.curves[i], s, stroke_of(panel.curves[i], i));
  for (const Mark& mark : panel.marks) {
    svg.line(left, s.y.at(mark.value), left + width, s.y.at(mark.value), {color::green, 1.5, "6 4"});
    svg.text(left + 5, s.y.at(mark.value) - 5, mark.label, {11, "start", false, color::green});
  }
}

// A line and a label for each curve: in a row above the panels if there is room, otherwise in a column beside them.
class Legend {
 public:
  Legend(const std::vector<Panel>& panels, double row) {
    double wide = -24, widest = 0;
    for (std::size_t i = 0; !panels.empty() && i < panels[0].curves.size(); ++i) {
      const Curve& curve = panels[0].curves[i];
      if (curve.label.empty()) continue;
      entries_.emplace_back(curve.label, stroke_of(curve, i));
      wide += step(curve.label);
      widest = std::max(widest, step(curve.label));
    }
    beside_ = panels.size() == 1 && wide > row;
    width_ = beside_ ? widest : wide;
  }

  double above() const { return entries_.empty() || beside_ ? 0 : 24; }
  double beside() const { return beside_ ? width_ : 0; }
  double row() const { return beside_ ? 0 : width_; }

  void draw(Svg& svg, double x, double y) const {
    for (const auto& [label, stroke] : entries_) {
      svg.line(x, y - 4, x + 26, y - 4, {stroke.color, 2, stroke.dash});
      svg.text(x + 32, y, label, {12});
      if (beside_) y += 21;
      else x += step(label);
    }
  }

 private:
  static double step(const std::string& label) { return 32 + text_width(label, 12) + 24; }
  std::vector<std::pair<std::string, Stroke>> entries_;
  bool beside_ = false;
  double width_ = 0;
};

// Panels with a title need room for it.
double head_of(const std::vector<Panel>& panels) {
  return std::any_of(panels.begin(), panels.end(), [](const Panel& p) { return !p.title.empty(); }) ? 22 : 0;
}

constexpr double title_size = 15, note_size = 11;

std::string ramp(double part) {
  const auto [red, green, blue] = sim::ramp_color(part);
  return fmt::format("#{:02x}{:02x}{:02x}", red, green, blue);
}

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

std::string svg(const Chart& chart, bool inside_html) {
  const bool several = chart.panels.size() > 1;
  const double width = chart.panel_width > 0 ? chart.panel_width : several ? 310 : 480;
  const double height = chart.panel_height > 0 ? chart.panel_height : several ? 150 : 300;
  const std::size_t columns = several ? 2 : 1, rows = (chart.panels.size() + columns - 1) / columns;
  // Labels at the left of every panel have the same width, so that the frames are aligned.
  double numbers = 0, words = 0;
  std::vector<Scales> scales;
  for (const Panel& panel : chart.panels) {
    scales.push_back(scales_of(panel));
    for (const auto& [value, text] : scales.back().y.ticks(y_ticks(height)))
      numbers = std::max(numbers, text_width(text, 11));
    if (!panel.y.label.empty()) words = 20;
  }
  const double left = 14 + words + numbers + 7, right = 22, bottom = 46, head = head_of(chart.panels);
  const double step_x = left + width + right, step_y = head + height + bottom + 12;
  const Legend legend(chart.panels, width);
  const double top = 44 + legend.above();
  Svg out;
  out.text(left, 27, chart.title, {title_size, "start", true});
  for (std::size_t p = 0; p < chart.panels.size(); ++p) {
    const double x = step_x * real(p % columns), y = step_y * real(p / columns);
    draw_panel(out, chart.panels[p], scales[p], left + x, top + head + y, width, height, x + 14 + 5);
  }
  if (legend.beside() > 0) legend.draw(out, left + width + 18, top + head + 12);
  else legend.draw(out, left, 52);
  const double end = top + step_y * real(rows) - 12;
  out.text(left, end + 14, chart.note, {note_size, "start", false, color::faint_ink});
  const double whole =
      std::max({step_x * real(columns) + legend.beside(), left + legend.row() + 10,
                left + 1.1 * text_width(chart.title, title_size), left + text_width(chart.note, note_size)});
  return out.document(whole, end + (chart.note.empty() ? 0 : 24), chart.title, inside_html);
}

std::string svg(const BarChart& chart) {
  constexpr double bar = 9, gap = 10, top = 84, width = 420;
  double left = 80;
  for (const BarChart::Group& group : chart.groups) left = std::max(left, text_width(group.name, 11) + 24);
  const Axis axis{chart.x_label, false, 0.0, chart.mark.value};
  Scale scale(axis);
  for (const BarChart::Group& group : chart.groups)
    for (const double value : group.values) scale.add(value);
  scale.finish(0.05);
  scale.place(left, left + width);
  // The first series is the one to compare with, and has its own style.
  const auto fill = [](std::size_t series) { return styles[(series + 1) % styles.size()].color; };
  const double group_height = bar * real(chart.series.size()) + gap;
  const double height = group_height * real(std::max<std::size_t>(chart.groups.size(), 1));
  Svg out;
  out.text(left, 27, chart.title, {title_size, "start", true});
  double x = left;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    out.rect(x, 41, 14, 11, fill(s));
    out.text(x + 20, 51, chart.series[s], {12});
    x += 40 + text_width(chart.series[s], 12);
  }
  const Stroke dashed{color::ink, 1.2, "4 3"};
  out.line(x, 47, x + 24, 47, dashed);
  out.text(x + 30, 51, chart.mark.label, {12});
  const double legend_end = x + 30 + text_width(chart.mark.label, 12);
  for (const auto& [value, words] : scale.ticks(6)) {
    out.line(scale.at(value), top - 8, scale.at(value), top + height, {color::grid});
    out.text(scale.at(value), top + height + 17, words, {11, "middle"});
  }
  for (std::size_t g = 0; g < chart.groups.size(); ++g) {
    const double y = top + group_height * real(g);
    out.text(left - 10, y + bar * real(chart.series.size()) / 2 + 4, chart.groups[g].name, {11, "end"});
    for (std::size_t s = 0; s < chart.groups[g].values.size(); ++s) {
      const double length = scale.at(chart.groups[g].values[s]) - left;  // a value of 0 is drawn as a thin line
      out.rect(left, y + bar * real(s), std::max(0.8, length), bar - 1, fill(s));
    }
  }
  out.line(scale.at(chart.mark.value), top - 8, scale.at(chart.mark.value), top + height, dashed);
  out.line(left, top - 8, left, top + height);
  out.line(left, top + height, left + width, top + height);
  out.text(left + width / 2, top + height + 36, chart.x_label, {12, "middle"});
  return out.document(
      std::max({left + width + 30, legend_end + 20, left + 1.1 * text_width(chart.title, title_size) + 20}),
      top + height + 50, chart.title, false);
}

std::string svg(const BoardChart& chart) {
  double columns = 1, rows = 1;
  for (const BoardChart::Board& board : chart.boards)
    for (const BoardChart::Cell& cell : board.cells)
      columns = std::max(columns, cell.x + 1), rows = std::max(rows, cell.y + 1);
  constexpr double gap = 26, top = 44, widest = 1200;  // the width of a page
  const std::size_t across = std::clamp<std::size_t>(chart.boards.size(), 1, 3);
  const std::size_t down = (chart.boards.size() + across - 1) / across;
  // Cells are as large as possible; tiny cells overlap, so that they stay visible.
  const double pitch = std::min(11.0, ((widest - gap) / real(across) - gap) / columns);
  const bool tiny = pitch < 4;
  const double radius = tiny ? 1.6 : 5.0 * pitch / 11, core = radius * (tiny ? 2 : 1);
  const double width = pitch * columns + gap, height = pitch * rows + 18 + gap;
  const Stroke edge = tiny ? Stroke{"none", 0} : Stroke{"#b8b8b8", 0.1 * radius};
  Svg out;
  out.text(gap, 27, chart.title, {title_size, "start", true});
  for (std::size_t b = 0; b < chart.boards.size(); ++b) {
    const double x = gap + width * real(b % across), y = top + height * real(b / across);
    out.text(x, y + 10, chart.boards[b].caption);
    for (const BoardChart::Cell& cell : chart.boards[b].cells) {
      const double cx = x + pitch * (cell.x + 0.5), cy = y + 18 + pitch * (rows - cell.y - 0.5);
      const std::string_view nothing = tiny ? color::empty_cell : std::string_view("#f2f2f2");
      out.circle(cx, cy, radius, cell.color.empty() ? nothing : std::string_view(cell.color), edge);
      if (cell.core > 0) out.circle(cx, cy, cell.core * core, color::black);
    }
  }
  const double end = top + height * real(down);
  out.text(gap, end, chart.note, {note_size, "start", false, color::faint_ink});
  return out.document(std::max(gap + width * real(across), gap + 1.1 * text_width(chart.title, title_size)), end + 14,
                      chart.title, false);
}

std::string svg(const MapChart& chart, bool inside_html) {
  constexpr double left = 70, top = 40, room = 420;
  const double width = room / chart.x.cells, height = std::min(40.0, 300.0 / chart.y.cells);
  const double bottom = top + height * chart.y.cells;
  double least = std::numeric_limits<double>::max(), most = std::numeric_limits<double>::lowest();
  for (const MapChart::Cell& cell : chart.cells) least = std::min(least, cell.value), most = std::max(most, cell.value);
  Svg out;
  out.rect(left, top, room, bottom - top, color::empty_cell);
  for (const MapChart::Cell& cell : chart.cells)
    out.rect(left + width * cell.x, bottom - height * (cell.y + 1), width, height,
             ramp(most > least ? (cell.value - least) / (most - least) : 1), "#ffffff");
  out.text(left, 24, chart.caption, {12, "start", true});
  out.text(left, bottom + 16, number(chart.x.from));
  out.text(left + room, bottom + 16, number(chart.x.to), {11, "end"});
  out.text(left + room / 2, bottom + 30, chart.x.label, {11, "middle"});
  out.text(left - 6, bottom, number(chart.y.from), {11, "end"});
  out.text(left - 6, top + 10, number(chart.y.to), {11, "end"});
  out.text(18, (top + bottom) / 2, chart.y.label, {11, "middle"}, -90);
  const double whole = std::max(left + room + 20, left + 1.1 * text_width(chart.caption, 12));
  return out.document(whole, bottom + 44, chart.title, inside_html);
}

std::string svg(const StripChart& chart, bool inside_html) {
  constexpr double width = 240, height = 34, edge = 8, middle = 13;
  std::vector<double> all = chart.values;
  for (const auto& more : {chart.expected, chart.agrees_from, chart.agrees_to})
    if (more) all.push_back(*more);
  if (all.empty()) all = {0};
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  // Where all values are one, such as those of yes and no, it stands in the middle of a scale around it.
  const double around = *most > *least ? 0 : std::max(1.0, 0.1 * std::fabs(*most));
  const double from = *least - around, span = *most - *least + 2 * around;
  const auto x = [&](double value) { return edge + (width - 2 * edge) * std::clamp((value - from) / span, 0.0, 1.0); };
  Svg out;
  const double begin = x(std::max(from, chart.agrees_from.value_or(from)));
  out.rect(begin, 3, x(std::min(from + span, chart.agrees_to.value_or(from + span))) - begin, 20, "#dff0e9");
  out.line(edge, middle, width - edge, middle, {color::grid, 1});
  if (chart.expected) out.line(x(*chart.expected), 3, x(*chart.expected), 23, {color::ink, 1.5});
  if (chart.low && chart.high) out.line(x(*chart.low), middle, x(*chart.high), middle, {color::blue, 4});
  for (const double value : chart.values) out.circle(x(value), middle, 2.4, color::vermilion);
  out.text(edge, height - 1, number(from, 3), {9, "start", false, color::faint_ink});
  out.text(width - edge, height - 1, number(from + span, 3), {9, "end", false, color::faint_ink});
  return out.document(width, height, chart.title, inside_html);
}

Chart time_boxes(const std::string& title, const std::string& x_label, std::vector<sim::Box> boxes, Mark mark) {
  Panel panel{"", {x_label}, {.label = "time (ms)", .log = true}};
  for (sim::Box& box : boxes) {
    panel.x.names.push_back(box.label);
    for (double* value : {&box.low, &box.q1, &box.median, &box.q3, &box.high}) *value *= 1e3;
    for (double& value : box.outliers) value *= 1e3;
  }
  const double width = 44 * real(boxes.size());
  panel.boxes = std::move(boxes);
  panel.marks = {{1e3 * mark.value, std::move(mark.label)}};
  return {title, {std::move(panel)}, "", std::max(420.0, width), 230};
}

}  // namespace volvox::report
