#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {

// The ReMod3D paper, figure 1(c): SuperBots docked front to back crawl by a sinusoidal gait.
class Snake final : public sim::Experiment {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  double synchrony(const sim::Simulation& simulation, bool& all_know) const;

  Vec3 start_, forward_;      // centre of mass at the start; unit vector in the direction of the waves
  Vec3 synced_;               // centre of mass when all modules knew the phase
  double synced_at_ = -1;     // s; negative: not yet
  double lift_ = 0;           // m
  double dock_distance_ = 0;  // m, largest gap in any dock so far
  double dock_angle_ = 0;     // rad, largest misalignment so far
};

}  // namespace volvox::experiments::remod3d
