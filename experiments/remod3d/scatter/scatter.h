#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {

// The ReMod3D paper, figure 1(b): disconnected modules move all their motors. An example of a world that is built in
// C++ instead of read from a file.
class Scatter final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override { ar("lowest", lowest_); }

 private:
  double lowest_ = 0;  // m, lowest z of any link's centre below the ground; 0 or negative
};

}  // namespace volvox::experiments::remod3d
