#include "flood_charts.h"

#include <fmt/format.h>

#include <algorithm>

#include "flood.h"

namespace volvox::experiments::vouivre {

std::vector<report::Point> steps(const FloodResult& result) {
  std::vector<double> times;
  for (const double t : result.at)
    if (t >= 0) times.push_back(t);
  std::sort(times.begin(), times.end());
  std::vector<report::Point> points;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (i + 1 == times.size() || times[i + 1] > times[i]) points.push_back({times[i], static_cast<double>(i + 1)});
  return points;
}

report::Chart flood_chart(const std::string& title, std::size_t catoms, std::vector<report::Curve> curves) {
  for (report::Curve& curve : curves) curve.join = report::Join::steps;
  return {title,
          {{"",
            {.label = "time (s)", .from = 0},
            {.label = "coloured catoms", .from = 0, .to = static_cast<double>(catoms)},
            std::move(curves)}}};
}

report::BoardChart board_chart(const Plan& plan, const FloodResult& result, int phases) {
  report::BoardChart chart{fmt::format("Simulation {}: {}", plan.name, plan.description),
                           "Coloured by the last re-transmitter; black: relays, the largest one the source.",
                           {}};
  const double last = *std::max_element(result.at.begin(), result.at.end());
  for (int phase = 0; phase < phases; ++phase) {
    const double until = phases > 1 ? last * phase / (phases - 1) : last;
    const auto is_coloured = [&](double t) { return t >= 0 && t <= until; };
    report::BoardChart::Board& board = chart.boards.emplace_back();
    board.caption = fmt::format("t = {:.2f} s, {} of {}", until,
                                std::count_if(result.at.begin(), result.at.end(), is_coloured), plan.cells.size());
    for (std::size_t i = 0; i < plan.cells.size(); ++i) {
      const bool source = static_cast<int>(i) == plan.source;
      report::BoardChart::Cell& cell = board.cells.emplace_back();
      cell.x = plan.cells[i].x, cell.y = plan.cells[i].y;
      cell.core = source ? 0.68 : plan.relays[i] ? 0.4 : 0;
      if (!is_coloured(result.at[i])) continue;
      const mind::Light c = robots::Flood::color_of(result.by[i]);
      const auto byte = [](double v) { return static_cast<int>(std::lround(255 * v)); };
      cell.color = fmt::format("#{:02x}{:02x}{:02x}", byte(c.red), byte(c.green), byte(c.blue));
    }
  }
  return chart;
}

}  // namespace volvox::experiments::vouivre
