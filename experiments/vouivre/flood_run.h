// One flood, and what came of it.
#pragma once

#include "plan.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::vouivre {

struct FloodResult {
  std::vector<double> at;        // s, by cell; negative: it never heard
  std::vector<std::int32_t> by;  // the cell that it heard it from; its own: the source
  std::uint64_t collisions = 0, transmissions = 0;

  std::size_t reached() const;
  // The time at which this part of all catoms was coloured; infinity: it never was.
  double time_to(double part) const;
};

// As the simulation stands.
FloodResult flood_result(const sim::Simulation& simulation);

// To the flood's end, with engine none. The world is shared by all seeds.
Result<FloodResult> run_flood(std::shared_ptr<const model::WorldModel> world, std::uint64_t seed,
                              const sim::Library& library);

double median(std::vector<double> values);

}  // namespace volvox::experiments::vouivre
