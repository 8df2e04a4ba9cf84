#include "docks.h"

#include <algorithm>
#include <map>

namespace volvox::experiments {

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

void DockErrors::observe(const world::World& world) {
  const world::World::DockError error = world.largest_dock_error();
  distance_ = std::max(distance_, error.distance);
  angle_ = std::max(angle_, error.angle);
}

void DockErrors::report(sim::Metrics& metrics) const {
  metrics.set("dock_error_max_mm", distance_ * 1e3, "largest gap in any dock during the run");
  metrics.set("dock_error_max_deg", degrees(angle_), "largest misalignment of any dock during the run");
}

void DockErrors::archive(Archive& ar) {
  ar("distance", distance_);
  ar("angle", angle_);
}

}  // namespace volvox::experiments
