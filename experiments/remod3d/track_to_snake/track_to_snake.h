#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {

// The ReMod3D paper, figure 5 (middle): a rolling track disables one dock and becomes a snake that moves on.
class TrackToSnake final : public sim::Experiment {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  Vec3 start_;                                // centre of mass at the start
  Vec3 opened_;                               // centre of mass when the ring opened
  Vec3 unrolled_;                             // centre of mass when the chain was straight
  double opened_at_ = -1, unrolled_at_ = -1;  // s; negative: not yet
  double tilt_ = 0;                           // rad, largest tilt of the joints' plane from the vertical
};

}  // namespace volvox::experiments::remod3d
