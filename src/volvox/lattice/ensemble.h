// The modules of a lattice world and their cells. Modules are numbered in the order in which they came; a number is not
// used again, so it always means the same module. Changes are made by one thread; reading is thread-safe.
#pragma once

#include <span>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/lattice/occupancy.h"

namespace volvox::lattice {

class Ensemble {
 public:
  explicit Ensemble(const Lattice& lattice, Occupancy::Store store = Occupancy::Store::automatic)
      : lattice_(lattice), occupancy_(lattice, store) {}

  const Lattice& lattice() const { return lattice_; }
  std::size_t count() const { return cells_.size(); }  // of all numbers ever given
  std::size_t size() const { return size_; }           // of the modules that are there, in cells or loose
  std::size_t loose() const { return loose_; }         // of those that are there, but in no cell
  // Another number after every change of the cells. No part of the state: it tells viewers when to look again.
  std::uint64_t version() const { return version_; }

  // All or none. The first of them gets the number count().
  Result<void> add(std::span<const Cell> cells);
  Result<CatomId> add(const Cell& cell);
  // A full box of cells, x fastest.
  Result<void> add_box(const Cell& low, const Cell& high);
  Result<void> remove(CatomId module);
  Result<void> move(CatomId module, const Cell& to);
  // Out of its cell, but not gone: something else moves it. And back into a cell that is free.
  Result<void> loosen(CatomId module);
  Result<void> settle(CatomId module, const Cell& to);

  bool has(CatomId module) const { return module < cells_.size() && is_cell(cells_[module]); }  // in a cell
  bool is_loose(CatomId module) const { return module < cells_.size() && cells_[module] == loose_cell; }
  bool there(CatomId module) const { return module < cells_.size() && cells_[module] != no_cell; }
  Cell cell(CatomId module) const {  // of one that is in a cell
    VOLVOX_ASSERT(has(module));
    return unpack(cells_[module]);
  }
  std::uint32_t at(const Cell& cell) const {  // nobody: free
    return in_range(cell) ? occupancy_.at(cells_, pack(cell)) : nobody;
  }
  Occupancy::Around around(std::uint32_t module) const {  // likewise
    VOLVOX_ASSERT(has(module));
    return occupancy_.around(cells_, cells_[module]);
  }

  // Of a cell within range, occupied or not.
  Occupancy::Around around(const Cell& cell) const {
    VOLVOX_ASSERT(in_range(cell));
    return occupancy_.around(cells_, pack(cell));
  }
  void prefetch(std::uint32_t module) const { __builtin_prefetch(&cells_[module]); }

  // Links between neighbours in cells, each counted once.
  std::size_t links() const;

  const Occupancy& occupancy() const { return occupancy_; }
  std::size_t memory_bytes() const { return cells_.capacity() * sizeof(PackedCell) + occupancy_.memory_bytes(); }

  void archive(Archive& ar);

 private:
  Result<void> check_place(const Cell& cell) const;
  Result<void> index_new(std::size_t old_count);

  Lattice lattice_;
  std::vector<PackedCell> cells_;  // by module; no_cell: it was removed
  std::size_t size_ = 0, loose_ = 0;
  std::uint64_t version_ = 0;
  Occupancy occupancy_;
};

}  // namespace volvox::lattice
