#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {

// Seed 000, figure 1(c): SuperBots docked front to back crawl by a sinusoidal gait.
class Snake final : public sim::Experiment {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  Vec3 start_;
  double lift_ = 0;            // m
  double dock_distance_ = 0;   // m, the largest error of any dock in any tick
  double dock_angle_ = 0;      // rad
};

}  // namespace volvox::experiments::remod3d
