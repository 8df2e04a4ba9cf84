// Random ensembles with holes, what every program must find on them, by brute force, and copies through a snapshot.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/base/random.h"
#include "volvox/lattice/catom_world.h"

namespace volvox::lattice {

inline std::vector<Cell> random_cells(Kind kind, RandomStream& random, std::int32_t side, double filled) {
  std::vector<Cell> cells;
  const std::int32_t layers = Lattice(kind).flat() ? 1 : side;
  for (std::int32_t z = 0; z < layers; ++z)
    for (std::int32_t y = 0; y < side; ++y)
      for (std::int32_t x = 0; x < side; ++x)
        if (random.chance(filled)) cells.push_back({x - side / 2, y - side / 2, layers > 1 ? z - side / 2 : 0});
  if (cells.empty()) cells.push_back({});
  // Numbers must not follow the places.
  for (std::size_t i = cells.size(); i > 1; --i) std::swap(cells[i - 1], cells[random.below(i)]);
  return cells;
}

// `to` becomes what `from` is: saved and loaded again.
template <class State>
void copy_through_snapshot(State& from, State& to) {
  SaveArchive save;
  from.archive(save);
  LoadArchive load(save.bytes());
  to.archive(load);
  EXPECT_TRUE(load.ok()) << load.failure();
  EXPECT_EQ(load.remaining(), 0u);
}

inline constexpr std::uint32_t not_reached = ~std::uint32_t{0};

// Links to the nearest source.
inline std::vector<std::uint32_t> distances(const Lattice& lattice, const std::vector<Cell>& cells,
                                            const std::vector<std::uint32_t>& sources) {
  std::map<Cell, std::uint32_t> at;
  for (std::uint32_t i = 0; i < cells.size(); ++i) at[cells[i]] = i;
  std::vector<std::uint32_t> found(cells.size(), not_reached);
  std::deque<std::uint32_t> open(sources.begin(), sources.end());
  for (const std::uint32_t s : sources) found[s] = 0;
  for (; !open.empty(); open.pop_front()) {
    for (int port = 0; port < lattice.ports(); ++port) {
      const auto next = at.find(lattice.neighbor(cells[open.front()], port));
      if (next == at.end() || found[next->second] != not_reached) continue;
      found[next->second] = found[open.front()] + 1;
      open.push_back(next->second);
    }
  }
  return found;
}

struct Part {  // connected, with the source in it
  std::uint64_t catoms = 0, links = 0;
  std::uint32_t farthest = 0;
};
inline Part part_of(const Lattice& lattice, const std::vector<Cell>& cells, const std::vector<std::uint32_t>& reached) {
  std::map<Cell, std::uint32_t> at;
  for (std::uint32_t i = 0; i < cells.size(); ++i) at[cells[i]] = i;
  Part part;
  for (std::uint32_t i = 0; i < cells.size(); ++i) {
    if (reached[i] == not_reached) continue;
    ++part.catoms;
    part.farthest = std::max(part.farthest, reached[i]);
    for (int port = 0; port < lattice.ports(); ++port) part.links += at.contains(lattice.neighbor(cells[i], port));
  }
  part.links /= 2;
  return part;
}

}  // namespace volvox::lattice
