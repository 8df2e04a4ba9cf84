// Draws figures 10, 12 and 14 of seed 001 from medians over many seeds, with their data, and the
// tables of README.md:
//
//   build/release/bin/vouivre_figures FOLDER [SEEDS]
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdlib>

#include "flood_charts.h"
#include "study.h"
#include "volvox/base/csv.h"
#include "volvox/base/text.h"
#include "volvox/report/table.h"

using namespace volvox;
using namespace volvox::experiments::vouivre;

namespace {

struct Series {
  Plan plan;
  std::vector<FloodResult> floods;

  double time_to(double part) const {
    std::vector<double> times;
    for (const FloodResult& f : floods) times.push_back(f.time_to(part));
    return median(std::move(times));
  }
  std::size_t full() const {
    std::size_t count = 0;
    for (const FloodResult& f : floods) count += f.reached() == plan.cells.size();
    return count;
  }
  double collisions() const {
    std::vector<double> all;
    for (const FloodResult& f : floods) all.push_back(static_cast<double>(f.collisions));
    return median(std::move(all));
  }
  double reached() const {
    std::vector<double> all;
    for (const FloodResult& f : floods) all.push_back(static_cast<double>(f.reached()));
    return median(std::move(all));
  }
};

class Studio {
 public:
  explicit Studio(int seeds) : seeds_(seeds) {}

  Result<Series> run(Plan plan) {
    auto world = make_world(plan, models_);
    if (!world.ok()) return world.error();
    const auto shared = std::make_shared<const model::WorldModel>(std::move(*world));
    Series series{std::move(plan), {}};
    // What has no radio is the same for every seed.
    const bool chance = std::find(series.plan.radio.begin(), series.plan.radio.end(), true) != series.plan.radio.end();
    for (int seed = 1; seed <= (chance ? seeds_ : 1); ++seed) {
      auto flood = run_flood(shared, static_cast<std::uint64_t>(seed), experiments::library());
      if (!flood.ok()) return flood.error();
      series.floods.push_back(std::move(*flood));
    }
    return series;
  }

