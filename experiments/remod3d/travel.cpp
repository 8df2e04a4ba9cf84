#include "travel.h"

#include <algorithm>
#include <cmath>

#include "chain_phase.h"
#include "volvox/base/index.h"
#include "volvox/world/measures.h"

namespace volvox::experiments::remod3d {

Vec3 Travel::centre_of_modules(const world::World& world) {
  Vec3 sum;
  double mass = 0;
  for (const world::PlacementIndex module : world.modules()) {
    double own = 0;
    for (const model::Link& link : world.module_model(module).links) own += link.mass;
    sum += own * world::centre_of_mass(world, module);
    mass += own;
  }
  return mass > 0 ? sum * (1 / mass) : sum;
}

// Of modules that have a phase in their model; empty if no module has.
std::optional<double> Travel::phase_spread(const sim::Simulation& simulation) {
  std::optional<double> first;
  double spread = 0;
  for (std::size_t i = 0; i < simulation.minds().size(); ++i) {
    const auto* belief = simulation.minds().agent(i).find_model<robots::PhaseModel>();
    if (belief == nullptr) continue;
    if (!first) first = belief->phase;
    spread = std::max(spread, std::fabs(std::remainder(belief->phase - *first, 2 * pi)));
  }
  return first ? std::optional(spread) : std::nullopt;
}

void Travel::begin(const sim::Simulation& simulation) { start_ = centre_of_modules(simulation.world()); }

void Travel::observe(const sim::Simulation& simulation) {
  const double height = centre_of_modules(simulation.world()).z;
  height_sum_ += height, ++ticks_;
  lowest_ = std::min(lowest_, height);
  dock_errors_.observe(simulation.world());
}

void Travel::shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) {
  const Vec3 moved = centre_of_modules(simulation.world()) - start_;
  const double distance = length(moved.x, moved.y), time = simulation.now().seconds();
  metrics.set("distance_m", distance, "horizontal distance of the centre of mass from its start");
  metrics.set("forward_m", moved.x, "distance along the x axis, the robot's heading at the start");
  metrics.set("speed_m_s", sim::mean_of(distance, time), "distance_m over the run time");
  metrics.set("height_mean_m", sim::mean_of(height_sum_, real(ticks_)), "mean height of the centre of mass");
  metrics.set("height_min_m", sim::measured_if(ticks_ > 0, lowest_), "lowest height of the centre of mass");
  if (const auto spread = phase_spread(simulation))
    metrics.set("phase_spread_rad", *spread, "largest phase difference to the first module, at the end");
  dock_errors_.report(metrics);
}

void Travel::archive_state(Archive& ar) {
  ar("start", start_);
  ar("height sum", height_sum_);
  ar("lowest", lowest_);
  ar("ticks", ticks_);
  dock_errors_.archive(ar);
}

}  // namespace volvox::experiments::remod3d
