#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {

// The ReMod3D paper, figure 1(h): a mobile robot drives among obstacles; its only sensor is a range sensor.
class Wheelbot final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  Vec3 last_;                          // its position in the last tick
  double path_ = 0;                    // m
  double gap_ = 1e300;                 // m, smallest distance from its outline to a wall or pillar
  std::vector<std::uint8_t> visited_;  // 1 for visited squares of the arena, row by row
};

}  // namespace volvox::experiments::remod3d
