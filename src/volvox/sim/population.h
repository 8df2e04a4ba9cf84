// Many worlds stepped together, over one set of threads: for batches of learning and of evolution.
//
// Each world is stepped by one thread at a time and by itself, so that a world has the same bits alone and in a
// population, at any number of threads. Its own number of threads should be 1: the population has the threads.
// All functions are to be called from one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/sim/run.h"

namespace volvox::sim {

class Population {
 public:
  // The runs must be different ones. `threads` includes the calling thread.
  Population(std::vector<std::shared_ptr<Run>> runs, int threads);

  std::size_t size() const { return runs_.size(); }
  const std::shared_ptr<Run>& run(std::size_t i) const { return runs_[i]; }

  // Steps all runs, each so many ticks or up to its first tick that fails. Returns the status of each.
  std::vector<StepStatus> step(std::int64_t ticks);
  // Steps the runs of these indices, each of them at most once in the list. statuses[k] is that of which[k]; a run
  // whose status is a failure already is left as it is, so that a loop of calls stops there.
  void step(std::int64_t ticks, std::span<const std::size_t> which, std::span<StepStatus> statuses);

 private:
  std::vector<std::shared_ptr<Run>> runs_;
  ThreadPool threads_;
};

}  // namespace volvox::sim
