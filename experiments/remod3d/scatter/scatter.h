#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {

// Seed 000, figure 1(b): disconnected modules that move all their motors. Built in C++, as an
// example of a world that is not a file.
class Scatter final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override { ar("lowest", lowest_); }

 private:
  double lowest_ = 0;  // m: how far the centre of any link went below the ground
};

}  // namespace volvox::experiments::remod3d
