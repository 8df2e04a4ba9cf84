#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {

// The ReMod3D paper, figure 5 (top): a SuperBot on a base docks with two modules nearby, one after the other, and
// becomes an arm of three.
class ArmGrowth final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path& folder) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  std::vector<double> engaged_at_;  // s, when docks engaged
};

}  // namespace volvox::experiments::remod3d
