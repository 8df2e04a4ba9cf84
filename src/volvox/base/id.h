// Typed handles: an index into one kind of things, and a generation that distinguishes a reused slot from
// its earlier use. Modules refer to each other's objects by handles, not by pointers.
// Ids are plain values. A pool belongs to one thread at a time, and the same calls give the same ids.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <vector>

#include "volvox/base/check.h"
#include "volvox/base/index.h"

namespace volvox {

template <class Tag>
struct Id {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t index = none;
  std::uint32_t generation = 0;

  constexpr bool valid() const { return index != none; }
  constexpr explicit operator bool() const { return valid(); }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

// Allocates ids, lowest free index first, so that indices stay dense and their reuse depends only on the
// sequence of calls (deterministic).
template <class Tag>
class IdPool {
 public:
  Id<Tag> take() {
    if (free_.empty()) {
      generations_.push_back(0);
      alive_.push_back(true);
      return {narrow<std::uint32_t>(generations_.size() - 1), 0};
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    alive_[index] = true;
    return {index, generations_[index]};
  }

  void give_back(Id<Tag> id) {
    VOLVOX_CHECK(alive(id), "an id was given back twice or was never taken");
    alive_[id.index] = false;
    ++generations_[id.index];
    // Sorted in descending order, so that back() is the lowest free index.
    auto place = free_.begin();
    while (place != free_.end() && *place > id.index) ++place;
    free_.insert(place, id.index);
  }

  bool alive(Id<Tag> id) const {
    return id.index < alive_.size() && alive_[id.index] && generations_[id.index] == id.generation;
  }
  bool alive_index(std::size_t index) const { return index < alive_.size() && alive_[index]; }
  Id<Tag> at(std::size_t index) const { return {narrow<std::uint32_t>(index), generations_[index]}; }

  // One more than the highest index ever taken: the size of an array indexed by these ids.
  std::size_t capacity() const { return generations_.size(); }
  std::size_t size() const { return generations_.size() - free_.size(); }

  // Checks a pool that was loaded from a snapshot, which may be damaged.
  bool consistent() const {
    if (alive_.size() != generations_.size()) return false;
    std::size_t next = 0;
    for (std::size_t i = alive_.size(); i-- > 0;) {
      if (alive_[i]) continue;
      if (next == free_.size() || free_[next++] != i) return false;
    }
    return next == free_.size();
  }

  template <class Archive>
  void archive(Archive& ar) {
    ar("generations", generations_);
    ar("alive", alive_);
    ar("free", free_);
  }

 private:
  std::vector<std::uint32_t> generations_;
  std::vector<std::uint8_t> alive_;
  std::vector<std::uint32_t> free_;
};

}  // namespace volvox
