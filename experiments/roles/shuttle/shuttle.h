#pragma once

#include <string>

#include "gait_roles.h"
#include "roles/gait.h"

namespace volvox::experiments::roles {

// The role-based control paper, section 6: roles change by a sensor and by time. Measures how often the module in front
// did so, and how near it came to the wall.
class Shuttle final : public Gait {
 public:
  Shuttle() : Gait(robots::shuttle_roles(), {}) {}
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  double wall_ = 0;                          // m
  std::string role_;                         // of the module in front
  int seen_ = 0, timed_ = 0;                 // changes of role by the sensor and by time
  double changed_at_ = 0;                    // m: where the front was at the last change
  double nearest_ = 1e9, least_back_ = 1e9;  // m
};

}  // namespace volvox::experiments::roles
