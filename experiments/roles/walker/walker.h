#pragma once

#include "gait_roles.h"
#include "roles/gait.h"

namespace volvox::experiments::roles {

// The role-based control paper, section 5 and figure 6: 87 cm in 25, 30, 28 and 30 s; the mean is 28.25 s and 3.1 cm/s.
// (The paper prints 36.5 s and 2.4 cm/s, which is an error: docs/decisions/0040.)
class Walker final : public Gait {
 public:
  Walker()
      : Gait(robots::conro_roles(), {0.87, 28.25, 0.031, false, "role-based control paper, figure 6, mean corrected"}) {
  }

 protected:
  Result<model::WorldModel> make_world(sim::Setup& setup) override {
    auto world = Gait::make_world(setup);
    if (world.ok() && setup.settings.at("seventh") == "none") {  // the head is the last module in world.sdf
      world->placements.pop_back();
      world->connections.pop_back();
    }
    return world;
  }
};

}  // namespace volvox::experiments::roles
