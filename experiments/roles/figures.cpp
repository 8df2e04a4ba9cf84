// Draws the figures and tables of experiments/roles/results:
//
//   build/release/bin/roles_figures FOLDER [SEEDS [PART]]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "study.h"
#include "volvox/base/csv.h"
#include "volvox/base/text.h"
#include "volvox/report/chart.h"
#include "volvox/report/table.h"

using namespace volvox;
using namespace volvox::experiments;

namespace {

using Settings = std::map<std::string, std::string>;

struct Spread {
  double low = 0, median = 0, high = 0;
};
Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values.front(), 0.5 * (values[(values.size() - 1) / 2] + values[values.size() / 2]), values.back()};
}
report::Point point(double x, const Spread& s, double scale = 1) {
  return {x, scale * s.median, scale * s.low, scale * s.high};
}
report::Curve measured_curve(const std::string& label, std::string_view color) {
  return {.label = label, .points = {}, .color = std::string(color), .marks = true};
}
report::Curve dashed_curve(const std::string& label, std::vector<report::Point> points, std::string_view color) {
  return {.label = label, .points = std::move(points), .color = std::string(color), .dashed = true};
}
// From 0, as speeds and times are compared.
std::string chart_svg(const std::string& title, const std::string& x_label, const std::string& y_label,
                      std::vector<report::Curve> curves, const std::string& note) {
  return svg(report::Chart{
      title, {{"", {.label = x_label, .from = 0}, {.label = y_label, .from = 0}, std::move(curves)}}, note});
}
std::string centimetres(const Spread& s) {
  return fmt::format("{:.1f} ({:.1f} to {:.1f})", 100 * s.median, 100 * s.low, 100 * s.high);
}

