#include "volvox/lattice/post.h"

#include <atomic>
#include <cstring>
#include <new>

#include "volvox/base/check.h"
#include "volvox/base/platform/memory.h"

namespace volvox::lattice {

Post::Post() : writers_(1) { pages_.reserve(most_pages); }

void Post::make_writers(std::size_t count) {
  if (count > writers_.size()) writers_.resize(count);
}

void Post::resize(std::size_t catoms, const Region& region) {
  first_ = region.first();
  for (auto& heads : heads_) {
    if (heads.empty()) {
      heads.reserve(region.count(catoms));
      platform::prefer_huge_pages(heads);
    }
    heads.resize(region.count(catoms), nobody);
  }
  for (ActiveSet& set : active_) set.resize(catoms);
}

std::uint32_t Post::new_page(Writer& writer) {
  if (writer.free_.empty()) {
    const std::lock_guard lock(mutex_);
    if (pages_.size() == most_pages) throw std::bad_alloc();
    writer.free_.push_back(narrow<std::uint32_t>(pages_.size()));
    pages_.push_back(std::make_unique_for_overwrite<std::byte[]>(units * unit));
  }
  const std::uint32_t page = writer.free_.back();
  writer.free_.pop_back();
  writer.used_[1 - now_].push_back(page);
  return page;
}

void Post::send(Writer& writer, std::uint32_t to, Envelope envelope, const std::byte* content) {
  VOLVOX_ASSERT(envelope.size <= largest_message && to - first_ < heads_[now_].size());
  const std::uint32_t length = narrow<std::uint32_t>((sizeof(Envelope) + envelope.size + unit - 1) / unit);
  if (writer.page_ == nobody || writer.next_ + length > units) writer.page_ = new_page(writer), writer.next_ = 0;
  const std::uint32_t message = narrow<std::uint32_t>(writer.page_ * units + writer.next_);
  std::byte* place = pages_[writer.page_].get() + writer.next_ * unit;
  writer.next_ += length;
  envelope.next = std::atomic_ref(heads_[1 - now_][to - first_]).exchange(message, std::memory_order_relaxed);
  std::memcpy(place, &envelope, sizeof envelope);
  if (envelope.size > 0) std::memcpy(place + sizeof envelope, content, envelope.size);
  if (envelope.next == nobody) active_[1 - now_].insert(to);
}

void Post::turn() {
  active_[now_].clear();
  for (Writer& writer : writers_) {
    std::vector<std::uint32_t>& read = writer.used_[now_];
    // The last one first: what was written last is in the cache.
    writer.free_.insert(writer.free_.end(), read.begin(), read.end());
    read.clear();
    writer.page_ = nobody;
  }
  now_ = 1 - now_;
}

void Post::clear() {
  for (int tick = 0; tick < 2; ++tick) {
    active_[now_].each([&](std::uint32_t catom) { heads_[now_][catom - first_] = nobody; });
    turn();
  }
}

std::size_t Post::memory_bytes() const {
  std::size_t bytes = pages_.size() * (units * unit + sizeof(void*));
  for (int i = 0; i < 2; ++i) bytes += 4 * heads_[i].capacity() + active_[i].memory_bytes();
  return bytes;
}

}  // namespace volvox::lattice
