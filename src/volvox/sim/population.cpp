#include "volvox/sim/population.h"

#include <algorithm>
#include <numeric>

#include "volvox/base/check.h"
#include "volvox/base/guarded.h"
#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/physics/device_worlds.h"

namespace volvox::sim {

Population::Population(std::vector<std::shared_ptr<Run>> runs, int threads,
                       std::shared_ptr<const physics::cuda::Device> device)
    : runs_(std::move(runs)), threads_(threads) {
  if (device) device_ = std::make_unique<physics::DeviceWorlds>(runs_.size(), std::move(device), &threads_);
}
Population::~Population() = default;

std::vector<StepStatus> Population::step(std::int64_t ticks) {
  std::vector<std::size_t> all(runs_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<StepStatus> statuses(runs_.size());
  step(ticks, all, statuses);
  return statuses;
}

void Population::step(std::int64_t ticks, std::span<const std::size_t> which, std::span<StepStatus> statuses) {
  VOLVOX_CHECK(which.size() == statuses.size(), "a status for each run");
  for (std::int64_t tick = 0; device_ && tick < ticks; ++tick) step_together(which, statuses);
  if (device_) return;
  parallel_for(&threads_, which.size(), 1, [&](std::size_t k) {
    VOLVOX_ASSERT(which[k] < runs_.size());
    for (std::int64_t tick = 0; tick < ticks && statuses[k].ok(); ++tick) statuses[k] = runs_[which[k]]->step();
  });
}

// A tick. All worlds come to where their engines move, these are moved together, and all go on from there.
void Population::step_together(std::span<const std::size_t> which, std::span<StepStatus> statuses) {
  std::vector<physics::DeviceWorlds::Tick> of_run(which.size());
  std::vector<std::string> refused(which.size());
  parallel_for(&threads_, which.size(), 1, [&](std::size_t k) {
    VOLVOX_ASSERT(which[k] < runs_.size());
    if (!statuses[k].ok()) return;
    Run& run = *runs_[which[k]];
    Simulation& simulation = run.simulation();
    refused[k] = simulation.cannot_be_moved();
    if (!refused[k].empty()) return void(statuses[k] = run.step());
    statuses[k] = run.begin_step();
    if (!statuses[k].ok()) return;
    const TickLength& dt = simulation.settings().dt;
    of_run[k] = {which[k], &simulation.engine_to_move(), simulation.now(), dt.start_of(simulation.tick() + 1)};
  });
  std::vector<physics::DeviceWorlds::Tick> ticks;
  std::vector<std::size_t> back;  // to the place in `which`
  for (std::size_t k = 0; k < which.size(); ++k)
    if (of_run[k].engine != nullptr) ticks.push_back(of_run[k]), back.push_back(k);
  count(refused);
  if (ticks.empty()) return;
  std::vector<StepStatus> moved(ticks.size());
  const double begun = platform::monotonic_seconds();
  // Whatever happens, each of them comes to the end of its tick.
  if (const StepStatus all = guarded({}, [&] { device_->advance(ticks, moved); }); !all.ok())
    std::ranges::fill(moved, all);
  const double each = (platform::monotonic_seconds() - begun) * threads_.threads() / real(ticks.size());
  parallel_for(&threads_, ticks.size(), 1,
               [&](std::size_t i) { statuses[back[i]] = runs_[ticks[i].world]->end_step(std::move(moved[i]), each); });
}

void Population::count(std::span<const std::string> refused) {
  const std::lock_guard lock(counting_);
  for (const std::string& why : refused)
    if (!why.empty()) ++not_moved_[why];
}

Population::OnDevice Population::on_device() const {
  if (!device_) return {};
  const auto [ticks, left, failure] = device_->account();
  OnDevice all{ticks, left, failure};
  const std::lock_guard lock(counting_);
  for (const auto& [why, count] : not_moved_) all.left[why] += count;
  return all;
}

void Population::OnDevice::add(const OnDevice& more) {
  ticks += more.ticks;
  for (const auto& [why, count] : more.left) left[why] += count;
  if (failure.empty()) failure = more.failure;
}

}  // namespace volvox::sim
