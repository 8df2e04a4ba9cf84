// Loops whose iterations touch nothing in common, over the threads where there are any.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "volvox/base/thread_pool.h"

namespace volvox::physics::native {

// Calls work(i) for every i below `count`. Fewer than `grain` a thread are not worth waking it.
template <class Work>
void share_out(ThreadPool* threads, std::size_t count, std::size_t grain, const Work& work) {
  const auto range = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) work(i);
  };
  if (threads) threads->parallel_for(count, grain, std::ref(range));
  else range(0, count);
}

// The greatest of what all have found.
template <class T>
void raise_to(std::atomic<T>& greatest, T value) {
  for (T now = greatest; now < value && !greatest.compare_exchange_weak(now, value);) {}
}

}  // namespace volvox::physics::native
