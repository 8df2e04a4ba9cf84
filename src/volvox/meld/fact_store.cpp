#include "volvox/meld/fact_store.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "volvox/base/index.h"

namespace volvox::meld {
namespace {

constexpr std::uint32_t first_words = 32;  // for the neighbours and a few facts, so that blocks seldom grow

}  // namespace

FactStore::FactStore(const Program& program) : predicates_(program.predicates.size()) {
  for (const Predicate& p : program.predicates) strides_.push_back(p.stride());
  directory_ = narrow<std::uint32_t>((predicates_ + 2) / 2);
}

std::uint32_t FactStore::take(int size) {
  VOLVOX_ASSERT(size < classes);
  Pool& pool = pools_[size];
  const std::lock_guard lock(pool.mutex);
  if (!pool.free.empty()) {
    const std::uint32_t block = pool.free.back();
    pool.free.pop_back();
    return block;
  }
  const auto per_page = narrow<std::uint32_t>(words_a_page / capacity(size));
  if (pool.used / per_page >= pool.pages.size()) {
    if (pool.pages.empty()) pool.pages.reserve(most_pages);
    if (pool.pages.size() == most_pages) throw std::bad_alloc();
    pool.pages.push_back(std::make_unique_for_overwrite<Word[]>(words_a_page));
  }
  return pool.used++;
}

void FactStore::release(CatomFacts& catom) {
  if (catom.block != no_block) {
    Pool& pool = pools_[catom.size];
    const std::lock_guard lock(pool.mutex);
    VOLVOX_ASSERT(catom.block < pool.used && pool.free.size() < pool.used);
    pool.free.push_back(catom.block);
  }
  catom = {};
}

bool FactStore::reserve(CatomFacts& catom, std::uint32_t more) {
  std::uint32_t used = directory_;
  if (catom.block == no_block) {
    more = std::max(more, first_words);
  } else {
    const Word* old = block(catom);
    used += reinterpret_cast<const std::uint16_t*>(old)[predicates_];
    if (used + more <= capacity(catom.size)) return true;
  }
  if (used + more > most_words) return false;
  int size = 0;
  while (capacity(size) < used + more) ++size;
  CatomFacts grown = catom;
  grown.size = narrow<std::uint8_t>(size);
  grown.block = take(size);
  Word* to = block(grown);
  if (catom.block == no_block) {
    std::fill_n(to, directory_, 0);
  } else {
    std::memcpy(to, block(catom), used * sizeof(Word));
    release(catom);
  }
  catom = grown;
  return true;
}

std::size_t FactStore::memory_bytes() const {
  std::size_t bytes = 0;
  for (const Pool& pool : pools_) bytes += pool.pages.size() * words_a_page * sizeof(Word) + pool.free.capacity() * 4;
  return bytes;
}

Word* Facts::insert(std::uint16_t predicate) {
  const std::uint32_t stride = store_->strides_[predicate];
  const bool has_room = block_ != nullptr && words() + stride <= FactStore::capacity(catom_->size);
  if (!has_room) {
    if (!store_->reserve(*catom_, stride)) return nullptr;
    block_ = store_->block(*catom_);
  }
  std::uint16_t* starts = this->starts();
  Word* facts = block_ + store_->directory_;
  const std::uint32_t end = starts[predicate + 1], last = starts[store_->predicates_];
  VOLVOX_ASSERT(end <= last && store_->directory_ + last + stride <= FactStore::capacity(catom_->size));
  std::memmove(facts + end + stride, facts + end, (last - end) * sizeof(Word));
  for (std::size_t p = predicate + 1; p <= store_->predicates_; ++p)
    starts[p] = narrow<std::uint16_t>(starts[p] + stride);
  return facts + end;
}

void Facts::erase(std::uint16_t predicate, std::uint32_t i) {
  VOLVOX_ASSERT(i < count(predicate));
  const std::uint32_t stride = store_->strides_[predicate];
  std::uint16_t* starts = this->starts();
  Word* facts = block_ + store_->directory_;
  const std::uint32_t begin = starts[predicate] + i * stride, last = starts[store_->predicates_];
  std::memmove(facts + begin, facts + begin + stride, (last - begin - stride) * sizeof(Word));
  for (std::size_t p = predicate + 1; p <= store_->predicates_; ++p)
    starts[p] = narrow<std::uint16_t>(starts[p] - stride);
}

bool Facts::restore(const std::vector<Word>& words) {
  if (words.empty()) return true;
  if (words.size() < store_->directory_ || words.size() > FactStore::most_words) return false;
  std::vector<std::uint16_t> starts(2 * store_->directory_);
  std::memcpy(starts.data(), words.data(), store_->directory_ * sizeof(Word));
  if (starts[0] != 0 || starts[store_->predicates_] != words.size() - store_->directory_) return false;
  for (std::size_t p = 0; p < store_->predicates_; ++p)
    if (starts[p + 1] < starts[p] || (starts[p + 1] - starts[p]) % store_->strides_[p] != 0) return false;
  if (!store_->reserve(*catom_, narrow<std::uint32_t>(words.size()))) return false;
  block_ = store_->block(*catom_);
  std::memcpy(block_, words.data(), words.size() * sizeof(Word));
  return true;
}

}  // namespace volvox::meld
