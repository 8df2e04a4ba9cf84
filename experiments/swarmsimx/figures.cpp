// Draws what seed 003 shows, with the data: figure 4 and the sweep over the period of the eight,
// or figure 5, carried on to 2000 robots.
//
//   build/release/bin/swarmsimx_figures eights FOLDER
//   build/release/bin/swarmsimx_figures formation FOLDER [TICKS [LARGEST]]    (5000 2000; run it on an idle machine)
#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "behaviors.h"
#include "experiments.h"
#include "formation/formation.h"
#include "volvox/base/csv.h"
#include "volvox/base/text.h"
#include "volvox/report/chart.h"
#include "volvox/sim/run.h"

using namespace volvox;

namespace {

sim::RunOptions of(const char* experiment) {
  sim::RunOptions options;
  options.experiment = experiment;
  return options;
}

class Studio {
 public:
  explicit Studio(std::filesystem::path folder) : folder_(std::move(folder)) {
    robots::register_behaviors(library_.minds.behaviors);
    experiments::register_experiments(library_.experiments);
  }

  Result<void> eights() {
    if (auto drawn = run(of("swarmsimx/figure_eight"), true); !drawn.ok()) return drawn.error();
    Csv csv({"period_s", "horizontal_mean_m", "horizontal_std_m", "vertical_mean_m", "vertical_std_m"});
    std::vector<report::Curve> curves = {{"horizontal", {}, std::string(report::color::blue)},
                                         {"vertical", {}, std::string(report::color::vermilion)}};
    for (report::Curve& curve : curves) curve.marks = true;
    for (const int period : {4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30}) {
      sim::RunOptions options = of("swarmsimx/figure_eight");
      options.settings["period"] = std::to_string(period);
      options.duration = 2 + 4.0 * period;  // three eights after the one that speeds up
      auto report = run(options, false);
      if (!report.ok()) return report.error();
      const auto value = [&](const char* name) { return report->metrics.find(name)->value; };
      csv.field(period);
      for (const char* name : {"horizontal_mean_m", "horizontal_std_m", "vertical_mean_m", "vertical_std_m"})
        csv.field(Csv::fixed(value(name), 4));
      csv.end_row();
      curves[0].points.push_back({static_cast<double>(period), value("horizontal_mean_m")});
      curves[1].points.push_back({static_cast<double>(period), value("vertical_mean_m")});
    }
    fmt::print("{}", csv.text());
    if (auto written = write_file(folder_ / "period_sweep.csv", csv.text()); !written.ok()) return written;
    return write_file(
        folder_ / "period_sweep.svg",
        svg(report::Chart{
            "Tracking error by the period of the eight",
            {{"", {.label = "period (s)", .from = 0}, {.label = "mean error (m)", .from = 0}, std::move(curves)}},
            "Gains as in world.sdf; the experiment's own period is 10 s."}));
  }

  Result<void> formation(int ticks, int largest) {
    Csv csv({"robots", "tick_median_ms", "tick_p99_ms", "tick_longest_ms", "late_ticks", "drift_s", "min_distance_m",
             "min_obstacle_m", "sphere_error_m"});
    std::string table = csv.take();
    std::vector<sim::Box> boxes;
    for (const int robots : {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 500, 1000, 2000}) {
      if (robots > largest) break;
      sim::RunOptions options = of("swarmsimx/formation");
      options.settings["robots"] = std::to_string(robots);
      options.duration = ticks / 50.0;
      options.threads = 2;
      // Paced, as what it stands for, and so under SCHED_FIFO where that is allowed: what else the machine has to
      // do stays out of the figure. Small ones faster, but never so fast that they do not sleep about half of
      // the time: a system throttles who never does.
      options.real_time = robots <= 100 ? 10 : robots <= 200 ? 5 : robots <= 500 ? 2 : 1;
      // The run's own experiment measures; this one is asked what it found.
      const experiments::swarmsimx::Formation* measured = nullptr;
      library_.experiments.add(
          "swarmsimx/formation",
          [&measured] {
            auto made = std::make_unique<experiments::swarmsimx::Formation>();
            measured = made.get();
            return std::unique_ptr<sim::Experiment>(std::move(made));
          },
          "");
      auto prepared = sim::Run::prepare(options, library_, log_);
      if (!prepared.ok()) return prepared.error();
      (*prepared)->finish();
      const sim::RunReport& report = (*prepared)->report();
      if (report.status != "done") return Error(report.failure, "");
      const auto value = [&](const char* name) { return report.metrics.find(name)->value; };
      boxes.push_back(measured->tick_times().box(std::to_string(robots)));
      const auto fixed = [&](const char* name) { return Csv::fixed(value(name), 3); };
      csv.row(robots, fixed("tick_median_ms"), fixed("tick_p99_ms"),
              Csv::fixed(1e3 * measured->tick_times().longest(), 3), value("late_ticks"), fixed("drift_s"),
              fixed("min_distance_m"), fixed("min_obstacle_m"), fixed("sphere_error_m"));
      fmt::print("{}", csv.text());
      std::fflush(stdout);
      table += csv.take();
    }
    if (auto written = write_file(folder_ / "figure5.csv", table); !written.ok()) return written;
    return write_file(folder_ / "figure5.svg",
                      svg(report::time_boxes("What a tick takes, by the number of quadrotors (seed 003, figure 5)",
                                             fmt::format("quadrotors; {} ticks each, two threads", ticks),
                                             std::move(boxes), {0.02, "a tick of 50 Hz lasts as long"})));
  }

 private:
  Result<sim::RunReport> run(const sim::RunOptions& options, bool write) {
    auto prepared = sim::Run::prepare(options, library_, log_);
    if (!prepared.ok()) return prepared.error();
    (*prepared)->finish();
    const sim::RunReport report = (*prepared)->report();
    if (report.status != "done") return Error(report.failure, "");
    if (write) {
      // Of all that a run leaves, its own figures alone.
      const std::filesystem::path whole = folder_ / "run";
      if (auto written = (*prepared)->write(whole); !written.ok()) return written.error();
      for (const char* file : {"figure4.svg", "figure4.csv"}) std::filesystem::rename(whole / file, folder_ / file);
      std::filesystem::remove_all(whole);
    }
    return report;
  }

  std::filesystem::path folder_;
  sim::Library library_;
  Log log_{[](LogLevel, std::string_view) {}};
};

int number(const char* text, int fallback) {
  int value = fallback;
  std::from_chars(text, text + std::char_traits<char>::length(text), value);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (argc < 3 || (what != "eights" && what != "formation")) {
    fmt::print(stderr, "swarmsimx_figures eights FOLDER\nswarmsimx_figures formation FOLDER [TICKS [LARGEST]]\n");
    return 2;
  }
  std::filesystem::create_directories(argv[2]);
  Studio studio(argv[2]);
  const auto drawn = what == "eights" ? studio.eights()
                                      : studio.formation(argc > 3 ? number(argv[3], 5000) : 5000,
                                                         argc > 4 ? number(argv[4], 2000) : 2000);
  if (drawn.ok()) return 0;
  fmt::print(stderr, "{}\n", drawn.error().text());
  return 1;
}
