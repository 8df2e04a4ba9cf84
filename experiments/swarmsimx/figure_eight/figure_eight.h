#pragma once

#include <array>

#include "volvox/sim/experiment.h"

namespace volvox::experiments::swarmsimx {

// Seed 003, section 3.1 and figure 4: a lying and a standing eight, flown at a constant rate of
// yaw, and the cumulative distribution of the tracking error.
class FigureEight final : public sim::Experiment {
 public:
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  Result<void> write(const std::filesystem::path& folder) const override;
  void archive_state(Archive& ar) override;

  // Of one eight: the distances from where the quadrotor should have been, in m, one a tick.
  struct Track {
    std::string name;  // of the module
    std::vector<double> errors;
    double mean() const;
    double deviation() const;
  };
  const std::array<Track, 2>& tracks() const { return tracks_; }

 private:
  std::array<Track, 2> tracks_{{{"horizontal", {}}, {"vertical", {}}}};
};

}  // namespace volvox::experiments::swarmsimx
