// Many worlds stepped together, over one set of threads: for batches of learning and of evolution.
//
// Each world is stepped by one thread at a time and by itself, so that a world has the same bits alone and in a
// population, at any number of threads. Its own number of threads should be 1: the population has the threads.
// With a device, the engines of all worlds that it can move are moved there, a tick of all after the other, with the
// same bits; minds, docks and all that looks at them stay here (physics::DeviceWorlds).
// All functions are to be called from one thread, but for on_device().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/physics/cuda/device.h"
#include "volvox/sim/run.h"

namespace volvox::physics {
class DeviceWorlds;
}

namespace volvox::sim {

class Population {
 public:
  // The runs must be different ones; some may be null, and are never stepped. `threads` includes the calling thread.
  Population(std::vector<std::shared_ptr<Run>> runs, int threads,
             std::shared_ptr<const physics::cuda::Device> device = nullptr);
  ~Population();  // the runs have all of their state, as they have whenever they are asked
  Population(const Population&) = delete;
  Population& operator=(const Population&) = delete;

  std::size_t size() const { return runs_.size(); }
  const std::shared_ptr<Run>& run(std::size_t i) const { return runs_[i]; }

  // Steps all runs, each so many ticks or up to its first tick that fails. Returns the status of each.
  std::vector<StepStatus> step(std::int64_t ticks);
  // Steps the runs of these indices, each of them at most once in the list. statuses[k] is that of which[k]; a run
  // whose status is a failure already is left as it is, so that a loop of calls stops there.
  void step(std::int64_t ticks, std::span<const std::size_t> which, std::span<StepStatus> statuses);

  // Ticks of worlds, since it was made: those that the device did; why others were left to their engines, with how
  // many; and what went wrong with the device, if anything did.
  struct OnDevice {
    std::int64_t ticks = 0;
    std::map<std::string, std::int64_t> left;
    std::string failure;
    void add(const OnDevice& more);
  };
  OnDevice on_device() const;  // from any thread, also while they are stepped

 private:
  void step_together(std::span<const std::size_t> which, std::span<StepStatus> statuses);
  void count(std::span<const std::string> refused);  // why; empty: it is not

  std::vector<std::shared_ptr<Run>> runs_;
  ThreadPool threads_;
  std::unique_ptr<physics::DeviceWorlds> device_;  // null: there is none
  mutable std::mutex counting_;
  std::map<std::string, std::int64_t> not_moved_;  // worlds that cannot be moved by others
};

}  // namespace volvox::sim
