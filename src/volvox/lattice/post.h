// Messages on their way: sent in one tick, read in the next. Every receiver has a list of them; contents lie one after
// another in pages, so that a message costs 12 bytes and its content, and a catom without messages 8 bytes.
// Owns the contents for one tick. Several threads send at once, each with a Writer of its own, to which its pages come
// back when they have been read: a thread that has the same catoms from tick to tick finds both in its cache. The order
// in which they send decides the order of a list, so its reader sorts by keys before anybody sees it (Catom).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "volvox/lattice/active_set.h"
#include "volvox/lattice/occupancy.h"
#include "volvox/lattice/region.h"

namespace volvox::lattice {

inline constexpr std::size_t largest_message = 60'000;  // bytes, of any type

struct Envelope {
  std::uint32_t next = nobody;  // in the receiver's list, the newest first
  std::uint32_t sender = 0;
  std::uint16_t size = 0;  // of the content, which follows, in bytes
  std::uint8_t port = 0;   // of the receiver
  std::uint8_t mailbox = 0;
};
static_assert(sizeof(Envelope) == 12);

class Post {
 public:
  // Where one thread at a time writes.
  class alignas(64) Writer {
    friend class Post;
    std::uint32_t page_ = nobody, next_ = 0;       // where it writes; in units
    std::vector<std::uint32_t> free_, used_[2]{};  // pages
  };

  Post();
  // So many catoms are in the world. Those of the region can be sent something.
  void resize(std::size_t catoms, const Region& region);

  // There are so many writers at least; between ticks. Number 0 is always there.
  void make_writers(std::size_t count);
  Writer& writer(std::size_t number) { return writers_[number]; }
  // Thread-safe. Messages of one sender must come from one thread.
  void send(Writer& writer, std::uint32_t to, Envelope envelope, const std::byte* content);

  // What arrives in this tick, the newest first. Its reader takes the list away.
  std::uint32_t arriving(std::uint32_t catom) const { return heads_[now_][catom - first_]; }
  std::uint32_t take(std::uint32_t catom) { return std::exchange(heads_[now_][catom - first_], nobody); }
  const Envelope& envelope(std::uint32_t message) const {
    VOLVOX_ASSERT(message != nobody && pages_[message / units] != nullptr);
    return *reinterpret_cast<const Envelope*>(pages_[message / units].get() + message % units * unit);
  }
  const std::byte* content(std::uint32_t message) const {
    return reinterpret_cast<const std::byte*>(&envelope(message)) + sizeof(Envelope);
  }
  // Bring what reading and sending need into the cache.
  void prefetch(std::uint32_t catom) const { __builtin_prefetch(&heads_[now_][catom - first_], 1); }
  void prefetch_arriving(std::uint32_t catom) const {
    const std::uint32_t first = heads_[now_][catom - first_];
    if (first != nobody) __builtin_prefetch(&envelope(first));
  }
  void prefetch_receiver(std::uint32_t catom) const { __builtin_prefetch(&heads_[1 - now_][catom - first_], 1); }
  // Who gets something in this tick, or was asked for.
  const ActiveSet& receivers() const { return active_[now_]; }
  void wake_next(std::uint32_t catom) { active_[1 - now_].insert(catom); }
  void wake_now(std::uint32_t catom) { active_[now_].insert(catom); }
  bool sends_something() const { return !active_[1 - now_].empty(); }
  void forget(std::uint32_t catom) { active_[now_].erase(catom); }  // it is no receiver of this tick

  // All lists were taken: what was sent arrives now.
  void turn();
  void clear();

  std::size_t memory_bytes() const;

 private:
  static constexpr std::size_t unit = 8, units = 8192;  // bytes; units a page
  static constexpr std::size_t most_pages = (std::size_t{1} << 32) / units;
  std::uint32_t new_page(Writer& writer);

  std::uint32_t first_ = 0;  // catom of the region
  std::vector<std::uint32_t> heads_[2];
  ActiveSet active_[2];
  int now_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> pages_;  // never moves: other threads read it while pages are added
  std::vector<Writer> writers_;
  std::mutex mutex_;
};

}  // namespace volvox::lattice