std::string fixed4(double value) { return Csv::fixed(value, 4); }
std::string fixed5(double value) { return Csv::fixed(value, 5); }

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
      text_.clear();
      (this->*part)();
      if (!text_.empty()) write(name + ".md", text_);
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
              metric(run("roles/" + name, settings, duration, static_cast<std::uint64_t>(seed), engine), what);
          std::isfinite(value))
        values.push_back(value);
    return values.empty() ? Spread{sim::not_measured, sim::not_measured, sim::not_measured}
                          : spread_of(std::move(values));
  }

  void friction() {
    Csv csv({"gait", "engine", "friction", "speed_m_s", "least", "most"});
    report::Rows rows = {{"friction"}};
    std::vector<report::Curve> curves;
    const std::pair<const char*, const char*> cases[] = {
        {"sidewinder", "native"}, {"sidewinder", "bullet"}, {"walker", "native"}, {"walker", "bullet"}};
    namespace color = report::color;
    constexpr std::string_view colors[] = {color::blue, color::sky, color::vermilion, color::orange};
    for (std::size_t c = 0; c < 4; ++c) {
      rows[0].push_back(fmt::format("{}, {}", cases[c].first, cases[c].second));
      curves.push_back(measured_curve(rows[0].back(), colors[c]));
    }
    for (const double mu : {0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.2}) {
      rows.push_back({fmt::format("{:g}", mu)});
      for (std::size_t c = 0; c < 4; ++c) {
        const Spread speed =
            measure(cases[c].first, {{"friction", fmt::format("{}", mu)}}, "speed_m_s", 25, cases[c].second);
        csv.row(cases[c].first, cases[c].second, mu, fixed5(speed.median), fixed5(speed.low), fixed5(speed.high));
        rows.back().push_back(centimetres(speed));
        curves[c].points.push_back(point(mu, speed, 100));
      }
    }
    curves.push_back(dashed_curve("the paper, sidewinder", {{0, 5.1}, {1.2, 5.1}}, color::blue));
    curves.push_back(dashed_curve("the paper, walker", {{0, 3.1}, {1.2, 3.1}}, color::vermilion));
    text_ = "# Speed against friction, cm/s\n" + seeds_line() + report::markdown_table(rows);
    write("friction.csv", csv.text());
    write("friction.svg", chart_svg("Speed against friction", "friction between modules and ground", "speed (cm/s)",
                                    std::move(curves), "Dashed: the paper's 5.1 and 3.1 cm/s."));
  }

  void heights() {
    Csv csv({"height", "sync_time_s", "least", "most", "bound_s"});
    report::Curve measured = measured_curve("measured", report::color::blue);
    report::Curve bound = dashed_curve("T/5 and a tick a hop", {}, report::color::gray);
    for (const int height : {2, 4, 8, 16, 24, 32, 48, 64}) {
      const double hop = 2.5 / 5 + 1.0 / 72;
      const Spread time =
          measure("sidewinder", {{"modules", std::to_string(height + 1)}}, "sync_time_s", height * hop + 6, "none");
      measured.points.push_back(point(height, time));
      bound.points.push_back({static_cast<double>(height), height * hop});
      csv.row(height, fixed4(time.median), fixed4(time.low), fixed4(time.high), fixed4(height * hop));
    }
    write("height.csv", csv.text());
    write("height.svg",
          chart_svg(
              "Synchronising grows with the height of the tree", "height (hops)", "time (s)", {measured, bound},
              fmt::format("From the root's start; chains of the role sw, medians of {} seeds, engine none.", seeds_)));
  }

  void lengths() {
    Csv csv({"gait", "modules", "speed_m_s", "least", "most"});
    report::Rows rows = {{"modules", "caterpillar", "sidewinder"}};
    for (const int modules : {5, 7, 10, 15, 20, 30}) {
      rows.push_back({std::to_string(modules)});
      for (const char* gait : {"caterpillar", "sidewinder"}) {
        const double begin = 6 + 0.52 * modules;
        const Spread speed = measure(gait, {{"modules", std::to_string(modules)}, {"settle", fmt::format("{}", begin)}},
                                     "gait_speed_m_s", begin + 15);
        csv.row(gait, modules, fixed5(speed.median), fixed5(speed.low), fixed5(speed.high));
        rows.back().push_back(centimetres(speed));
      }
    }
    text_ = "# Speed against the number of modules, cm/s\n" + seeds_line() +
            "Measured over 15 s once all are in step.\n\n" + report::markdown_table(rows);
    write("modules.csv", csv.text());
  }

  void losses() {
    Csv csv({"loss", "sync_time_s", "least", "most", "speed_m_s"});
    report::Rows rows = {{"lost", "in step after, s", "speed, cm/s"}};
    for (const double loss : {0.0, 0.01, 0.1, 0.3}) {
      const Settings settings = {{"loss", fmt::format("{}", loss)}, {"settle", "20"}};
      const Spread time = measure("sidewinder", settings, "sync_time_s", 60, "none", 4 * seeds_);
      const Spread speed = measure("sidewinder", settings, "gait_speed_m_s", 35);
      csv.row(loss, fixed4(time.median), fixed4(time.low), fixed4(time.high), fixed5(speed.median));
      rows.push_back({fmt::format("{:g} %", 100 * loss),
                      fmt::format("{:.2f} ({:.2f} to {:.2f})", time.median, time.low, time.high), centimetres(speed)});
    }
    text_ = "# Signals lost (sidewinder)\n" + seeds_line() +
            "Time to find into step with engine none; speed from 20 to 35 s.\n" + report::markdown_table(rows);
    write("loss.csv", csv.text());
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
    Csv csv({"case", "control", "speed_m_s", "least", "most", "messages_per_module_s"});
    report::Rows rows = {{"", "roles", "gait control table", "hormones"}};
    std::vector<std::string> all_messages = {"messages a module and second"};
    for (const auto& [what, settings] : cases) {
      rows.push_back({what});
      for (const char* control : {"roles", "tables", "hormones"}) {
        Settings all = settings;
        all["control"] = control;
        all["settle"] = "15";
        const Spread speed = measure("sidewinder", all, "gait_speed_m_s", 30);
        const double messages = metric(run("roles/sidewinder", all, 30, 1, "none"), "messages_sent") / 30 /
                                (settings.contains("modules") ? 15 : 7);
        csv.row(what, control, fixed5(speed.median), fixed5(speed.low), fixed5(speed.high), Csv::fixed(messages, 3));
        rows.back().push_back(centimetres(speed));
        if (settings.empty()) all_messages.push_back(fmt::format("{:.1f}", messages));
      }
    }
    rows.push_back(all_messages);
    text_ = "# Beside gait control tables and hormones (sidewinder)\n" + seeds_line() +
            "Speed in cm/s from 15 to 30 s; what happens, happens at 8 s.\n\n" + report::markdown_table(rows);
    write("controls.csv", csv.text());
  }

  // Figure 6.
  void reconfigurations() {
    Csv csv({"sequence", "seed", "sidewinder_time_s", "walker_time_s", "handling_time_s", "sync_time_s", "moves_made"});
    report::Rows rows = {
        {"sequence", "winds 63 cm", "the paper", "walks 87 cm", "the paper", "in step after", "succeeded"}};
    const int paper_winding[] = {13, 11, 13, 12}, paper_walking[] = {25, 30, 28, 30};
    for (int sequence = 1; sequence <= 4; ++sequence) {
      std::vector<double> winding, walking, step;
      constexpr int seeds = 20;
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const auto done = run("roles/reconfigure", {{"sequence", std::to_string(sequence)}}, 60, seed);
        csv.field(sequence), csv.field(seed);
        for (const char* name : {"sidewinder_time_s", "walker_time_s", "handling_time_s", "sync_time_s", "moves_made"})
          csv.field(Csv::fixed(metric(done, name), 3));
        csv.end_row();
        if (!(metric(done, "walker_time_s") > 0)) continue;
        winding.push_back(metric(done, "sidewinder_time_s"));
        walking.push_back(metric(done, "walker_time_s"));
        step.push_back(metric(done, "sync_time_s"));
      }
      const auto times = [](const std::vector<double>& all) {
        if (all.empty()) return std::string("-");
        const Spread s = spread_of(all);
        return fmt::format("{:.1f} ({:.1f} to {:.1f})", s.median, s.low, s.high);
      };
      rows.push_back({std::to_string(sequence), times(winding), std::to_string(paper_winding[sequence - 1]),
                      times(walking), std::to_string(paper_walking[sequence - 1]), times(step),
                      fmt::format("{}/{}", walking.size(), seeds)});
    }
    text_ =
        "# Figure 6: re-arranged by hand while it runs\nMedians over 20 seeds (clocks and start poses), s; the paper "
        "has one run of each.\n" +
        report::markdown_table(rows);
    write("reconfigure.csv", csv.text());
  }

  void write(const std::string& name, const std::string& text) {
    if (const auto written = write_file(folder_ / name, text); !written.ok())
      throw std::runtime_error(written.error().text());
  }

  std::filesystem::path folder_;
  int seeds_;
  std::string text_;  // of the part that is drawn, as Markdown
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
