#include "arm.h"

#include <limits>

namespace volvox::experiments::roles {

void Arm::observe(const sim::Simulation& simulation) {
  synchrony_.observe(simulation);
  const world::World& world = simulation.world();
  const mind::Minds& minds = simulation.minds();
  static constexpr const char* parts[] = {"shoulder", "upper arm", "elbow", "lower arm", "wrist"};
  right_ = 0;
  for (std::size_t i = 0; i < minds.size(); ++i) {
    // Its place: how many modules lie between it and the base.
    std::size_t place = 0;
    for (std::uint32_t p = minds.agent(i).placement();; ++place) {
      const std::uint32_t dock =
          world.part(p).first_dock + static_cast<std::uint32_t>(world.module_model(p).dock_index("s"));
      p = world.graph().neighbor(dock);
      if (p == world::nobody || !world.model().placements[p].is_module()) break;
    }
    const auto* played = minds.agent(i).find_model<mind::RolePlayed>();
    right_ += played != nullptr && place < std::size(parts) && played->role == parts[place];
  }
  if (right_ < static_cast<int>(minds.size())) wrong_until_ = simulation.now().seconds();
}

void Arm::shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) {
  const bool found = right_ == static_cast<int>(simulation.minds().size());
  metrics.set("parts_found", right_, "modules that play the part where they are, of five");
  metrics.set("found_time_s", sim::measured_if(found, wrong_until_), "when all did for good; -: they do not");
  metrics.set("sync_time_s", synchrony_.since(), "when all were in step for good; -: they are not");
}

void Arm::archive_state(Archive& ar) {
  synchrony_.archive(ar);
  ar("right", right_);
  ar("wrong until", wrong_until_);
}

}  // namespace volvox::experiments::roles
