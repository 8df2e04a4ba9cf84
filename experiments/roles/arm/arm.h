#pragma once

#include "gait_roles.h"
#include "roles/synchrony.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::roles {

// The role-based control paper, section 2.2: five modules in a chain find by induction from the root which part of an
// arm each is. Three of them have the same neighbourhood.
class Arm final : public sim::Experiment {
 public:
  Arm() : synchrony_(robots::arm_roles()) {}
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  Synchrony synchrony_;
  int right_ = 0;           // modules that play the part of their place
  double wrong_until_ = 0;  // s, last time when not all did
};

}  // namespace volvox::experiments::roles
