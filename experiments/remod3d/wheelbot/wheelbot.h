#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {

// Seed 000, figure 1(h): a mobile robot among obstacles, with nothing but its range sensor.
class Wheelbot final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  Vec3 last_;                          // where it was
  double path_ = 0;                    // m
  double gap_ = 1e300;                 // m, the smallest between its outline and anything
  std::vector<std::uint8_t> visited_;  // squares of the arena, row by row
};

}  // namespace volvox::experiments::remod3d
