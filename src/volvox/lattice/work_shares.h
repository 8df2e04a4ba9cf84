// A list of chunks of work that threads share in every tick, each with a part of its own: about the same part of the
// list from tick to tick, so that what it works on stays in the cache of one core. Who has done its own part takes
// chunks from the end of another's. Who does what depends on time, so results must not depend on who does it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "volvox/base/index.h"

namespace volvox::lattice {

class WorkShares {
 public:
  // By one thread, while nobody works.
  void cut(std::size_t chunks, std::size_t workers) {
    if (shares_.size() != workers) shares_ = std::vector<Share>(workers);
    for (std::size_t i = 0; i < workers; ++i) {
      shares_[i].taken = false;
      shares_[i].rest = pack(chunks * i / workers, chunks * (i + 1) / workers);
    }
  }
  // The number of a worker for the calling thread: that of the last time, if it is free. At most as often as there are
  // workers.
  std::size_t join() {
    const std::lock_guard lock(mutex_);
    const auto own = std::this_thread::get_id();
    std::size_t best = shares_.size();
    int best_fit = -1;
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      const Share& share = shares_[i];
      const int fit = share.taken ? -1 : share.thread == own ? 2 : share.thread == std::thread::id() ? 1 : 0;
      if (fit > best_fit) best = i, best_fit = fit;
    }
    VOLVOX_ASSERT(best < shares_.size());
    shares_[best].taken = true, shares_[best].thread = own;
    return best;
  }
  // The next chunk for a worker; nothing: all are taken.
  std::optional<std::size_t> next(std::size_t worker) {
    if (const auto own = take(shares_[worker], true)) return own;
    for (std::size_t i = 1; i < shares_.size(); ++i)
      if (const auto others = take(shares_[(worker + i) % shares_.size()], false)) return others;
    return std::nullopt;
  }

 private:
  struct alignas(64) Share {
    std::atomic<std::uint64_t> rest = 0;  // the first chunk that is left, and the end
    std::thread::id thread;
    bool taken = false;
  };
  static std::uint64_t pack(std::size_t first, std::size_t end) {
    VOLVOX_ASSERT(first <= end && end <= 0xffffffff);
    return std::uint64_t{first} << 32 | end;
  }
  static std::optional<std::size_t> take(Share& share, bool from_front) {
    for (std::uint64_t rest = share.rest.load(std::memory_order_relaxed);;) {
      const std::size_t first = rest >> 32, end = rest & 0xffffffff;
      if (first == end) return std::nullopt;
      const std::uint64_t left = from_front ? pack(first + 1, end) : pack(first, end - 1);
      if (share.rest.compare_exchange_weak(rest, left, std::memory_order_relaxed)) return from_front ? first : end - 1;
    }
  }

  std::vector<Share> shares_;
  std::mutex mutex_;
};

}  // namespace volvox::lattice
