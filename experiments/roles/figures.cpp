// Draws the figures and tables of experiments/roles/results:
//
//   build/release/bin/roles_figures FOLDER [SEEDS [PART]]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "line_chart.h"
#include "study.h"

using namespace volvox;
using namespace volvox::experiments::roles;

namespace {

using Settings = std::map<std::string, std::string>;

struct Spread {
  double low = 0, median = 0, high = 0;
};
Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values.front(), 0.5 * (values[(values.size() - 1) / 2] + values[values.size() / 2]), values.back()};
}
ChartPoint point(double x, const Spread& s) { return {x, s.median, s.low, s.high}; }
std::string centimetres(const Spread& s) {
  return fmt::format("{:.1f} ({:.1f} to {:.1f})", 100 * s.median, 100 * s.low, 100 * s.high);
}

class Figures {
 public:
  Figures(std::filesystem::path folder, int seeds) : folder_(std::move(folder)), seeds_(seeds) {
    std::filesystem::create_directories(folder_);
  }

  // All parts, or the one of that name.
  void draw(const std::string& wanted) {
    const std::pair<std::string, void (Figures::*)()> parts[] = {
        {"friction", &Figures::friction}, {"height", &Figures::heights},
        {"modules", &Figures::lengths},   {"loss", &Figures::losses},
        {"controls", &Figures::controls}, {"reconfigure", &Figures::reconfigurations}};
    std::string names;
    bool drawn = false;
    for (const auto& [name, part] : parts) {
      names += " " + name;
      if (!wanted.empty() && wanted != name) continue;
      drawn = true;
      table_.clear();
      (this->*part)();
      if (!table_.empty()) write(name + ".md", table_);
    }
    if (!drawn) throw std::runtime_error("there is no part '" + wanted + "'; there are:" + names);
  }

 private:
  std::string seeds_line() const {
    return fmt::format(
        "Medians of {} seeds (least to most), engine native unless said otherwise; made by `roles_figures`.\n\n",
        seeds_);
  }

  Spread measure(const std::string& name, const Settings& settings, const char* what, double duration,
                 const std::string& engine = "native", int seeds = 0) {
    std::vector<double> values;
    for (int seed = 1; seed <= (seeds > 0 ? seeds : seeds_); ++seed)
      if (const double value =
              metric(study_.run(name, settings, duration, static_cast<std::uint64_t>(seed), engine), what);
          std::isfinite(value))
        values.push_back(value);
    return values.empty() ? Spread{sim::not_measured, sim::not_measured, sim::not_measured}
                          : spread_of(std::move(values));
  }

  void friction() {
    std::string csv = "gait,engine,friction,speed_m_s,least,most\n";
    table_ += "# Speed against friction, cm/s\n" + seeds_line() +
              "| friction | sidewinder, native | sidewinder, bullet | walker, native | walker, bullet "
              "|\n|---|---|---|---|---|\n";
    LineChart chart{"Speed against friction",
                    "friction between modules and ground",
                    "speed (cm/s)",
                    "Dashed: the paper's 5.1 and 3.1 cm/s.",
                    {}};
    const std::pair<const char*, const char*> cases[] = {
        {"sidewinder", "native"}, {"sidewinder", "bullet"}, {"walker", "native"}, {"walker", "bullet"}};
    const char* colors[] = {"#0072b2", "#56b4e9", "#d55e00", "#e69f00"};
    for (std::size_t c = 0; c < 4; ++c)
      chart.curves.push_back({fmt::format("{}, {}", cases[c].first, cases[c].second), colors[c], {}});
    for (const double mu : {0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.2}) {
      table_ += fmt::format("| {:g} |", mu);
      for (std::size_t c = 0; c < 4; ++c) {
        const Spread speed =
            measure(cases[c].first, {{"friction", fmt::format("{}", mu)}}, "speed_m_s", 25, cases[c].second);
        csv += fmt::format("{},{},{},{:.5f},{:.5f},{:.5f}\n", cases[c].first, cases[c].second, mu, speed.median,
                           speed.low, speed.high);
        table_ += fmt::format(" {} |", centimetres(speed));
        chart.curves[c].points.push_back({mu, 100 * speed.median, 100 * speed.low, 100 * speed.high});
      }
      table_ += "\n";
    }
    chart.curves.push_back({"the paper, sidewinder", "#0072b2", {{0, 5.1}, {1.2, 5.1}}, true});
    chart.curves.push_back({"the paper, walker", "#d55e00", {{0, 3.1}, {1.2, 3.1}}, true});
    write("friction.csv", csv);
    write("friction.svg", svg(chart));
  }

