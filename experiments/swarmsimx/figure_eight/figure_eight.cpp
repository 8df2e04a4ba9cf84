#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments.h"
#include "flight.h"
#include "volvox/base/csv.h"
#include "volvox/base/text.h"
#include "volvox/report/chart.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::swarmsimx {
namespace {

// Figure 4: mean and standard deviation in m.
struct Published {
  double mean, deviation;
};
constexpr Published in_simulation[2] = {{0.1245, 0.0444}, {0.0546, 0.0131}},
                    in_reality[2] = {{0.0919, 0.0412}, {0.0654, 0.0179}};

// The tracking errors of one quadrotor, one per tick.
struct Track {
  std::string name;            // of the module
  std::vector<double> errors;  // m
  double mean() const {
    double sum = 0;
    for (const double e : errors) sum += e;
    return sim::mean_of(sum, real(errors.size()));
  }
  double deviation() const {
    double sum = 0;
    const double middle = mean();
    for (const double e : errors) sum += (e - middle) * (e - middle);
    return std::sqrt(sim::mean_of(sum, real(errors.size())));
  }
};

// The SwarmSimX paper, section 3.1 and figure 4: a horizontal and a vertical eight, flown at a constant yaw rate, and
// the cumulative distribution of the tracking error.
class FigureEight final : public sim::Experiment {
 public:
  // The paper's simulator has no aerodynamics beyond a map from the speeds of the rotors to forces and torques.
  Result<model::WorldModel> init(sim::Setup& setup) override {
    auto world = Experiment::init(setup);
    if (!world.ok() || setup.settings.at("air") == "true") return world;
    for (model::Placement& placement : world->placements) {
      if (placement.model->actuators.empty()) continue;
      auto still = std::make_shared<model::ModuleModel>(*placement.model);
      for (model::Actuator& rotor : still->actuators)
        for (const char* of_air : {"inflow", "side_drag"})
          if (rotor.parameters.contains(of_air)) rotor.parameters[of_air] = "0";
      placement.model = std::move(still);
    }
    return world;
  }

  void begin(const sim::Simulation&) override {
    for (Track& track : tracks_) track.errors.clear();
  }

  void observe(const sim::Simulation& simulation) override {
    const double now = simulation.now().seconds();
    const mind::Minds& minds = simulation.minds();
    for (std::size_t i = 0; i < minds.size(); ++i) {
      const auto* eight = dynamic_cast<const robots::FigureEight*>(minds.behavior(i));
      if (eight == nullptr || now < eight->begins()) continue;
      const world::PlacementIndex placement = minds.agent(i).placement();
      const Vec3 place = simulation.world().link_pose(simulation.world().part(placement).first_link).position;
      for (Track& track : tracks_)
        if (track.name == minds.agent(i).name()) track.errors.push_back(length(place - eight->target(now).position));
    }
  }

  void shutdown(const sim::Simulation&, sim::Metrics& metrics) override {
    for (std::size_t k = 0; k < tracks_.size(); ++k) {
      const Track& track = tracks_[k];
      metrics.set_beside_paper(
          track.name + "_mean_m", track.mean(), in_simulation[k].mean,
          fmt::format("mean tracking error; SwarmSimX paper, figure 4, simulated (real: {} m)", in_reality[k].mean));
      metrics.set_beside_paper(track.name + "_std_m", track.deviation(), in_simulation[k].deviation,
                               fmt::format("its standard deviation; SwarmSimX paper, figure 4, simulated (real: {} m)",
                                           in_reality[k].deviation));
      metrics.set(
          track.name + "_max_m",
          track.errors.empty() ? sim::not_measured : *std::max_element(track.errors.begin(), track.errors.end()),
          "largest tracking error");
    }
  }

  // Figure 4: the cumulative distribution of the tracking error.
  Result<void> write(const std::filesystem::path& folder) const override {
    if (tracks_[0].errors.empty() || tracks_[1].errors.empty()) return {};  // it ended before an eight began
    constexpr std::size_t steps = 200;                                      // of the curve: more cannot be seen
    Csv csv({"part_of_time", "horizontal_error_m", "vertical_error_m"});
    std::vector<report::Curve> curves;
    std::array<std::vector<double>, 2> sorted;
    for (std::size_t k = 0; k < tracks_.size(); ++k) {
      sorted[k] = tracks_[k].errors;
      std::sort(sorted[k].begin(), sorted[k].end());
      curves.push_back(
          {fmt::format("{}: {:.3f} ± {:.3f} m", tracks_[k].name, tracks_[k].mean(), tracks_[k].deviation()),
           {},
           std::string(k == 0 ? report::color::blue : report::color::vermilion)});
      curves[k].join = report::Join::steps;
    }
    for (std::size_t i = 1; i <= steps; ++i) {
      const double part = real(i) / steps;
      const auto error = [&](std::size_t k) { return sorted[k][(sorted[k].size() * i + steps - 1) / steps - 1]; };
      for (std::size_t k = 0; k < 2; ++k) curves[k].points.push_back({error(k), part});
      csv.row(Csv::fixed(part, 3), Csv::fixed(error(0), 4), Csv::fixed(error(1), 4));
    }
    const report::Chart chart{
        "Tracking error of the two eights (seed 003, figure 4)",
        {{"",
          {.label = "distance from where it should be (m)", .from = 0},
          {.label = "part of the time closer", .from = 0, .to = 1},
          std::move(curves)}},
        fmt::format("The paper: simulated {} ± {} and {} ± {} m; real {} ± {} and {} ± {} m", in_simulation[0].mean,
                    in_simulation[0].deviation, in_simulation[1].mean, in_simulation[1].deviation, in_reality[0].mean,
                    in_reality[0].deviation, in_reality[1].mean, in_reality[1].deviation)};
    if (auto written = write_file(folder / "figure4.csv", csv.text()); !written.ok()) return written;
    return write_file(folder / "figure4.svg", svg(chart));
  }

  void archive_state(Archive& ar) override {
    for (Track& track : tracks_) ar("errors", track.errors);
  }

 private:
  std::array<Track, 2> tracks_{{{"horizontal", {}}, {"vertical", {}}}};
};

}  // namespace

sim::ExperimentFactory figure_eight() { return make<FigureEight>(); }

}  // namespace volvox::experiments::swarmsimx
