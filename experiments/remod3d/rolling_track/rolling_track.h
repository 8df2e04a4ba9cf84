#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {

// The ReMod3D paper, figure 1(e): six SuperBots in a ring that rolls by its accelerometers.
class RollingTrack final : public sim::Experiment {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  Vec3 start_;
  double tilt_ = 0;           // rad, largest tilt of the loop's plane from the vertical
  double error_squares_ = 0;  // rad^2, sum over the modules' estimates of the vertical
  std::int64_t errors_ = 0;
};

}  // namespace volvox::experiments::remod3d
