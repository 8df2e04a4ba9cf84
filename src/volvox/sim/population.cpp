#include "volvox/sim/population.h"

#include <numeric>

#include "volvox/base/check.h"

namespace volvox::sim {

Population::Population(std::vector<std::shared_ptr<Run>> runs, int threads)
    : runs_(std::move(runs)), threads_(threads) {}

std::vector<StepStatus> Population::step(std::int64_t ticks) {
  std::vector<std::size_t> all(runs_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<StepStatus> statuses(runs_.size());
  step(ticks, all, statuses);
  return statuses;
}

void Population::step(std::int64_t ticks, std::span<const std::size_t> which, std::span<StepStatus> statuses) {
  VOLVOX_CHECK(which.size() == statuses.size(), "a status for each run");
  parallel_for(&threads_, which.size(), 1, [&](std::size_t k) {
    VOLVOX_ASSERT(which[k] < runs_.size());
    for (std::int64_t tick = 0; tick < ticks && statuses[k].ok(); ++tick) statuses[k] = runs_[which[k]]->step();
  });
}

}  // namespace volvox::sim
