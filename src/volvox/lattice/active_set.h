// Numbers below a bound, such as the catoms that have something to do. Insertion is thread-safe; who inserts first does
// not matter, and they come out in ascending order. What is empty costs nothing: one bit stands for 4096 numbers.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "volvox/base/index.h"

namespace volvox::lattice {

class ActiveSet {
 public:
  void resize(std::size_t count) {
    words_.resize((count + 63) / 64);
    summary_.resize((words_.size() + 63) / 64);
  }
  void insert(std::uint32_t i) {
    VOLVOX_ASSERT(i / 64 < words_.size());
    set(words_[i / 64], i % 64);
    set(summary_[i / 4096], i / 64 % 64);
  }
  bool contains(std::uint32_t i) const {
    VOLVOX_ASSERT(i / 64 < words_.size());
    // Other threads may set other bits of the word. (atomic_ref takes no constants before C++26.)
    const std::atomic_ref word(const_cast<std::uint64_t&>(words_[i / 64]));
    return (word.load(std::memory_order_relaxed) >> i % 64 & 1) != 0;
  }
  void erase(std::uint32_t i) {  // thread-safe, if nobody inserts the same number; the summary may keep its bit
    VOLVOX_ASSERT(i / 64 < words_.size());
    std::atomic_ref(words_[i / 64]).fetch_and(~(std::uint64_t{1} << i % 64), std::memory_order_relaxed);
  }

  // visit(number) in ascending order.
  template <class Visit>
  void each(const Visit& visit) const {
    for (std::size_t s = 0; s < summary_.size(); ++s)
      for (std::uint64_t words = summary_[s]; words != 0; words &= words - 1) {
        const std::size_t w = 64 * s + std::countr_zero(words);
        for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1)
          visit(narrow<std::uint32_t>(64 * w + std::countr_zero(bits)));
      }
  }
  void clear() {
    for (std::size_t s = 0; s < summary_.size(); ++s) {
      for (std::uint64_t words = summary_[s]; words != 0; words &= words - 1)
        words_[64 * s + std::countr_zero(words)] = 0;
      summary_[s] = 0;
    }
  }
  bool empty() const {
    for (std::size_t s = 0; s < summary_.size(); ++s)
      for (std::uint64_t words = summary_[s]; words != 0; words &= words - 1)
        if (words_[64 * s + std::countr_zero(words)] != 0) return false;
    return true;
  }
  std::size_t memory_bytes() const { return 8 * (words_.capacity() + summary_.capacity()); }

 private:
  static void set(std::uint64_t& word, std::uint32_t bit) {
    const std::uint64_t mask = std::uint64_t{1} << bit;
    const std::atomic_ref shared(word);
    // Most bits of a front are set by another neighbour already, and reading is cheaper than a locked write.
    if ((shared.load(std::memory_order_relaxed) & mask) == 0) shared.fetch_or(mask, std::memory_order_relaxed);
  }
  std::vector<std::uint64_t> words_, summary_;
};

}  // namespace volvox::lattice
