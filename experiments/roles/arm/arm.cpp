#include <limits>

#include "experiments.h"
#include "gait_roles.h"
#include "roles/synchrony.h"
#include "volvox/base/index.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::roles {
namespace {

// The role-based control paper, section 2.2: five modules in a chain find by induction from the root which part of an
// arm each is. Three of them have the same neighbourhood.
class Arm final : public sim::Experiment {
 public:
  Arm() : synchrony_(robots::arm_roles()) {}
  void observe(const sim::Simulation& simulation) override {
    synchrony_.observe(simulation);
    const world::World& world = simulation.world();
    const mind::Minds& minds = simulation.minds();
    static constexpr const char* parts[] = {"shoulder", "upper arm", "elbow", "lower arm", "wrist"};
    right_ = 0;
    for (std::size_t i = 0; i < minds.size(); ++i) {
      std::size_t place = 0;  // number of modules between this one and the base
      for (world::PlacementIndex p = minds.agent(i).placement();; ++place) {
        const world::DockIndex dock = world.part(p).first_dock + world.module_model(p).dock_index("s");
        p = world.graph().neighbor(dock);
        if (p == world::nobody || !world.model().placements[p].is_module()) break;
      }
      const auto* played = minds.agent(i).find_model<mind::RolePlayed>();
      right_ += played != nullptr && place < std::size(parts) && played->role == parts[place];
    }
    if (right_ < narrow<int>(minds.size())) wrong_until_ = simulation.now().seconds();
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    const bool found = right_ == narrow<int>(simulation.minds().size());
    metrics.set("parts_found", right_, "modules, of five, that play the part of their place at the end");
    metrics.set("found_time_s", sim::measured_if(found, wrong_until_), "time from which all play their part; -: never");
    metrics.set("sync_time_s", synchrony_.since(), "time from which all are in step; -: never");
  }

  void archive_state(Archive& ar) override {
    synchrony_.archive(ar);
    ar("right", right_);
    ar("wrong until", wrong_until_);
  }

 private:
  Synchrony synchrony_;
  int right_ = 0;           // modules that play the part of their place
  double wrong_until_ = 0;  // s, last time when not all did
};

}  // namespace

sim::ExperimentFactory arm() { return make<Arm>(); }

}  // namespace volvox::experiments::roles