 private:
  int seeds_;
  model::ModelLibrary models_;
};

std::string seconds(double t) { return std::isfinite(t) ? fmt::format("{:.4g}", t) : "-"; }

std::string table_of(const std::vector<Series>& all) {
  report::Rows rows = {{"simulation", "what", "50 % (s)", "95 % (s)", "all (s)", "filled", "coloured", "collisions"}};
  for (const Series& s : all)
    rows.push_back({s.plan.name, s.plan.description, seconds(s.time_to(0.5)), seconds(s.time_to(0.95)),
                    seconds(s.time_to(1)), fmt::format("{}/{}", s.full(), s.floods.size()),
                    fmt::format("{}", s.reached()), fmt::format("{}", s.collisions())});
  return report::markdown_table(rows);
}

std::string csv_of(const std::vector<Series>& all) {
  Csv csv({"simulation", "time_s", "coloured"});
  for (const Series& s : all)
    for (const report::Point& p : median_steps(s.floods)) csv.row(s.plan.name, Csv::fixed(p.x, 9), p.y);
  return csv.text();
}

report::Chart chart_of(const std::string& title, const std::vector<Series>& all, int seeds) {
  namespace color = report::color;
  // A pair of colours for each way to send; where there are four simulations, one of each.
  constexpr std::string_view colors[] = {color::black, color::gray, color::vermilion, color::orange,
                                         color::blue,  color::sky,  color::green,     color::purple};
  std::vector<report::Curve> curves;
  for (std::size_t i = 0; i < all.size(); ++i)
    curves.push_back({fmt::format("{}: {}", all[i].plan.name, all[i].plan.description), median_steps(all[i].floods),
                      std::string(colors[all.size() > 4 ? i % std::size(colors) : 2 * i])});
  report::Chart chart = flood_chart(title, all[0].plan.cells.size(), std::move(curves));
  const Assumptions a;
  chart.note =
      fmt::format("Medians of {} seeds. Spacing {:g} mm, {:g} GHz, range {:g} spacings at 1 mW, relay pitch {}.", seeds,
                  1e3 * a.spacing, 1e-9 * a.frequency, a.range, a.pitch);
  return chart;
}

// Where simulation 2 stands, over what the paper does not give.
Result<std::string> standing(Studio& studio) {
  report::Rows rows = {{"range", "carrier", "3", "4", "5", "6", "7", "8 parallel", "8 one by one",
                        "slower than 2 in parallel", "slower than 2 one by one"}};
  Assumptions by_one;
  by_one.one_link_at_a_time = true;
  const auto parallel = studio.run(checkerboard(2)), serial = studio.run(checkerboard(2, by_one));
  if (!parallel.ok()) return parallel.error();
  if (!serial.ok()) return serial.error();
  for (const double range : {2.05, 3.05, 4.05, 5.05, 7.05})
    for (const double carrier : {0.1, 0.3, 1.0}) {
      rows.push_back({fmt::format("{}", range), fmt::format("{}", carrier)});
      std::vector<std::string> slower, slower_than_serial;
      for (int column = 3; column <= 9; ++column) {
        Assumptions a;
        a.range = range;
        a.carrier = carrier;
        a.pitch = std::max(1, std::min(3, static_cast<int>(range) - 1));
        a.one_link_at_a_time = column == 9;
        const int simulation = std::min(column, 8);
        const auto series = studio.run(checkerboard(simulation, a));
        if (!series.ok()) return series.error();
        const double t = series->time_to(0.95);
        rows.back().push_back(seconds(t));
        if (column < 9 && t > parallel->time_to(0.95)) slower.push_back(std::to_string(simulation));
        if (column != 8 && t > serial->time_to(0.95)) slower_than_serial.push_back(std::to_string(simulation));
      }
      for (const auto& names : {slower, slower_than_serial})
        rows.back().push_back(names.empty() ? "none" : fmt::format("{}", fmt::join(names, " ")));
    }
  return fmt::format("Simulation 2 reaches 95 % after {} s in parallel and {} s one by one (all: {} s and {} s).\n\n",
                     seconds(parallel->time_to(0.95)), seconds(serial->time_to(0.95)), seconds(parallel->time_to(1)),
                     seconds(serial->time_to(1))) +
         report::markdown_table(rows);
}

Result<void> draw(const std::filesystem::path& folder, int seeds) {
  Studio studio(seeds);
  std::vector<Series> boards, crosses;
  for (int i = 1; i <= checkerboard_simulations; ++i) {
    auto series = studio.run(checkerboard(i));
    if (!series.ok()) return series.error();
    boards.push_back(std::move(*series));
  }
  for (int i = 1; i <= cross_simulations; ++i) {
    auto series = studio.run(cross(i));
    if (!series.ok()) return series.error();
    crosses.push_back(std::move(*series));
  }
  const auto where_2_stands = standing(studio);
  if (!where_2_stands.ok()) return where_2_stands.error();

  report::Chart figure_14 = chart_of("Coloured catoms on the board of 20 x 20 (figure 14)", boards, seeds);
  report::Chart figure_14_log = figure_14;
  figure_14_log.panels[0].x.log = true;
  const std::pair<const char*, std::string> files[] = {
      {"figure10.svg", svg(board_chart(boards[6].plan, boards[6].floods[0], 6))},
      {"figure12.csv", csv_of(crosses)},
      {"figure12.svg", svg(chart_of("Coloured catoms on the cross (figure 12)", crosses, seeds))},
      {"figure14.csv", csv_of(boards)},
      {"figure14.svg", svg(figure_14)},
      {"figure14_log.svg", svg(figure_14_log)},
      {"tables.md", "# Medians over " + std::to_string(seeds) + " seeds\n\n## The board\n" + table_of(boards) +
                        "\n## The cross\n" + table_of(crosses) +
                        "\n## Where simulation 2 stands\nMedian time to 95 %, s; -: the median flood never gets there. "
                        "Range in spacings at 1 mW; carrier: "
                        "threshold above the noise, as a part of the receive threshold; relay pitch 3, and 1 or 2 for "
                        "the two short ranges.\n\n" +
                        *where_2_stands}};
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  for (const auto& [name, text] : files)
    if (auto written = write_file(folder / name, text); !written.ok()) return written;
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const int seeds = argc > 2 ? std::atoi(argv[2]) : 101;
  if (argc < 2 || seeds < 1) {
    fmt::print(stderr,
               "usage: vouivre_figures FOLDER [SEEDS]\n  draws figures 10, 12 and 14 of the Vouivre paper (Dhoutaut et "
               "al.) into the folder, with their data\n");
    return 2;
  }
  if (const auto drawn = draw(argv[1], seeds); !drawn.ok()) {
    fmt::print(stderr, "{}\n", drawn.error().text());
    return 2;
  }
  return 0;
}
