#include "volvox/base/thread_pool.h"

#include <algorithm>
#include <utility>

namespace volvox {
namespace {

// Several ranges a thread, so that one that has little to do takes from one that has much.
constexpr std::size_t chunks_a_thread = 4;

// Loops follow each other closely in a step, and waking a thread takes as long as a short
// loop: whoever waits looks for this long before it sleeps.
constexpr int patience = 1500;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

template <class Condition>
bool soon(const Condition& condition) {
  for (int i = 0; i < patience; ++i) {
    if (condition()) return true;
    pause();
  }
  return false;
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
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
  const std::size_t worth = count / std::max<std::size_t>(1, grain);
  if (workers_.empty() || worth <= 1) {
    body(0, count);
    return;
  }
  job_ = {&body, count, std::min(worth, chunks_a_thread * (workers_.size() + 1))};
  next_chunk_ = 0;
  running_ = workers_.size();
  ++generation_;
  if (asleep_ > 0) {
    { const std::lock_guard lock(mutex_); }  // whoever counted itself asleep waits by now
    wake_.notify_all();
  }
  take_chunks();
  await_workers();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::take_chunks() {
  for (std::size_t chunk = next_chunk_++; chunk < job_.chunks; chunk = next_chunk_++) {
    try {
      (*job_.body)(job_.count * chunk / job_.chunks, job_.count * (chunk + 1) / job_.chunks);
    } catch (...) {
      chunk_failed(chunk);
    }
  }
}

void ThreadPool::chunk_failed(std::size_t chunk) {
  const std::lock_guard lock(mutex_);
  if (failure_ && failed_chunk_ < chunk) return;
  failure_ = std::current_exception();
  failed_chunk_ = chunk;
}

void ThreadPool::await_workers() {
  const auto done = [this] { return running_ == 0; };
  if (soon(done)) return;
  std::unique_lock lock(mutex_);
  caller_asleep_ = true;
  done_.wait(lock, done);
  caller_asleep_ = false;
}

void ThreadPool::await_work(std::size_t seen) {
  const auto there = [&] { return stop_ || generation_ != seen; };
  if (soon(there)) return;
  std::unique_lock lock(mutex_);
  ++asleep_;
  wake_.wait(lock, there);
  --asleep_;
}

void ThreadPool::work() {
  for (std::size_t seen = 0;; ++seen) {
    await_work(seen);
    if (stop_) return;
    take_chunks();
    if (--running_ == 0 && caller_asleep_) {
      { const std::lock_guard lock(mutex_); }
      done_.notify_one();
    }
  }
}

}  // namespace volvox
