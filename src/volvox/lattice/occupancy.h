// Which module is in a cell. A grid of all cells of the bounding box where enough of them are occupied, a hash table
// where they are not (docs/decisions/0050). What it answers does not depend on which of them it is, nor on the order in
// which modules came. Reading is thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/lattice/lattice.h"

namespace volvox::lattice {

using CatomId = Index<struct CatomTag>;
inline constexpr std::uint32_t nobody = NoIndex{};

// A cell in one word: 21 bits a coordinate. Neighbours differ by a constant, since no coordinate reaches the end of its
// bits.
using PackedCell = std::uint64_t;
inline constexpr PackedCell no_cell = ~PackedCell{0};
inline constexpr PackedCell loose_cell = no_cell - 1;  // of a module that is there, but in no cell
constexpr bool is_cell(PackedCell p) { return p < loose_cell; }
constexpr PackedCell packed_offset(const Cell& c) {
  return static_cast<PackedCell>(std::int64_t{c.z} * (std::int64_t{1} << 42) +
                                 std::int64_t{c.y} * (std::int64_t{1} << 21) + c.x);
}
inline constexpr PackedCell packed_origin = PackedCell{1} << 62 | PackedCell{1} << 41 | PackedCell{1} << 20;
constexpr PackedCell pack(const Cell& c) { return packed_origin + packed_offset(c); }
constexpr Cell unpack(PackedCell p) {
  const auto part = [](PackedCell bits) {
    return static_cast<std::int32_t>(bits & 0x1fffff) - (std::int32_t{1} << 20);
  };
  return {part(p), part(p >> 21), part(p >> 42)};
}

class Occupancy {
 public:
  enum class Store : std::uint8_t { grid, table, automatic };
  explicit Occupancy(const Lattice& lattice, Store store = Store::automatic);

  // Forgets what it held. `cells` has an entry for each module, which is no cell (is_cell) if the module is in none.
  // Returns the first module whose cell an earlier one has, or nobody. `grows`: leave room for modules that move out of
  // the box.
  std::uint32_t fill(std::span<const PackedCell> cells, bool grows = false);
  // `cells`: those of the last fill, with all changes since.
  void put(std::span<const PackedCell> cells, std::uint32_t module);
  void take(std::span<const PackedCell> cells, std::uint32_t module);

  std::uint32_t at(std::span<const PackedCell> cells, PackedCell cell) const {
    if (is_grid_) {
      const std::size_t i = index(unpack(cell));
      return i == outside ? nobody : grid_[i];
    }
    return table_[slot_of(cells, cell)];
  }

  // The surroundings of one cell: at(port) is a look-up.
  class Around {
   public:
    std::uint32_t at(int port) const {
      return is_grid_ ? of_->grid_[index_ + of_->strides_[parity_][port]]
                      : of_->at(cells_, cell_ + of_->offsets_[parity_][port]);
    }
    // Brings what at(port) reads into the cache.
    void prefetch(int port) const {
      if (is_grid_) __builtin_prefetch(&of_->grid_[index_ + of_->strides_[parity_][port]]);
      else if (!of_->is_grid_) __builtin_prefetch(&of_->table_[of_->home(cell_ + of_->offsets_[parity_][port])]);
    }

   private:
    friend class Occupancy;
    const Occupancy* of_ = nullptr;
    std::span<const PackedCell> cells_;
    PackedCell cell_ = 0;
    std::size_t index_ = 0;
    int parity_ = 0;
    bool is_grid_ = false;
  };
  Around around(std::span<const PackedCell> cells, PackedCell cell) const {
    Around a;
    const Cell c = unpack(cell);
    a.of_ = this, a.cells_ = cells, a.cell_ = cell, a.parity_ = lattice_.parity(c);
    a.is_grid_ = is_grid_ && fits(c);
    if (a.is_grid_) a.index_ = index(c);
    return a;
  }

  std::size_t memory_bytes() const { return (grid_.capacity() + table_.capacity()) * sizeof(std::uint32_t); }
  // What fill would need for so many modules in a box of so many cells.
  static std::size_t bytes_needed(std::size_t modules, double cells_of_box);

 private:
  static constexpr std::size_t outside = ~std::size_t{0};

  // The number of a cell within the grid.
  std::size_t index(const Cell& c) const {
    const std::uint32_t x = c.x - low_.x, y = c.y - low_.y, z = c.z - low_.z;  // negative ones are large
    if (x >= size_.x || y >= size_.y || z >= size_.z) return outside;
    return (std::size_t{z} * size_.y + y) * size_.x + x;
  }
  // Within the grid, and not at its border: occupied cells are, and cells beside them may not be.
  bool fits(const Cell& c) const {
    const auto inside = [](std::int32_t v, std::int32_t low, std::uint32_t size) {
      return v > low && std::int64_t{v} - low < std::int64_t{size} - 1;
    };
    return inside(c.x, low_.x, size_.x) && inside(c.y, low_.y, size_.y) &&
           (lattice_.flat() || inside(c.z, low_.z, size_.z));
  }
  bool make_grid(std::span<const PackedCell> cells, bool grows);
  void make_table(std::size_t modules);
  // Where the cell is, or the free slot where it would be.
  std::size_t slot_of(std::span<const PackedCell> cells, PackedCell cell) const {
    std::size_t slot = home(cell);
    while (table_[slot] != nobody && cells[table_[slot]] != cell) slot = (slot + 1) & mask_;
    return slot;
  }
  std::size_t home(PackedCell cell) const { return (cell * 0x9E3779B97F4A7C15ull >> shift_) & mask_; }

  Lattice lattice_;
  Store store_;
  bool is_grid_ = false;
  // The grid, with a border of free cells so that neighbours need no check.
  Cell low_;
  struct Size {
    std::uint32_t x = 0, y = 0, z = 0;
  } size_;
  std::vector<std::uint32_t> grid_;
  std::size_t strides_[2][most_ports] = {};
  // The table: open addressing, linear probing.
  std::vector<std::uint32_t> table_ = {nobody};
  std::size_t mask_ = 0, used_ = 0;
  int shift_ = 0;
  PackedCell offsets_[2][most_ports] = {};
};

}  // namespace volvox::lattice
