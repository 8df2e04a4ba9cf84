#include "arm/arm.h"
#include "caterpillar/caterpillar.h"
#include "experiments.h"
#include "reconfigure/reconfigure.h"
#include "self_reconfigure/self_reconfigure.h"
#include "shuttle/shuttle.h"
#include "sidewinder/sidewinder.h"
#include "walker/walker.h"

namespace volvox::experiments::roles {

void register_experiments(ExperimentRegistry& registry) {
  registry.add("roles/sidewinder", make<Sidewinder>(), "a chain of CONROs synchronizes by messages and winds sideways");
  registry.add("roles/walker", make<Walker>(), "a quadruped of CONROs synchronizes by messages and walks");
  registry.add("roles/reconfigure", make<Reconfigure>(),
               "a chain is re-arranged by hand into a quadruped while it runs, and walks");
  registry.add("roles/self_reconfigure", make<SelfReconfigure>(),
               "a chain of ten CONROs makes itself a quadruped and a chain again, by roles alone");
  registry.add("roles/shuttle", make<Shuttle>(),
               "a quadruped of CONROs walks back from a wall: roles change by a sensor and by time");
  registry.add("roles/arm", make<Arm>(), "five CONROs find by induction which part of an arm each is");
  registry.add("roles/caterpillar", make<Caterpillar>(),
               "a chain crawls by a wave: the same roles on CONROs and on SuperBots");
}

}  // namespace volvox::experiments::roles
