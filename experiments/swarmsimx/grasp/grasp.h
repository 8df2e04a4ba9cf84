#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments::swarmsimx {

// Seed 003, figure 3, the middle: a quadrotor and a ground robot grasp a bar and carry it together;
// and the automatic door of section 2, which they come through.
class Grasp final : public sim::Experiment {
 public:
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  std::uint32_t bar_ = 0, door_ = 0;  // links and joints of the world: the bar, the door's slide
  std::uint32_t dock_front_ = 0, dock_rear_ = 0;
  Vec3 start_;
  double lifted_ = 0;   // m, of the bar's middle
  double carried_ = 0;  // m, while both held it
  double last_x_ = 0;
  double door_open_ = 0;  // m, the widest
  double load_ = 0;       // the largest part of a gripper's strength
};

}  // namespace volvox::experiments::swarmsimx
