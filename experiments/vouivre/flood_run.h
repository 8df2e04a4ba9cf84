// Runs one flood and measures it. Times in s.
#pragma once

#include "plan.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::vouivre {

struct FloodResult {
  std::vector<double> at;        // s, when each cell got the packet; negative: never
  std::vector<std::int32_t> by;  // the cell from which it came; the source has its own index
  std::uint64_t collisions = 0, transmissions = 0;

  std::size_t reached() const;
  // The time at which this fraction of all catoms was coloured; infinity: never.
  double time_to(double part) const;
};

// The result up to now.
FloodResult flood_result(const sim::Simulation& simulation);

// Runs a flood to its end, with engine none. The world can be shared by all seeds.
Result<FloodResult> run_flood(std::shared_ptr<const model::WorldModel> world, std::uint64_t seed,
                              const sim::Library& library, bool delayed_wires = false);

double median(std::vector<double> values);

}  // namespace volvox::experiments::vouivre
