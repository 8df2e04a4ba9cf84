#include "volvox/lattice/ensemble.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/platform/memory.h"

namespace volvox::lattice {
namespace {

constexpr std::size_t most_modules = std::size_t{1} << 31;

Error too_many(std::size_t modules) {
  return {fmt::format("{} modules are too many", modules), fmt::format("use at most {}", most_modules)};
}

}  // namespace

Result<void> Ensemble::check_place(const Cell& cell) const {
  if (!in_range(cell)) {
    return Error(fmt::format("the cell {} is too far from the origin", text(cell)),
                 fmt::format("keep coordinates within {}", farthest_cell));
  }
  if (lattice_.flat() && cell.z != 0) {
    return Error(fmt::format("the cell {} is not in the plane of a {} lattice", text(cell), name(lattice_.kind())),
                 "use z = 0, or a cubic, bcc or fcc lattice");
  }
  return {};
}

// Enters the cells from `old_count` on. A clash takes all of them out again.
Result<void> Ensemble::index_new(std::size_t old_count) {
  ++version_;
  const std::uint32_t clash = occupancy_.fill(cells_);
  if (clash == nobody) {
    size_ += cells_.size() - old_count;
    VOLVOX_ASSERT(size_ <= cells_.size());
    return {};
  }
  const PackedCell cell = cells_[clash];
  const std::uint32_t first = narrow<std::uint32_t>(std::find(cells_.begin(), cells_.end(), cell) - cells_.begin());
  cells_.resize(old_count);
  VOLVOX_CHECK(occupancy_.fill(cells_) == nobody, "two modules are in one cell");
  return Error(fmt::format("the modules {} and {} are in one cell, {}", first, clash, text(unpack(cell))),
               "give every module a cell of its own");
}

Result<void> Ensemble::add(std::span<const Cell> cells) {
  const std::size_t old_count = cells_.size();
  if (cells.size() > most_modules - old_count) return too_many(old_count + cells.size());
  for (const Cell& cell : cells)
    if (auto good = check_place(cell); !good.ok()) return good;
  cells_.reserve(old_count + cells.size());
  platform::prefer_huge_pages(cells_);
  for (const Cell& cell : cells) cells_.push_back(pack(cell));
  return index_new(old_count);
}

Result<void> Ensemble::add_box(const Cell& low, const Cell& high) {
  for (const Cell& corner : {low, high})
    if (auto good = check_place(corner); !good.ok()) return good;
  if (low.x > high.x || low.y > high.y || low.z > high.z)
    return Error(fmt::format("the box from {} to {} is empty", text(low), text(high)), "give the lower corner first");
  const double volume = (real(high.x) - low.x + 1) * (real(high.y) - low.y + 1) * (real(high.z) - low.z + 1);
  const std::size_t old_count = cells_.size();
  if (volume > real(most_modules - old_count)) return too_many(truncated<std::size_t>(std::min(volume, 1e18)));
  cells_.reserve(old_count + truncated<std::size_t>(volume));
  platform::prefer_huge_pages(cells_);
  for (std::int32_t z = low.z; z <= high.z; ++z)
    for (std::int32_t y = low.y; y <= high.y; ++y)
      for (std::int32_t x = low.x; x <= high.x; ++x) cells_.push_back(pack({x, y, z}));
  return index_new(old_count);
}

Result<CatomId> Ensemble::add(const Cell& cell) {
  if (cells_.size() >= most_modules) return too_many(cells_.size() + 1);
  if (const auto good = check_place(cell); !good.ok()) return good.error();
  const std::uint32_t there = at(cell);
  const CatomId module(cells_.size());
  if (there != nobody) {
    return Error(fmt::format("the modules {} and {} are in one cell, {}", there, std::uint32_t{module}, text(cell)),
                 "give every module a cell of its own");
  }
  cells_.push_back(pack(cell));
  occupancy_.put(cells_, module);
  ++size_, ++version_;
  return module;
}

Result<void> Ensemble::remove(CatomId module) {
  if (!there(module))
    return Error(fmt::format("there is no module {} to remove", std::uint32_t{module}), "name one that is there");
  VOLVOX_ASSERT(size_ > 0 && (is_loose(module) || at(cell(module)) == module));
  if (is_loose(module)) --loose_;
  else occupancy_.take(cells_, module);
  cells_[module] = no_cell;
  --size_, ++version_;
  return {};
}

Result<void> Ensemble::move(CatomId module, const Cell& to) {
  if (!has(module))
    return Error(fmt::format("there is no module {} to move", std::uint32_t{module}), "name one that is there");
  if (auto good = check_place(to); !good.ok()) return good;
  const std::uint32_t there = at(to);
  if (there == module) return {};
  if (there != nobody) {
    return Error(fmt::format("the module {} cannot move from {} to {}: the module {} is there", std::uint32_t{module},
                             text(cell(module)), text(to), there),
                 "move to a free cell");
  }
  occupancy_.take(cells_, module);
  cells_[module] = pack(to);
  occupancy_.put(cells_, module);
  VOLVOX_ASSERT(at(to) == module);
  ++version_;
  return {};
}

Result<void> Ensemble::loosen(CatomId module) {
  if (!has(module))
    return Error(fmt::format("the module {} is in no cell that it could leave", std::uint32_t{module}),
                 "name one that is in a cell");
  occupancy_.take(cells_, module);
  cells_[module] = loose_cell;
  ++loose_, ++version_;
  return {};
}

Result<void> Ensemble::settle(CatomId module, const Cell& to) {
  if (!is_loose(module))
    return Error(fmt::format("the module {} is not one that could come back to a cell", std::uint32_t{module}),
                 "name one that has left its cell");
  if (auto good = check_place(to); !good.ok()) return good;
  if (const std::uint32_t there = at(to); there != nobody)
    return Error(
        fmt::format("the module {} cannot come to {}: the module {} is there", std::uint32_t{module}, text(to), there),
        "choose a free cell");
  cells_[module] = pack(to);
  occupancy_.put(cells_, module);
  --loose_, ++version_;
  return {};
}

std::size_t Ensemble::links() const {
  std::size_t ends = 0;
  for (std::uint32_t module = 0; module < cells_.size(); ++module) {
    if (!is_cell(cells_[module])) continue;
    const auto surroundings = around(module);
    for (int port = 0; port < lattice_.ports(); port += 2) ends += surroundings.at(port) != nobody ? 1 : 0;
  }
  return ends;
}

void Ensemble::archive(Archive& ar) {
  ar.section("lattice", "cells");
  std::uint8_t kind = static_cast<std::uint8_t>(lattice_.kind());
  ar("kind", kind);
  ar("cells", cells_);
  if (!ar.loading()) return;
  ++version_;
  if (kind != static_cast<std::uint8_t>(lattice_.kind())) ar.fail("the snapshot is of another lattice");
  size_ = loose_ = 0;
  for (PackedCell& cell : cells_) {
    if (cell == loose_cell) ++size_, ++loose_;
    if (!is_cell(cell)) continue;
    const Cell c = unpack(cell);
    if (pack(c) != cell || !in_range(c) || (lattice_.flat() && c.z != 0)) ar.fail("the snapshot has a bad cell");
    if (!ar.ok()) cell = no_cell;
    else ++size_;
  }
  if (occupancy_.fill(cells_) == nobody) return;
  ar.fail("the snapshot has two modules in one cell");
  cells_.clear();
  size_ = loose_ = 0;
  (void)occupancy_.fill(cells_);  // what was entered before the clash
}

}  // namespace volvox::lattice
