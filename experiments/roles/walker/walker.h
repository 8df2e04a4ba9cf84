#pragma once

#include "gait_roles.h"
#include "roles/gait.h"

namespace volvox::experiments::roles {

// Seed 004, section 5 and figure 6: 87 cm in 25, 30, 28 and 30 s, which are 28.25 s and 3.1 cm/s (the
// printed 36.5 s and 2.4 cm/s are a slip, docs/decisions/0040).
class Walker final : public Gait {
 public:
  Walker() : Gait(robots::conro_roles(), {0.87, 28.25, 0.031, false, "seed 004, figure 6, its mean corrected"}) {}

 protected:
  Result<model::WorldModel> make_world(sim::Setup& setup) override {
    auto world = Gait::make_world(setup);
    if (world.ok() && setup.settings.at("seventh") == "none") {  // the head is the last in world.sdf
      world->placements.pop_back();
      world->connections.pop_back();
    }
    return world;
  }
};

}  // namespace volvox::experiments::roles
