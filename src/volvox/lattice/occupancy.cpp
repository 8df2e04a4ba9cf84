#include "volvox/lattice/occupancy.h"

#include <algorithm>
#include <bit>

#include "volvox/base/platform/memory.h"

namespace volvox::lattice {
namespace {

// A grid takes 4 bytes a cell of its box, a table 8 to 16 bytes a module and several times the time of a look-up.
constexpr double most_cells_a_module = 8;
constexpr std::size_t small_grid = 4096;  // cells; always worth it

}  // namespace

Occupancy::Occupancy(const Lattice& lattice, Store store) : lattice_(lattice), store_(store) {
  for (int parity = 0; parity < 2; ++parity)
    for (int port = 0; port < lattice_.ports(); ++port)
      offsets_[parity][port] = packed_offset(lattice_.offset(parity, port));
}

std::size_t Occupancy::bytes_needed(std::size_t modules, double cells_of_box) {
  if (cells_of_box <= most_cells_a_module * real(modules) + small_grid) return truncated<std::size_t>(4 * cells_of_box);
  return 4 * std::bit_ceil(2 * modules + 1);
}

bool Occupancy::make_grid(std::span<const PackedCell> cells, bool grows) {
  Cell low{farthest_cell, farthest_cell, farthest_cell}, high{-farthest_cell, -farthest_cell, -farthest_cell};
  std::size_t modules = 0;
  for (const PackedCell packed : cells) {
    if (!is_cell(packed)) continue;
    const Cell c = unpack(packed);
    low = {std::min(low.x, c.x), std::min(low.y, c.y), std::min(low.z, c.z)};
    high = {std::max(high.x, c.x), std::max(high.y, c.y), std::max(high.z, c.z)};
    ++modules;
  }
  if (modules == 0) low = high = {};
  // A border of free cells, and beyond the modules room for those that move: more once they do, so that a new grid is
  // rare.
  const auto span = [&](std::int32_t first, std::int32_t last, std::int32_t& begin, std::uint32_t& size) {
    const std::int32_t room = 2 + (grows ? (last - first) / 8 : 0);
    begin = first - room;
    size = narrow<std::uint32_t>(last + room - begin + 1);
  };
  span(low.x, high.x, low_.x, size_.x);
  span(low.y, high.y, low_.y, size_.y);
  if (lattice_.flat()) low_.z = 0, size_.z = 1;
  else span(low.z, high.z, low_.z, size_.z);
  const double volume = real(size_.x) * real(size_.y) * real(size_.z);
  const bool worth = volume <= most_cells_a_module * real(modules) + small_grid;
  if (store_ == Store::table || (store_ == Store::automatic && !worth)) return false;
  grid_.clear();
  grid_.shrink_to_fit();
  grid_.reserve(truncated<std::size_t>(volume));
  platform::prefer_huge_pages(grid_);
  grid_.assign(truncated<std::size_t>(volume), nobody);
  for (int parity = 0; parity < 2; ++parity) {
    for (int port = 0; port < lattice_.ports(); ++port) {
      const Cell& o = lattice_.offset(parity, port);
      strides_[parity][port] = static_cast<std::size_t>((std::int64_t{o.z} * size_.y + o.y) * std::int64_t{size_.x} +
                                                        o.x);  // wraps where negative
    }
  }
  return true;
}

void Occupancy::make_table(std::size_t modules) {
  const std::size_t slots = std::bit_ceil(2 * modules + 16);
  table_.clear();
  table_.shrink_to_fit();
  table_.reserve(slots);
  platform::prefer_huge_pages(table_);
  table_.assign(slots, nobody);
  mask_ = slots - 1;
  shift_ = 64 - std::popcount(mask_);
  used_ = 0;
}

std::uint32_t Occupancy::fill(std::span<const PackedCell> cells, bool grows) {
  is_grid_ = make_grid(cells, grows);
  if (is_grid_) {
    table_ = {nobody};
    mask_ = 0;
  } else {
    grid_ = {};
    make_table(cells.size());
  }
  for (std::uint32_t module = 0; module < cells.size(); ++module) {
    if (!is_cell(cells[module])) continue;
    if (is_grid_) {
      const std::size_t i = index(unpack(cells[module]));
      VOLVOX_ASSERT(i != outside);  // the grid was made around them
      std::uint32_t& place = grid_[i];
      if (place != nobody) return module;
      place = module;
    } else {
      const std::size_t slot = slot_of(cells, cells[module]);
      if (table_[slot] != nobody) return module;
      table_[slot] = module;
      ++used_;
    }
  }
  return nobody;
}

void Occupancy::put(std::span<const PackedCell> cells, std::uint32_t module) {
  const bool room = is_grid_ ? fits(unpack(cells[module])) : 2 * (used_ + 1) <= mask_;
  if (!room) {
    const std::uint32_t clash = fill(cells, true);
    VOLVOX_CHECK(clash == nobody, "two modules are in one cell");
    return;
  }
  std::uint32_t& place = is_grid_ ? grid_[index(unpack(cells[module]))] : table_[slot_of(cells, cells[module])];
  VOLVOX_ASSERT(place == nobody);
  place = module;
  if (!is_grid_) ++used_;
}

void Occupancy::take(std::span<const PackedCell> cells, std::uint32_t module) {
  if (is_grid_) {
    std::uint32_t& place = grid_[index(unpack(cells[module]))];
    VOLVOX_ASSERT(place == module);
    place = nobody;
    return;
  }
  // What was pushed on by this module moves up, so that nothing remains of it.
  std::size_t hole = slot_of(cells, cells[module]);
  VOLVOX_ASSERT(table_[hole] == module && used_ > 0);
  --used_;
  for (std::size_t slot = (hole + 1) & mask_; table_[slot] != nobody; slot = (slot + 1) & mask_) {
    if (((slot - home(cells[table_[slot]])) & mask_) < ((slot - hole) & mask_)) continue;
    table_[hole] = table_[slot];
    hole = slot;
  }
  table_[hole] = nobody;
}

}  // namespace volvox::lattice
