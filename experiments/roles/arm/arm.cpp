#include "arm.h"

#include <limits>

#include "volvox/base/index.h"

namespace volvox::experiments::roles {

void Arm::observe(const sim::Simulation& simulation) {
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

void Arm::shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) {
  const bool found = right_ == narrow<int>(simulation.minds().size());
  metrics.set("parts_found", right_, "modules, of five, that play the part of their place at the end");
  metrics.set("found_time_s", sim::measured_if(found, wrong_until_), "time from which all play their part; -: never");
  metrics.set("sync_time_s", synchrony_.since(), "time from which all are in step; -: never");
}

void Arm::archive_state(Archive& ar) {
  synchrony_.archive(ar);
  ar("right", right_);
  ar("wrong until", wrong_until_);
}

}  // namespace volvox::experiments::roles
