// A fixed set of threads for loops whose iterations do not touch each other.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace volvox {

class ThreadPool {
 public:
  // `threads` counts the calling thread too: 1 starts none.
  explicit ThreadPool(int threads = 1);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

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
  Job job_;  // written while nobody works
  std::atomic<std::size_t> next_chunk_{0};
  std::atomic<std::size_t> generation_{0};  // of the job
  std::atomic<std::size_t> running_{0};     // workers that are not done with it
  std::atomic<std::size_t> asleep_{0};      // workers
  std::atomic<bool> caller_asleep_{false};
  std::atomic<bool> stop_{false};
  // Only those who sleep, and those who wake them, need it; and failures.
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::exception_ptr failure_;
  std::size_t failed_chunk_ = 0;
};

// Calls work(i) once for every i below `count`, over the threads (null: on the caller's alone); returns when all
// are done. Iterations must not touch each other's data: who does which, and when, depends on the number of
// threads and on chance, and a result must not. Fewer than `grain` iterations a thread are not worth waking it.
// An exception that `work` throws is thrown again here; of several, one of the lowest range of iterations.
template <class Work>
void parallel_for(ThreadPool* threads, std::size_t count, std::size_t grain, const Work& work) {
  const auto range = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) work(i);
  };
  if (threads != nullptr) threads->run_ranges(count, grain, std::ref(range));
  else range(0, count);
}

// For iterations that look for the greatest of something: raises what all have found so far.
template <class T>
void raise_to(std::atomic<T>& greatest, T value) {
  for (T now = greatest; now < value && !greatest.compare_exchange_weak(now, value);) {}
}

}  // namespace volvox
