#include "snake.h"

#include <algorithm>
#include <cmath>

#include "volvox/world/measures.h"

namespace volvox::experiments::remod3d {

namespace {

// All modules share one model, and go on sharing one.
void make_docks_unbreakable(model::WorldModel& world) {
  std::map<std::shared_ptr<const model::ModuleModel>, std::shared_ptr<const model::ModuleModel>> strong;
  for (model::Placement& placement : world.placements) {
    auto& model = strong[placement.model];
    if (!model) {
      auto copy = std::make_shared<model::ModuleModel>(*placement.model);
      for (model::Dock& dock : copy->docks) dock.strength = {};
      model = std::move(copy);
    }
    placement.model = model;
  }
}

}  // namespace

Result<model::WorldModel> Snake::init(sim::Setup& setup) {
  auto world = Experiment::init(setup);
  if (!world.ok()) return world;
  if (setup.settings.at("breakable") == "false") make_docks_unbreakable(*world);
  // Each module is told its place in the chain, as a gait control table does.
  int index = 0;
  for (model::Placement& placement : world->placements)
    if (placement.mind && placement.mind->behavior == "snake")
      placement.mind->parameters["index"] = std::to_string(index++);
  return world;
}

void Snake::begin(const sim::Simulation& simulation) { start_ = world::centre_of_mass(simulation.world()); }

void Snake::observe(const sim::Simulation& simulation) {
  // The waves take their first second to rise; what the arches reach is seen after it.
  if (simulation.now() > Time::seconds(1)) lift_ = std::max(lift_, world::highest_link(simulation.world()));
  const world::World::DockError error = simulation.world().largest_dock_error();
  dock_distance_ = std::max(dock_distance_, error.distance);
  dock_angle_ = std::max(dock_angle_, error.angle);
}

void Snake::shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) {
  const Vec3 moved = world::centre_of_mass(simulation.world()) - start_;
  const double distance = std::hypot(moved.x, moved.y);
  const double time = simulation.now().seconds();
  metrics.set("distance_m", distance, "over the ground, of the centre of mass");
  metrics.set("speed_m_s", time > 0 ? distance / time : 0, "mean");
  metrics.set("lift_m", lift_, "the highest centre of a link after the first second");
  metrics.set("dock_error_max_mm", dock_distance_ * 1e3, "of any dock in any tick");
  metrics.set("dock_error_max_deg", degrees(dock_angle_), "of any dock in any tick");
}

void Snake::archive_state(Archive& ar) {
  ar("start", start_);
  ar("lift", lift_);
  ar("distance", dock_distance_);
  ar("angle", dock_angle_);
}

}  // namespace volvox::experiments::remod3d
