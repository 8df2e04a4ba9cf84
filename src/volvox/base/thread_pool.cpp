#include "volvox/base/thread_pool.h"

#include <algorithm>
#include <exception>

namespace volvox {

ThreadPool::ThreadPool(int threads) {
  const std::size_t extra = static_cast<std::size_t>(std::max(1, threads) - 1);
  failures_.resize(extra + 1);
  for (std::size_t i = 0; i < extra; ++i) workers_.emplace_back([this, i] { work(i + 1); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::parallel_for(std::size_t count, std::size_t grain,
                              const std::function<void(std::size_t, std::size_t)>& body) {
  if (count == 0) return;
  const std::size_t worth = std::max<std::size_t>(1, count / std::max<std::size_t>(1, grain));
  const std::size_t parts = std::min(worth, workers_.size() + 1);
  if (parts == 1) {
    body(0, count);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    job_ = {&body, count, parts};
    running_ = workers_.size();
    ++generation_;
    std::fill(failures_.begin(), failures_.end(), nullptr);
  }
  wake_.notify_all();
  try {
    body(0, count / parts);
  } catch (...) {
    failures_[0] = std::current_exception();
  }
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return running_ == 0; });
  for (const std::exception_ptr& failure : failures_)
    if (failure) std::rethrow_exception(failure);
}

void ThreadPool::work(std::size_t worker) {
  std::size_t seen = 0;
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || generation_ != seen; });
      if (stop_) return;
      seen = generation_;
      job = job_;
    }
    if (worker < job.parts) {
      try {
        (*job.body)(job.count * worker / job.parts, job.count * (worker + 1) / job.parts);
      } catch (...) {
        failures_[worker] = std::current_exception();
      }
    }
    {
      const std::lock_guard lock(mutex_);
      if (--running_ == 0) done_.notify_one();
    }
  }
}

}  // namespace volvox
