#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments::swarmsimx {

// The SwarmSimX paper, figure 3 (middle) and section 2: a quadrotor and a ground robot grasp a bar and carry it through
// an automatic door.
class Grasp final : public sim::Experiment {
 public:
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  world::LinkIndex bar_ = 0;
  world::JointIndex door_ = 0;
  world::DockIndex dock_front_ = 0, dock_rear_ = 0;
  Vec3 start_;
  double lifted_ = 0;   // m, largest lift of the bar's middle
  double carried_ = 0;  // m, while both robots held it
  double last_x_ = 0;
  double door_open_ = 0;  // m, largest opening
  double load_ = 0;       // largest load of a gripper, as a fraction of its strength
};

}  // namespace volvox::experiments::swarmsimx
