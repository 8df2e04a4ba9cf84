#include "experiments.h"
#include "gait_roles.h"
#include "roles/gait.h"

namespace volvox::experiments::roles {
namespace {

// The role-based control paper, section 5 and figure 6: 63 cm in 12.3 s.
class Sidewinder final : public Gait {
 public:
  Sidewinder() : Gait(robots::conro_roles(), {0.63, 12.3, 0.051, true, "role-based control paper, figure 6"}) {}
};

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

}  // namespace

// Each in the file of its name.
sim::ExperimentFactory arm(), caterpillar(), reconfigure(), self_reconfigure(), shuttle();

void register_experiments(ExperimentRegistry& registry) {
  registry.add("roles/sidewinder", make<Sidewinder>(), "a chain of CONROs synchronizes by messages and winds sideways");
  registry.add("roles/walker", make<Walker>(), "a quadruped of CONROs synchronizes by messages and walks");
  registry.add("roles/reconfigure", reconfigure(),
               "a chain is re-arranged by hand into a quadruped while it runs, and walks");
  registry.add("roles/self_reconfigure", self_reconfigure(),
               "a chain of ten CONROs makes itself a quadruped and a chain again, by roles alone");
  registry.add("roles/shuttle", shuttle(),
               "a quadruped of CONROs walks back from a wall: roles change by a sensor and by time");
  registry.add("roles/arm", arm(), "five CONROs find by induction which part of an arm each is");
  registry.add("roles/caterpillar", caterpillar(),
               "a chain crawls by a wave: the same roles on CONROs and on SuperBots");
}

}  // namespace volvox::experiments::roles
