// A fixed set of threads for loops with independent iterations. One thread may start loops.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "volvox/base/index.h"

namespace volvox {

class ThreadPool {
 public:
  // `threads` includes the calling thread: 1 starts no other thread.
  explicit ThreadPool(int threads = 1);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return narrow<int>(workers_.size()) + 1; }

 private:
  template <class Work>
  friend void parallel_for(ThreadPool* threads, std::size_t count, std::size_t grain, const Work& work);

  // Calls body(begin, end) on disjoint ranges that cover [0, count).
  void run_ranges(std::size_t count, std::size_t grain,
                  const std::function<void(std::size_t begin, std::size_t end)>& body);
  void work();
  void take_chunks();
  void await_work(std::size_t seen);
  void await_workers();
  void chunk_failed(std::size_t chunk);

  struct Job {
    const std::function<void(std::size_t, std::size_t)>* body = nullptr;
    std::size_t count = 0;
    std::size_t chunks = 0;
  };

  std::vector<std::thread> workers_;
  Job job_;  // written only while no worker is running
  std::atomic<std::size_t> next_chunk_{0};
  std::atomic<std::size_t> generation_{0};  // of the job
  std::atomic<std::size_t> running_{0};     // workers that may still have a chunk of it
  std::atomic<std::size_t> asleep_{0};      // sleeping workers
  std::atomic<bool> caller_asleep_{false};
  std::atomic<bool> stop_{false};
  // Protects sleeping and waking, and failure_.
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::exception_ptr failure_;
  std::size_t failed_chunk_ = 0;
};

// Calls work(i) once for every i below `count` on the threads (null: on the calling thread) and returns when all calls
// are done. Iterations must be independent: their order and their threads are not deterministic, but results must be.
// A thread gets at least `grain` iterations. An exception of `work` is thrown again here; of several, one from the
// lowest range of iterations.
template <class Work>
void parallel_for(ThreadPool* threads, std::size_t count, std::size_t grain, const Work& work) {
  const auto range = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) work(i);
  };
  if (threads != nullptr) threads->run_ranges(count, grain, std::ref(range));
  else range(0, count);
}

// Atomic maximum, for iterations that search for the largest value.
template <class T>
void raise_to(std::atomic<T>& greatest, T value) {
  for (T now = greatest; now < value && !greatest.compare_exchange_weak(now, value);) {}
}

}  // namespace volvox
