#pragma once

#include "pit.h"
#include "volvox/scan/evaluate.h"

namespace volvox::experiments::arenas {

// The Symbrion paper, table 1 and figures 3 to 5: the arena with the pit, built from a point cloud by one of the three
// methods and compared with the true arena.
class Reconstruct final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path& folder) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;

 private:
  std::string method_;
  std::size_t triangles_ = 0;
  double cpu_ = 0;  // s
  scan::Evaluation found_;
};

}  // namespace volvox::experiments::arenas