  void heights() {
    std::string csv = "height,sync_time_s,least,most,bound_s\n";
    LineChart chart{
        "Synchronising grows with the height of the tree",
        "height (hops)",
        "time (s)",
        fmt::format("From the root's start; chains of the role sw, medians of {} seeds, engine none.", seeds_),
        {}};
    ChartCurve measured{"measured", "#0072b2", {}}, bound{"T/5 and a tick a hop", "#999999", {}, true};
    for (const int height : {2, 4, 8, 16, 24, 32, 48, 64}) {
      const double hop = 2.5 / 5 + 1.0 / 72;
      const Spread time =
          measure("sidewinder", {{"modules", std::to_string(height + 1)}}, "sync_time_s", height * hop + 6, "none");
      measured.points.push_back(point(height, time));
      bound.points.push_back({static_cast<double>(height), height * hop});
      csv += fmt::format("{},{:.4f},{:.4f},{:.4f},{:.4f}\n", height, time.median, time.low, time.high, height * hop);
    }
    chart.curves = {measured, bound};
    write("height.csv", csv);
    write("height.svg", svg(chart));
  }

  void lengths() {
    std::string csv = "gait,modules,speed_m_s,least,most\n";
    table_ += "# Speed against the number of modules, cm/s\n" + seeds_line() +
              "Measured over 15 s once all are in step.\n\n| modules | caterpillar | sidewinder |\n|---|---|---|\n";
    for (const int modules : {5, 7, 10, 15, 20, 30}) {
      table_ += fmt::format("| {} |", modules);
      for (const char* gait : {"caterpillar", "sidewinder"}) {
        const double begin = 6 + 0.52 * modules;
        const Spread speed = measure(gait, {{"modules", std::to_string(modules)}, {"settle", fmt::format("{}", begin)}},
                                     "gait_speed_m_s", begin + 15);
        csv += fmt::format("{},{},{:.5f},{:.5f},{:.5f}\n", gait, modules, speed.median, speed.low, speed.high);
        table_ += fmt::format(" {} |", centimetres(speed));
      }
      table_ += "\n";
    }
    write("modules.csv", csv);
  }

  void losses() {
    std::string csv = "loss,sync_time_s,least,most,speed_m_s\n";
    table_ += "# Signals lost (sidewinder)\n" + seeds_line() +
              "Time to find into step with engine none; speed from 20 to 35 s.\n| lost | in step after, s | speed, "
              "cm/s |\n|---|---|---|\n";
    for (const double loss : {0.0, 0.01, 0.1, 0.3}) {
      const Settings settings = {{"loss", fmt::format("{}", loss)}, {"settle", "20"}};
      const Spread time = measure("sidewinder", settings, "sync_time_s", 60, "none", 4 * seeds_);
      const Spread speed = measure("sidewinder", settings, "gait_speed_m_s", 35);
      csv += fmt::format("{},{:.4f},{:.4f},{:.4f},{:.5f}\n", loss, time.median, time.low, time.high, speed.median);
      table_ += fmt::format("| {:g} % | {:.2f} ({:.2f} to {:.2f}) | {} |\n", 100 * loss, time.median, time.low,
                            time.high, centimetres(speed));
    }
    write("loss.csv", csv);
  }

