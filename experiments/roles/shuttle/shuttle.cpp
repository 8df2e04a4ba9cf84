#include "shuttle.h"

#include <algorithm>
#include <cstdlib>

#include "settings.h"

namespace volvox::experiments::roles {
namespace {

constexpr std::size_t front = 1;  // in world.sdf

}  // namespace

Result<model::WorldModel> Shuttle::init(sim::Setup& setup) {
  wall_ = number(setup.settings, "wall");
  return Gait::init(setup);
}

void Shuttle::observe(const sim::Simulation& simulation) {
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

void Shuttle::shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) {
  Gait::shutdown(simulation, metrics);
  metrics.set("turns_by_sensor", seen_, "times that the front saw the wall and the robot walked back");
  metrics.set("turns_by_time", timed_, "times that it walked forth again after 12 s");
  metrics.set("wall_gap_min_m", nearest_, "least distance between the front and the wall");
  metrics.set("way_back_min_m", sim::measured_if(timed_ > 0, least_back_), "shortest way back, towards the start");
}

void Shuttle::archive_state(Archive& ar) {
  Gait::archive_state(ar);
  ar("role", role_);
  ar("seen", seen_);
  ar("timed", timed_);
  ar("changed at", changed_at_);
  ar("nearest", nearest_);
  ar("least back", least_back_);
}

}  // namespace volvox::experiments::roles
