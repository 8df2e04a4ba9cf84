#include "flood_run.h"

#include <algorithm>
#include <cmath>

#include "flood.h"
#include "volvox/base/index.h"

namespace volvox::experiments::vouivre {

std::size_t FloodResult::reached() const {
  return std::count_if(at.begin(), at.end(), [](double t) { return t >= 0; });
}

double FloodResult::time_to(double part) const {
  std::vector<double> times;
  for (const double t : at)
    if (t >= 0) times.push_back(t);
  const auto wanted = truncated<std::size_t>(std::ceil(part * real(at.size())));
  if (wanted == 0 || times.size() < wanted) return std::numeric_limits<double>::infinity();
  std::nth_element(times.begin(), times.begin() + (wanted - 1), times.end());
  return times[wanted - 1];
}

FloodResult flood_result(const sim::Simulation& simulation) {
  const mind::Minds& minds = simulation.minds();
  FloodResult result;
  for (std::size_t i = 0; i < minds.size(); ++i) {
    const robots::Coloured* known = minds.agent(i).find_model<robots::Coloured>();
    const bool heard = known != nullptr && known->sequence > 0;
    result.at.push_back(heard ? known->at : -1);
    result.by.push_back(heard ? known->by : -1);
  }
  if (const exchange::Exchange* exchange = minds.exchange()) {
    result.collisions = exchange->network().counters().collisions;
    result.transmissions = exchange->network().counters().transmissions;
  }
  return result;
}

Result<FloodResult> run_flood(std::shared_ptr<const model::WorldModel> world, std::uint64_t seed,
                              const sim::Library& library, bool delayed_wires) {
  sim::SimulationSettings settings;
  settings.engine = "none";
  settings.seed = seed;
  // Long, for speed: but for delayed wires, events do not depend on the tick.
  settings.dt = delayed_wires ? dprsim_tick : TickLength{5, 1};
  Log log;
  auto simulation = sim::Simulation::create(std::move(world), settings, library.engines, library.minds, log);
  if (!simulation.ok()) return simulation.error();
  do {
    if (const StepStatus status = (*simulation)->step(); !status.ok()) return Error(status.text(), "");
  } while (!(*simulation)->minds().exchange()->network().quiet());
  return flood_result(**simulation);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

}  // namespace volvox::experiments::vouivre