  // Section 6: the same chain with the same motion under three controls.
  void controls() {
    const std::pair<const char*, Settings> cases[] = {{"nothing happens", {}},
                                                      {"a module is silent for one period", {{"silent", "3"}}},
                                                      {"1 % of all messages lost", {{"loss", "0.01"}}},
                                                      {"10 % lost", {{"loss", "0.1"}}},
                                                      {"30 % lost", {{"loss", "0.3"}}},
                                                      {"the middle module dies", {{"dead", "3"}}},
                                                      {"the first module dies", {{"dead", "0"}}},
                                                      {"modules put together in any order", {{"shuffled", "true"}}},
                                                      {"15 modules instead of 7", {{"modules", "15"}}}};
    std::string csv = "case,control,speed_m_s,least,most,messages_per_module_s\n";
    table_ += "# Beside gait control tables and hormones (sidewinder)\n" + seeds_line() +
              "Speed in cm/s from 15 to 30 s; what happens, happens at 8 s.\n\n| | roles | gait control table | "
              "hormones |\n|---|---|---|---|\n";
    for (const auto& [what, settings] : cases) {
      table_ += fmt::format("| {} |", what);
      for (const char* control : {"roles", "tables", "hormones"}) {
        Settings all = settings;
        all["control"] = control;
        all["settle"] = "15";
        const Spread speed = measure("sidewinder", all, "gait_speed_m_s", 30);
        const double messages = metric(study_.run("sidewinder", all, 30, 1, "none"), "messages_sent") / 30 /
                                (settings.contains("modules") ? 15 : 7);
        csv += fmt::format("{},{},{:.5f},{:.5f},{:.5f},{:.3f}\n", what, control, speed.median, speed.low, speed.high,
                           messages);
        table_ += fmt::format(" {} |", centimetres(speed));
        if (settings.empty()) first_messages_ += fmt::format(" {:.1f} |", messages);
      }
      table_ += "\n";
    }
    table_ += "| messages a module and second |" + first_messages_ + "\n";
    write("controls.csv", csv);
  }

  // Figure 6.
  void reconfigurations() {
    std::string csv = "sequence,seed,sidewinder_time_s,walker_time_s,handling_time_s,sync_time_s,moves_made\n";
    table_ +=
        "# Figure 6: re-arranged by hand while it runs\nMedians over 20 seeds (clocks and start poses), s; the paper "
        "has one run of each.\n"
        "| sequence | winds 63 cm | the paper | walks 87 cm | the paper | in step after | succeeded "
        "|\n|---|---|---|---|---|---|---|\n";
    const int paper_winding[] = {13, 11, 13, 12}, paper_walking[] = {25, 30, 28, 30};
    for (int sequence = 1; sequence <= 4; ++sequence) {
      std::vector<double> winding, walking, step;
      constexpr int seeds = 20;
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const auto report = study_.run("reconfigure", {{"sequence", std::to_string(sequence)}}, 60, seed);
        csv += fmt::format("{},{}", sequence, seed);
        for (const char* name : {"sidewinder_time_s", "walker_time_s", "handling_time_s", "sync_time_s", "moves_made"})
          csv += fmt::format(",{:.3f}", metric(report, name));
        csv += "\n";
        if (!(metric(report, "walker_time_s") > 0)) continue;
        winding.push_back(metric(report, "sidewinder_time_s"));
        walking.push_back(metric(report, "walker_time_s"));
        step.push_back(metric(report, "sync_time_s"));
      }
      const auto times = [](const std::vector<double>& all) {
        if (all.empty()) return std::string("-");
        const Spread s = spread_of(all);
        return fmt::format("{:.1f} ({:.1f} to {:.1f})", s.median, s.low, s.high);
      };
      table_ += fmt::format("| {} | {} | {} | {} | {} | {} | {}/{} |\n", sequence, times(winding),
                            paper_winding[sequence - 1], times(walking), paper_walking[sequence - 1], times(step),
                            walking.size(), seeds);
    }
    write("reconfigure.csv", csv);
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream out(folder_ / name, std::ios::binary);
    out << text;
    out.flush();
    if (!out) throw std::runtime_error((folder_ / name).string() + ": cannot be written; give a folder that can be");
  }

  std::filesystem::path folder_;
  int seeds_;
  Study study_;
  std::string table_, first_messages_;
};

}  // namespace

int main(int argc, char** argv) {
  const int seeds = argc > 2 ? std::atoi(argv[2]) : 5;
  if (argc < 2 || seeds < 1) {
    fmt::print(stderr,
               "usage: roles_figures FOLDER [SEEDS [PART]]\n  draws the figures and tables of "
               "experiments/roles/results into the folder\n");
    return 2;
  }
  try {
    Figures(argv[1], seeds).draw(argc > 3 ? argv[3] : "");
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}
