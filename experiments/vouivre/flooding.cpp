#include "flooding.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "flood_charts.h"
#include "settings.h"
#include "volvox/base/csv.h"
#include "volvox/base/text.h"

namespace volvox::experiments::vouivre {

// The run checks the settings against these before init.
std::vector<model::ParameterDesc> Flooding::assumption_parameters() {
  const Assumptions a;
  return {{"range", fmt::format("{}", a.range), 0.5, 100, {}, "range of the radio at 1 mW, in spacings", 0},
          {"carrier",
           fmt::format("{}", a.carrier),
           0.01,
           1000,
           {},
           "carrier threshold above the noise, as a fraction of the receive threshold",
           0},
          {"pitch", fmt::format("{}", a.pitch), 1, 20, {}, "pitch of the regular grid of relays, in spacings", 0, true},
          {"forwarding",
           "parallel",
           {},
           {},
           {"parallel", "one_by_one"},
           "over wires: to all links at once, or to one after another",
           0},
          {"wires",
           "live",
           {},
           {},
           {"live", "delayed"},
           "a hop takes as long as its bytes (live), or a whole tick, as in DPRSim (delayed: of 1/4 s; the cross is "
           "smaller then)",
           0}};
}

Assumptions Flooding::assumptions(const std::map<std::string, std::string>& settings) {
  Assumptions a;
  a.range = number(settings, "range");
  a.carrier = number(settings, "carrier");
  a.pitch = truncated(number(settings, "pitch"));
  a.one_link_at_a_time = settings.at("forwarding") == "one_by_one";
  a.delayed_wires = settings.at("wires") == "delayed";
  return a;
}

Result<std::vector<model::ParameterDesc>> Checkerboard::parameters(const std::filesystem::path&) const {
  std::vector<model::ParameterDesc> all = assumption_parameters();
  all.insert(all.begin(), {"simulation",
                           "7",
                           {},
                           {},
                           {"1", "2", "3", "4", "5", "6", "7", "8", "nano"},
                           "simulation of figure 13, or by nano-radios (TS-OOK)",
                           0});
  all.push_back({"spread",
                 fmt::format("{}", Assumptions{}.spread),
                 1,
                 1'000'000,
                 {},
                 "pulses that a bit of a nano-radio takes",
                 0,
                 true});
  return all;
}
Plan Checkerboard::plan(const sim::Setup& setup) const {
  Assumptions assumed = assumptions(setup.settings);
  assumed.spread = truncated(number(setup.settings, "spread"));
  const std::string& simulation = setup.settings.at("simulation");
  return simulation == "nano" ? nano_checkerboard(assumed) : checkerboard(std::atoi(simulation.c_str()), assumed);
}

Result<std::vector<model::ParameterDesc>> Cross::parameters(const std::filesystem::path&) const {
  std::vector<model::ParameterDesc> all = assumption_parameters();
  all.insert(all.begin(), {"simulation", "T1", {}, {}, {"T1", "T2", "T3", "T4"}, "simulation of figures 11 and 12", 0});
  return all;
}
Plan Cross::plan(const sim::Setup& setup) const {
  return cross(std::atoi(setup.settings.at("simulation").c_str() + 1), assumptions(setup.settings));
}

Result<model::WorldModel> Flooding::init(sim::Setup& setup) {
  plan_ = plan(setup);
  return make_world(plan_, setup.library);
}

void Flooding::shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) {
  result_ = flood_result(simulation);
  metrics.set("catoms", real(plan_.cells.size()), "number of catoms");
  metrics.set("coloured", real(result_.reached()), "catoms that have the packet at the end");
  for (const int percent : {10, 50, 95, 100})
    metrics.set(fmt::format("time_to_{}_percent_s", percent), result_.time_to(percent / 100.0),
                fmt::format("when {} % of the catoms had the packet; -: never", percent));
  metrics.set("range_m", plan_.assumed.range * plan_.assumed.spacing * std::sqrt(plan_.power / 1e-3),
              "range of the radios (our assumption)");
}

Result<void> Flooding::write(const std::filesystem::path& folder) const {
  const std::vector<report::Point> coloured = steps(result_);
  Csv csv({"time_s", "coloured"});
  for (const report::Point& p : coloured) csv.row(Csv::fixed(p.x, 9), p.y);
  if (auto written = write_file(folder / "coloured.csv", csv.text()); !written.ok()) return written;
  const report::Chart chart =
      flood_chart(fmt::format("Simulation {}: {}", plan_.name, plan_.description), plan_.cells.size(),
                  {{"this run", coloured, std::string(report::color::blue)}});
  if (auto written = write_file(folder / "coloured.svg", svg(chart)); !written.ok()) return written;
  return write_file(folder / "board.svg", svg(board_chart(plan_, result_, 6)));
}

}  // namespace volvox::experiments::vouivre
