#include <algorithm>
#include <cstdlib>
#include <string>

#include "experiments.h"
#include "gait_roles.h"
#include "roles/gait.h"
#include "settings.h"

namespace volvox::experiments::roles {
namespace {

constexpr std::size_t front = 1;  // in world.sdf

// The role-based control paper, section 6: roles change by a sensor and by time. Measures how often the module in front
// did so, and how near it came to the wall.
class Shuttle final : public Gait {
 public:
  Shuttle() : Gait(robots::shuttle_roles(), {}) {}
  Result<model::WorldModel> init(sim::Setup& setup) override {
    wall_ = number(setup.settings, "wall");
    return Gait::init(setup);
  }

  void observe(const sim::Simulation& simulation) override {
    Gait::observe(simulation);
    const mind::Agent& agent = simulation.minds().agent(front);
    const world::World& world = simulation.world();
    const world::DockIndex nose =
        world.part(agent.placement()).first_dock + world.module_model(agent.placement()).dock_index("n");
    const double x = world.dock_pose(nose).position.x;
    nearest_ = std::min(nearest_, wall_ - x);
    const auto* played = agent.find_model<mind::RolePlayed>();
    if (played == nullptr || played->role == role_) return;
    if (played->role == "sp back") {
      ++seen_;
      changed_at_ = x;
    } else if (role_ == "sp back") {
      least_back_ = std::min(least_back_, changed_at_ - x);
      ++timed_;
      changed_at_ = x;
    }
    role_ = played->role;
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    Gait::shutdown(simulation, metrics);
    metrics.set("turns_by_sensor", seen_, "times that the front saw the wall and the robot walked back");
    metrics.set("turns_by_time", timed_, "times that it walked forth again after 12 s");
    metrics.set("wall_gap_min_m", nearest_, "least distance between the front and the wall");
    metrics.set("way_back_min_m", sim::measured_if(timed_ > 0, least_back_), "shortest way back, towards the start");
  }

  void archive_state(Archive& ar) override {
    Gait::archive_state(ar);
    ar("role", role_);
    ar("seen", seen_);
    ar("timed", timed_);
    ar("changed at", changed_at_);
    ar("nearest", nearest_);
    ar("least back", least_back_);
  }

 private:
  double wall_ = 0;                          // m
  std::string role_;                         // of the module in front
  int seen_ = 0, timed_ = 0;                 // changes of role by the sensor and by time
  double changed_at_ = 0;                    // m: where the front was at the last change
  double nearest_ = 1e9, least_back_ = 1e9;  // m
};

}  // namespace

sim::ExperimentFactory shuttle() { return make<Shuttle>(); }

}  // namespace volvox::experiments::roles
