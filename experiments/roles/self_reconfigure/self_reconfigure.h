#pragma once

#include "roles/gait.h"
#include "shape_roles.h"

namespace volvox::experiments::roles {

// The role-based control paper, section 6, its outlook: roles control self-reconfiguration, too. A chain of ten CONROs
// winds, makes itself a quadruped, walks, and makes itself a chain again; modules dock and undock themselves.
class SelfReconfigure final : public Gait {
 public:
  SelfReconfigure() : Gait(robots::shape_roles(), {}) {}
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  int legs_ = 0, legs_most_ = 0;     // modules at the side of another: now, and the most so far
  int winding_ = 0;                  // modules that play sw now
  double walker_at_ = -1;            // s, when it first had four legs; negative: not yet
  double walked_ = 0, walking_ = 0;  // m, s: on four legs
  Vec3 from_;                        // where it began to walk
  double chain_at_ = -1;             // s, when it was a chain again that winds
};

}  // namespace volvox::experiments::roles
