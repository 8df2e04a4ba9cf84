// Messages that wait for capacity: a queue for each port of the catoms that have any, and nothing for the others.
// Sizes in bytes. Owns copies of the contents. What is sent when depends on the queue alone: deterministic.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "volvox/base/archive.h"
#include "volvox/lattice/active_set.h"
#include "volvox/lattice/post.h"

namespace volvox::lattice {

// First in, first out; one block of memory, which is used again.
class PortQueue {
 public:
  bool empty() const { return begin_ == bytes_.size(); }
  void push(std::uint8_t mailbox, std::span<const std::byte> content);
  struct Front {
    std::uint8_t mailbox = 0;
    std::span<const std::byte> content;
  };
  Front front() const;
  void pop();
  void clear();
  std::size_t size() const { return size_; }  // messages

  std::uint32_t moved = 0;      // bytes of the first message that have been sent
  std::uint32_t peer = nobody;  // for whom they wait: if another comes to its place, they are lost

  void archive(Archive& ar);

 private:
  static constexpr std::size_t head = 3;  // bytes before a content: its size and its mailbox
  bool sound() const;

  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0, size_ = 0;
};
using PortQueues = std::array<PortQueue, most_ports>;

// Thread-safe, if no two threads use the same catom.
class Waiting {
 public:
  void resize(std::size_t catoms) { who_.resize(catoms); }
  PortQueues* find(std::uint32_t catom) { return who_.contains(catom) ? &get(catom) : nullptr; }
  PortQueues& get(std::uint32_t catom);  // makes them
  void forget(std::uint32_t catom);
  void clear();
  const ActiveSet& who() const { return who_; }

 private:
  struct Shard {
    std::mutex mutex;
    std::map<std::uint32_t, std::unique_ptr<PortQueues>> queues;
  };
  static constexpr std::size_t shards = 64;
  Shard& shard(std::uint32_t catom) { return shards_[catom / 64 % shards]; }

  ActiveSet who_;
  std::array<Shard, shards> shards_;
};

}  // namespace volvox::lattice
