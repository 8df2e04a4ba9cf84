#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {

// The ReMod3D paper, figure 6: heavy spheres fly into a grid of docked SuperBots in zero gravity, and docks break.
class Breakage final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  Vec3 momentum_;                               // kg m/s, at the start
  Vec3 spin_;                                   // kg m^2/s, at the start, about the origin
  double momentum_error_ = 0, spin_error_ = 0;  // the largest changes so far, divided by the linear momentum; 1, m
  std::int64_t docks_ = 0;                      // engaged at the start
  double first_break_ = -1;                     // s
};

}  // namespace volvox::experiments::remod3d
