#include "volvox/lattice/waiting.h"

#include <cstring>

namespace volvox::lattice {

void PortQueue::push(std::uint8_t mailbox, std::span<const std::byte> content) {
  if (begin_ > 1024 && begin_ > bytes_.size() / 2) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  const std::uint16_t size = narrow<std::uint16_t>(content.size());
  const std::size_t end = bytes_.size();
  bytes_.resize(end + head + size);
  std::memcpy(&bytes_[end], &size, sizeof size);
  bytes_[end + 2] = std::byte{mailbox};
  if (size > 0) std::memcpy(&bytes_[end + head], content.data(), size);
  ++size_;
}

PortQueue::Front PortQueue::front() const {
  VOLVOX_ASSERT(begin_ + head <= bytes_.size());
  std::uint16_t size = 0;
  std::memcpy(&size, &bytes_[begin_], sizeof size);
  return {std::to_integer<std::uint8_t>(bytes_[begin_ + 2]), {bytes_.data() + begin_ + head, size}};
}

void PortQueue::pop() {
  VOLVOX_ASSERT(size_ > 0);
  begin_ += head + front().content.size();
  --size_;
  moved = 0;
  VOLVOX_ASSERT(empty() == (size_ == 0));
  if (empty()) clear();
}

void PortQueue::clear() {
  bytes_.clear();
  begin_ = size_ = 0;
  moved = 0;
  peer = nobody;
}

bool PortQueue::sound() const {
  std::size_t at = 0, found = 0;
  for (; at + head <= bytes_.size(); ++found) {
    std::uint16_t size = 0;
    std::memcpy(&size, &bytes_[at], sizeof size);
    if (size > largest_message) return false;
    at += head + size;
  }
  return at == bytes_.size() && found == size_ && (found == 0 ? moved == 0 : moved <= front().content.size());
}

// What has left is no part of the state.
void PortQueue::archive(Archive& ar) {
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
  ar("bytes", bytes_);
  ar("size", size_);
  ar("moved", moved);
  ar("peer", peer);
  if (ar.loading() && !sound()) {
    ar.fail("the snapshot has a damaged queue of messages");
    clear();
  }
}

PortQueues& Waiting::get(std::uint32_t catom) {
  Shard& s = shard(catom);
  const std::lock_guard lock(s.mutex);
  auto& queues = s.queues[catom];
  if (queues == nullptr) queues = std::make_unique<PortQueues>();
  who_.insert(catom);
  return *queues;
}

void Waiting::forget(std::uint32_t catom) {
  Shard& s = shard(catom);
  const std::lock_guard lock(s.mutex);
  s.queues.erase(catom);
  who_.erase(catom);
}

void Waiting::clear() {
  for (Shard& s : shards_) s.queues.clear();
  who_.clear();
}

}  // namespace volvox::lattice
