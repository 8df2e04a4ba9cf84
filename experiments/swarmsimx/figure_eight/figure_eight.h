#pragma once

#include <array>

#include "volvox/sim/experiment.h"

namespace volvox::experiments::swarmsimx {

// The SwarmSimX paper, section 3.1 and figure 4: a horizontal and a vertical eight, flown at a constant yaw rate, and
// the cumulative distribution of the tracking error.
class FigureEight final : public sim::Experiment {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  Result<void> write(const std::filesystem::path& folder) const override;
  void archive_state(Archive& ar) override;

  // The tracking errors of one quadrotor in m, one per tick.
  struct Track {
    std::string name;  // of the module
    std::vector<double> errors;
    double mean() const;
    double deviation() const;
  };

 private:
  std::array<Track, 2> tracks_{{{"horizontal", {}}, {"vertical", {}}}};
};

}  // namespace volvox::experiments::swarmsimx
