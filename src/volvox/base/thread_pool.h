// A fixed set of threads for loops whose iterations do not touch each other.
#pragma once

#include <condition_variable>
#include <cstddef>
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

  // Calls body(begin, end) on disjoint ranges that cover [0, count); returns when all are
  // done. How the ranges are cut depends on the number of threads: a result must not.
  // Fewer than `grain` iterations a thread are not worth waking it.
  // An exception that a body throws is thrown again here, the one of the lowest range.
  void parallel_for(std::size_t count, std::size_t grain,
                    const std::function<void(std::size_t begin, std::size_t end)>& body);

 private:
  void work(std::size_t worker);

  struct Job {
    const std::function<void(std::size_t, std::size_t)>* body = nullptr;
    std::size_t count = 0;
    std::size_t parts = 0;
  };

  std::vector<std::thread> workers_;
  std::vector<std::exception_ptr> failures_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Job job_;
  std::size_t generation_ = 0;
  std::size_t running_ = 0;
  bool stop_ = false;
};

}  // namespace volvox
