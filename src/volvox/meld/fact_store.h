// The facts of all catoms. Each catom has one block of words, in which the facts of each predicate lie one after
// another, the oldest first: an array by type. Blocks of one size lie in pages; so a catom has no heap block, and its
// facts are near each other. Catoms may be processed by several threads, each catom by one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "volvox/base/check.h"
#include "volvox/meld/program.h"

namespace volvox::meld {

using Word = std::uint32_t;
inline constexpr std::uint32_t no_block = 0xffffffff;
inline constexpr std::uint32_t no_color = 0xffffffff;

struct CatomFacts {
  std::uint32_t block = no_block;
  std::uint32_t color = no_color;  // 0xRRGGBB
  std::uint8_t size = 0;           // of the block: a class
  std::uint8_t begun = 0;
};

class FactStore {
 public:
  explicit FactStore(const Program& program);

  static constexpr std::uint32_t most_words = 60'000;  // of a catom, its directory included
  std::size_t memory_bytes() const;

  void release(CatomFacts& catom);
  void prefetch(const CatomFacts& catom) const {
    if (catom.block == no_block) return;
    const Word* words = block(catom);
    for (int line = 0; line < 4; ++line) __builtin_prefetch(words + 16 * line, 1);
  }
  // Grows or makes the block, so that it has room for so many more words. False: it would be too large.
  [[nodiscard]] bool reserve(CatomFacts& catom, std::uint32_t more);

 private:
  friend class Facts;
  static constexpr int classes = 26;
  static constexpr std::size_t words_a_page = 1 << 16;
  static constexpr std::size_t most_pages = 1 << 16;
  // 16, 24, 32, 48, ... words
  static constexpr std::uint32_t capacity(int size) { return (size % 2 == 0 ? 16u : 24u) << (size / 2); }

  struct Pool {
    std::vector<std::unique_ptr<Word[]>> pages;  // never moves: other threads read it while pages are added
    std::vector<std::uint32_t> free;
    std::uint32_t used = 0;  // blocks
    std::mutex mutex;
  };
  Word* block(const CatomFacts& catom) const {
    VOLVOX_ASSERT(catom.block != no_block && catom.size < classes);
    const std::uint32_t per_page = narrow<std::uint32_t>(words_a_page / capacity(catom.size));
    return pools_[catom.size].pages[catom.block / per_page].get() +
           std::size_t{catom.block % per_page} * capacity(catom.size);
  }
  std::uint32_t take(int size);

  std::uint32_t directory_ = 0;  // words
  std::size_t predicates_ = 0;
  std::vector<std::uint16_t> strides_;
  std::array<Pool, classes> pools_;
};

// The facts of one catom, while one thread works on them. A pointer to a fact is good until the next insert or erase.
class Facts {
 public:
  Facts(FactStore& store, CatomFacts& catom) : store_(&store), catom_(&catom) {
    block_ = catom.block == no_block ? nullptr : store.block(catom);
  }

  std::uint32_t count(std::uint16_t predicate) const {
    VOLVOX_ASSERT(predicate < store_->predicates_);
    if (block_ == nullptr) return 0;
    const std::uint16_t* starts = this->starts();
    const std::uint32_t words = starts[predicate + 1] - starts[predicate];
    return words / store_->strides_[predicate];
  }
  bool any(std::uint16_t predicate) const {
    return block_ != nullptr && starts()[predicate + 1] != starts()[predicate];
  }
  Word* all(std::uint16_t predicate) const { return block_ + store_->directory_ + starts()[predicate]; }
  // One behind the last is where a loop over them ends.
  Word* at(std::uint16_t predicate, std::uint32_t i) const {
    VOLVOX_ASSERT(i <= count(predicate));
    return all(predicate) + i * store_->strides_[predicate];
  }
  // A new one, behind the others of its predicate; null: there is no room.
  Word* insert(std::uint16_t predicate);
  void erase(std::uint16_t predicate, std::uint32_t i);

  // All words, for snapshots: the directory and the facts.
  std::uint32_t words() const { return block_ == nullptr ? 0 : store_->directory_ + starts()[store_->predicates_]; }
  const Word* data() const { return block_; }
  // False: these words are no facts.
  [[nodiscard]] bool restore(const std::vector<Word>& words);

  CatomFacts& catom() const { return *catom_; }

 private:
  const std::uint16_t* starts() const { return reinterpret_cast<const std::uint16_t*>(block_); }
  std::uint16_t* starts() { return reinterpret_cast<std::uint16_t*>(block_); }

  FactStore* store_;
  CatomFacts* catom_;
  Word* block_ = nullptr;
};

}  // namespace volvox::meld
