#include "volvox/sim/load_peaks.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/check.h"

namespace volvox::sim {

void LoadPeaks::observe(const world::World& world, std::span<const world::DockEvent> events, double time) {
  for (const world::DockIndex dock : world.carriers())
    if (world.dock_status(dock).phase == world::DockPhase::engaged)
      take(world, dock, world.graph().partner(dock), world.dock_load(dock), time);
  for (const world::DockEvent& event : events)  // docks that let go under their load carry none any more
    if (event.kind == world::DockEvent::Kind::broken || event.kind == world::DockEvent::Kind::slipped)
      take(world, event.dock_a, event.dock_b, event.load, time);
}

void LoadPeaks::take(const world::World& world, world::DockIndex dock, world::DockIndex partner,
                     const world::DockLoad& load, double time) {
  VOLVOX_ASSERT(dock < world.docks() && partner < world.docks() && dock != partner);
  highest_.axial = std::max(highest_.axial, load.axial);
  highest_.shear = std::max(highest_.shear, load.shear);
  highest_.bending = std::max(highest_.bending, load.bending);
  highest_.torsion = std::max(highest_.torsion, load.torsion);
  const double part =
      std::max(load.utilisation(world.dock_model(dock).strength), load.utilisation(world.dock_model(partner).strength));
  if (part > utilisation_) utilisation_ = part, dock_ = dock, time_ = time;
}

std::string LoadPeaks::where(const world::World& world) const {
  return utilisation_ > 0 && dock_ < world.docks() ? fmt::format("{} at {:.2f} s", world.dock_name(dock_), time_) : "";
}

}  // namespace volvox::sim
