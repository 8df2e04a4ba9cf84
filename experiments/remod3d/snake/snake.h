#pragma once

#include "docks.h"
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

  Vec3 start_, forward_;   // of the centre of mass; a unit vector the way that the waves go
  Vec3 synced_;            // of the centre of mass, when all modules had heard of the phase
  double synced_at_ = -1;  // s; negative: they have not
  double lift_ = 0;        // m
  DockErrors dock_errors_;
};

}  // namespace volvox::experiments::remod3d
