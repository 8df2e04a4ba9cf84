#include "experiments.h"
#include "roles/gait.h"
#include "shape_roles.h"
#include "volvox/base/index.h"
#include "volvox/world/measures.h"

namespace volvox::experiments::roles {
namespace {

// The role-based control paper, section 6, its outlook: roles control self-reconfiguration, too. A chain of ten CONROs
// winds, makes itself a quadruped, walks, and makes itself a chain again; modules dock and undock themselves.
class SelfReconfigure final : public Gait {
 public:
  SelfReconfigure() : Gait(robots::shape_roles(), {}) {}
  void observe(const sim::Simulation& simulation) override {
    Gait::observe(simulation);
    const world::World& world = simulation.world();
    const mind::Minds& minds = simulation.minds();
    bool walks = false;
    legs_ = winding_ = 0;
    for (std::size_t i = 0; i < minds.size(); ++i) {
      const mind::Agent& agent = minds.agent(i);
      const world::DockIndex first = world.part(agent.placement()).first_dock;
      const model::ModuleModel& model = world.module_model(agent.placement());
      for (const char* side : {"e", "w"})
        legs_ += world.graph().neighbor(first + model.dock_index(side)) != world::nobody;
      const auto* played = agent.find_model<mind::RolePlayed>();
      if (played == nullptr) continue;
      winding_ += played->role == "sw";
      walks = walks || played->role == "sp";
    }
    legs_most_ = std::max(legs_most_, legs_);
    const double now = simulation.now().seconds();
    if (walker_at_ < 0 && legs_ == 4) walker_at_ = now;
    const Vec3 centre = world::centre_of_mass(world);
    if (walks) {
      if (walking_ == 0) from_ = centre;
      walking_ += simulation.settings().dt.seconds();
      walked_ = length(centre.x - from_.x, centre.y - from_.y);
    }
    const bool chain = legs_most_ == 4 && legs_ == 0 && winding_ == narrow<int>(minds.size());
    if (chain && chain_at_ < 0) chain_at_ = now;
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    Gait::shutdown(simulation, metrics);
    metrics.set("legs_most", legs_most_, "the most modules at the sides of others at one time; four: a quadruped");
    metrics.set("legs", legs_, "modules at the sides of others at the end");
    metrics.set("walker_time_s", sim::measured_if(walker_at_ >= 0, walker_at_), "when it had four legs; -: never");
    metrics.set("walked_m", walked_, "distance as a quadruped");
    metrics.set("walk_speed_m_s", sim::measured_if(walking_ > 0, sim::mean_of(walked_, walking_)),
                "speed as a quadruped");
    metrics.set("chain_time_s", sim::measured_if(chain_at_ >= 0, chain_at_),
                "when it was a chain again in which all wind; -: never");
    metrics.set("changed_back", chain_at_ >= 0 ? 1 : 0, "1: it became a quadruped and a chain again");
  }

  void archive_state(Archive& ar) override {
    Gait::archive_state(ar);
    ar("legs", legs_);
    ar("most legs", legs_most_);
    ar("winding", winding_);
    ar("walker at", walker_at_);
    ar("walked", walked_);
    ar("walking", walking_);
    ar("from", from_);
    ar("chain at", chain_at_);
  }

 private:
  int legs_ = 0, legs_most_ = 0;     // modules at the side of another: now, and the most so far
  int winding_ = 0;                  // modules that play sw now
  double walker_at_ = -1;            // s, when it first had four legs; negative: not yet
  double walked_ = 0, walking_ = 0;  // m, s: on four legs
  Vec3 from_;                        // where it began to walk
  double chain_at_ = -1;             // s, when it was a chain again that winds
};

}  // namespace

sim::ExperimentFactory self_reconfigure() { return make<SelfReconfigure>(); }

}  // namespace volvox::experiments::roles
