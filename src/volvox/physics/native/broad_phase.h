// Which bodies may touch: those whose boxes overlap. A hashed grid for bodies of similar
// size; the few that are much larger are tried against everything. Stateless.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/physics/native/shape.h"

namespace volvox::physics::native {

class BroadPhase {
 public:
  struct Item {
    int body = -1;
    bool moves = false;     // of two bodies that do not, nothing is asked
    Box3 box;
  };
  struct Pair {
    int a, b;               // a moves; if both do, a < b
    friend auto operator<=>(const Pair&, const Pair&) = default;
  };

  // Items sorted by body. Pairs come out sorted.
  void find_pairs(std::span<const Item> items, std::vector<Pair>& pairs);

 private:
  struct Entry {
    std::uint64_t cell = 0;
    int next = -1;
  };

  void choose_cell(std::span<const Item> items);
  std::uint64_t cell_of(const Vec3& p) const;
  void collect(std::span<const Item> items, std::size_t index, std::vector<Pair>& pairs);

  double cell_ = 1;
  std::vector<int> large_;       // items
  std::vector<std::uint8_t> is_large_;
  std::vector<int> head_;        // by hash: the first item of a chain
  std::vector<Entry> entries_;   // by item
  std::uint64_t mask_ = 0;
};

}  // namespace volvox::physics::native
