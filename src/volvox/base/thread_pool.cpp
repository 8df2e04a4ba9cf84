#include "volvox/base/thread_pool.h"

#include <algorithm>
#include <utility>

#include "volvox/base/check.h"

namespace volvox {
namespace {

// Several chunks per thread, so that threads with little work take chunks of the others.
constexpr std::size_t chunks_a_thread = 8;

// A waiting thread spins for this number of iterations before it sleeps: loops follow each other closely in a step,
// and waking a thread takes as long as a short loop.
constexpr int patience = 1500;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// The fields of next_chunk_: the generation of the job, the end of its chunks that nobody has taken, and the first of
// them. The caller and every second worker take the first, the others the last: two threads have the same halves in
// loop after loop, whose memory then stays in their caches. A thread that moves one of both owns that chunk, and only
// then may it read job_.
constexpr int chunk_bits = 16;
constexpr std::size_t chunk_mask = (std::size_t{1} << chunk_bits) - 1;

std::size_t ticket_of(std::size_t generation, std::size_t chunks) {
  return generation << (2 * chunk_bits) | chunks << chunk_bits;
}
std::size_t end_of(std::size_t ticket) { return ticket >> chunk_bits & chunk_mask; }
std::size_t next_of(std::size_t ticket) { return ticket & chunk_mask; }

thread_local bool takes_the_last = false;

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
  VOLVOX_ASSERT(threads >= 1);
  for (int i = 1; i < threads; ++i) {
    workers_.emplace_back([this, i] {
      takes_the_last = i % 2 == 1;
      work();
    });
  }
}

ThreadPool::~ThreadPool() {
  VOLVOX_ASSERT(!failure_);
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run_ranges(std::size_t count, std::size_t grain,
                            const std::function<void(std::size_t, std::size_t)>& body) {
  if (count == 0) return;
  const std::size_t worth = count / std::max<std::size_t>(1, grain);
  if (workers_.empty() || worth <= 1) {
    body(0, count);
    return;
  }
  job_ = {&body, count, std::min({worth, chunks_a_thread * (workers_.size() + 1), chunk_mask - workers_.size() - 1})};
  next_chunk_ = ticket_of(generation_ + 1, job_.chunks);
  VOLVOX_ASSERT(job_.chunks > 1 && job_.chunks < chunk_mask && job_.chunks <= count);
  ++generation_;
  if (asleep_ > 0) {
    { const std::lock_guard lock(mutex_); }  // every worker counted in asleep_ waits now
    wake_.notify_all();
  }
  take_chunks();
  await_workers();
  VOLVOX_ASSERT(next_of(next_chunk_) >= end_of(next_chunk_));
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

// A worker that wakes after all chunks are taken does nothing, and the caller does not wait for it: on a busy machine
// the caller alone may finish the loop before another thread runs.
void ThreadPool::take_chunks() {
  const bool last = takes_the_last;
  for (std::size_t ticket = next_chunk_; next_of(ticket) < end_of(ticket);) {
    const std::size_t left = last ? ticket - (std::size_t{1} << chunk_bits) : ticket + 1;
    if (!next_chunk_.compare_exchange_weak(ticket, left)) continue;
    const std::size_t chunk = last ? end_of(left) : next_of(ticket);
    try {
      (*job_.body)(job_.count * chunk / job_.chunks, job_.count * (chunk + 1) / job_.chunks);
    } catch (...) {
      chunk_failed(chunk);
    }
    ticket = next_chunk_;
  }
}

void ThreadPool::chunk_failed(std::size_t chunk) {
  VOLVOX_ASSERT(chunk < job_.chunks);
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
  for (std::size_t seen = 0;;) {
    await_work(seen);
    if (stop_) return;
    seen = generation_;
    ++running_;  // before it takes a chunk: if running_ is 0, no worker has a chunk
    take_chunks();
    if (--running_ == 0 && caller_asleep_) {
      { const std::lock_guard lock(mutex_); }
      done_.notify_one();
    }
  }
}

}  // namespace volvox
