#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {

// Seed 000, figure 5 (middle): a rolling track disables one dock and becomes a snake that moves on.
class TrackToSnake final : public sim::Experiment {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  Vec3 start_;                                // of the centre of mass, at the beginning
  Vec3 opened_;                               // and when the ring opened
  Vec3 unrolled_;                             // and when the chain lay straight
  double opened_at_ = -1, unrolled_at_ = -1;  // s; negative: not yet
  double tilt_ = 0;                           // rad, the largest of the plane of the joints from the vertical
};

}  // namespace volvox::experiments::remod3d
