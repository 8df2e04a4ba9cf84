// Ranks as threads of one process, for tests of what ranks do together. Letters go through memory.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "volvox/cluster/exchange.h"

namespace volvox::cluster {

class ThreadRanks {
 public:
  explicit ThreadRanks(int size) : boxes_(static_cast<std::size_t>(size)), dead_(static_cast<std::size_t>(size)) {}

  // work(exchange) on a thread for each rank, all at once; waits for all. A rank whose work returns false is dead to
  // the others.
  void run(const std::function<bool(Exchange&)>& work) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size(); ++rank)
      threads.emplace_back([&, rank] {
        One one(*this, rank);
        Exchange exchange(one);
        if (work(exchange)) return;
        const std::lock_guard lock(mutex_);
        dead_[static_cast<std::size_t>(rank)] = true;
      });
    for (std::thread& thread : threads) thread.join();
  }
  int size() const { return static_cast<int>(boxes_.size()); }

 private:
  class One final : public Ranks {
   public:
    One(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return all_.size(); }
    Result<void> send(int to, const std::string& text) override {
      const std::lock_guard lock(all_.mutex_);
      all_.boxes_[static_cast<std::size_t>(to)].push_back({rank_, text});
      return {};
    }
    std::optional<Letter> receive() override {
      const std::lock_guard lock(all_.mutex_);
      auto& box = all_.boxes_[static_cast<std::size_t>(rank_)];
      if (box.empty()) return std::nullopt;
      Letter letter = std::move(box.front());
      box.pop_front();
      return letter;
    }
    bool is_lost(int rank) override {
      const std::lock_guard lock(all_.mutex_);
      return all_.dead_[static_cast<std::size_t>(rank)];
    }
    bool rank_0_may_come_back() const override { return false; }
    double longest_pause() const override { return 0.005; }

   private:
    ThreadRanks& all_;
    int rank_;
  };

  std::mutex mutex_;
  std::vector<std::deque<Letter>> boxes_;
  std::vector<bool> dead_;
};

}  // namespace volvox::cluster
