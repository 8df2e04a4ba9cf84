#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {

// The ReMod3D paper, figure 5, bottom: two ATRON cars dock into one of fifteen modules; then a car of three undocks at
// the rear and drives away.
class CarDock final : public sim::Experiment {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  double docked_at_ = -1, parted_at_ = -1;  // s; -1: not yet
};

}  // namespace volvox::experiments::remod3d
