#include "volvox/lattice/post.h"

#include <atomic>
#include <cstring>
#include <new>

#include "volvox/base/check.h"
#include "volvox/base/platform/memory.h"

namespace volvox::lattice {

Post::Post() { pages_.reserve(most_pages); }

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

Post::Writer Post::take_writer() {
  const std::lock_guard lock(mutex_);
  if (writers_.empty()) return {};
  const Writer writer = writers_.back();
  writers_.pop_back();
  return writer;
}

void Post::give_back(Writer writer) {
  const std::lock_guard lock(mutex_);
  if (writer.page != nobody) writers_.push_back(writer);
}

std::uint32_t Post::new_page() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    if (pages_.size() == most_pages) throw std::bad_alloc();
    free_.push_back(narrow<std::uint32_t>(pages_.size()));
    pages_.push_back(std::make_unique_for_overwrite<std::byte[]>(units * unit));
  }
  const std::uint32_t page = free_.back();
  free_.pop_back();
  used_[1 - now_].push_back(page);
  return page;
}

void Post::send(Writer& writer, std::uint32_t to, Envelope envelope, const std::byte* content) {
  VOLVOX_ASSERT(envelope.size <= largest_message && to - first_ < heads_[now_].size());
  const std::uint32_t length = narrow<std::uint32_t>((sizeof(Envelope) + envelope.size + unit - 1) / unit);
  if (writer.page == nobody || writer.used + length > units) writer = {new_page(), 0};
  const std::uint32_t message = narrow<std::uint32_t>(writer.page * units + writer.used);
  std::byte* place = pages_[writer.page].get() + writer.used * unit;
  writer.used += length;
  envelope.next = std::atomic_ref(heads_[1 - now_][to - first_]).exchange(message, std::memory_order_relaxed);
  std::memcpy(place, &envelope, sizeof envelope);
  if (envelope.size > 0) std::memcpy(place + sizeof envelope, content, envelope.size);
  if (envelope.next == nobody) active_[1 - now_].insert(to);
}

void Post::turn() {
  active_[now_].clear();
  free_.insert(free_.end(), used_[now_].begin(), used_[now_].end());
  used_[now_].clear();
  writers_.clear();
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
