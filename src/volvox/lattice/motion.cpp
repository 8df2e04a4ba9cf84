#include "volvox/lattice/motion.h"

#include <algorithm>
#include <bit>

#include "volvox/base/check.h"
#include "volvox/lattice/catom.h"

namespace volvox::lattice {
namespace {

constexpr std::size_t wishes_a_thread = 1024;
constexpr std::size_t most_searched = 10'000;  // catoms, for a way around one that wants to move

// work(place) for each of a set, until one returns false. Whether none did.
template <class Work>
bool all_of(CellSet set, const Work& work) {
  for (; set != 0; set &= set - 1)
    if (!work(std::countr_zero(set))) return false;
  return true;
}

}  // namespace

// Who is at a place from a cell. Neighbours are looked up faster than others.
std::uint32_t Referee::at(const Ensemble& ensemble, const Occupancy::Around& around, const Cell& cell,
                          int place) const {
  const int port = table_.port(place);
  return port != MotionTable::no_port_here ? around.at(port) : ensemble.at(table_.cell(cell, place));
}

bool Referee::is_possible(const Ensemble& ensemble, const Move& move) const {
  const Motion& motion = table_[move.motion];
  const Cell here = ensemble.cell(move.catom);
  const auto around = ensemble.around(move.catom);
  const auto taken = [&](int place) { return at(ensemble, around, here, place) != nobody; };
  return all_of(motion.free, [&](int place) { return !taken(place); }) && all_of(motion.holds, taken);
}

// Only three kinds of catoms can be in conflict with this one: those that need one of the same cells, that hold it, or
// that it holds.
bool Referee::wins(const Ensemble& ensemble, std::uint64_t key_of_tick, const Move& move) const {
  const std::uint64_t key = catom_key(key_of_tick, move.catom);
  const auto comes_first = [&](std::uint32_t other) {
    return (wish_[other] & under_way) != 0 || catom_key(key_of_tick, other) < key;
  };
  const Motion& motion = table_[move.motion];
  const Cell here = ensemble.cell(move.catom);
  const auto beside = ensemble.around(move.catom);
  const bool holders_stay = all_of(motion.holds, [&](int place) {
    const std::uint32_t holder = at(ensemble, beside, here, place);
    return wish_[holder] == 0 || !comes_first(holder);
  });
  if (!holders_stay) return false;
  const bool holds_nobody = all_of(table_.ever_holds(), [&](int place) {
    const std::uint32_t other = at(ensemble, beside, here, table_.back(place));
    if (other == nobody || wish_[other] == 0) return true;
    return (wished(wish_[other]).holds >> place & 1) == 0 || !comes_first(other);
  });
  if (!holds_nobody) return false;
  return all_of(motion.free, [&](int way) {
    const Cell cell = table_.cell(here, way);
    const auto around = ensemble.around(cell);
    return all_of(table_.ever_free(), [&](int place) {
      const std::uint32_t other = at(ensemble, around, cell, table_.back(place));
      if (other == nobody || other == move.catom || wish_[other] == 0) return true;
      return (wished(wish_[other]).free >> place & 1) == 0 || !comes_first(other);
    });
  });
}

void Referee::decide(const Ensemble& ensemble, std::uint64_t key_of_tick, std::vector<Move>& wishes, MotionCount& count,
                     ThreadPool* threads) {
  wish_.resize(ensemble.count());
  possible_.resize(wishes.size());
  parallel_for(threads, wishes.size(), wishes_a_thread, [&](std::size_t i) {
    VOLVOX_ASSERT(wishes[i].motion < table_.size() && !holds(wishes[i].catom));  // those on the way ask for nothing
    possible_[i] = is_possible(ensemble, wishes[i]);
    if (possible_[i] != 0) wish_[wishes[i].catom] = narrow<std::uint8_t>(1 + wishes[i].motion);
  });
  for (const std::uint8_t possible : possible_) count.blocked += 1 - possible;
  parallel_for(threads, wishes.size(), wishes_a_thread, [&](std::size_t i) {
    if (possible_[i] != 0 && !wins(ensemble, key_of_tick, wishes[i])) possible_[i] = 2;
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    wish_[wishes[i].catom] = 0;
    if (possible_[i] == 2) ++count.lost;
    if (possible_[i] == 1) wishes[kept++] = wishes[i];
  }
  wishes.resize(kept);
  count.moves += kept;
}

// Whether the neighbours of a catom that stay would fall apart without it. Mostly the cells around it tell that they do
// not.
bool Referee::cuts(const Ensemble& ensemble, std::uint32_t catom) {
  const MotionTable::Ring& ring = table_.ring();
  const Cell here = ensemble.cell(catom);
  const int parity = ensemble.lattice().parity(here);
  CellSet there = 0;
  for (std::size_t i = 0; i < ring.offsets.size(); ++i) {
    const Cell& o = ring.offsets[i][parity];
    const std::uint32_t other = ensemble.at({here.x + o.x, here.y + o.y, here.z + o.z});
    if (other != nobody && (wish_[other] & under_way) == 0) there |= CellSet{1} << i;
  }
  const CellSet neighbors = there & ring.neighbors;
  CellSet reached = neighbors & ~(neighbors - 1), front = reached;  // from the first of them
  while (front != 0) {
    CellSet next = 0;
    (void)all_of(front, [&](int i) {
      next |= ring.beside[i];
      return true;
    });
    front = next & there & ~reached;
    reached |= front;
  }
  return (neighbors & ~reached) != 0 && !hangs_together(ensemble, catom);
}

// Searched from one of the neighbours, over those that stay, until all others are found.
bool Referee::hangs_together(const Ensemble& ensemble, std::uint32_t catom) {
  const int ports = ensemble.lattice().ports();
  const auto stays = [&](std::uint32_t other) {
    return other != nobody && other != catom && (wish_[other] & under_way) == 0;
  };
  const auto around = ensemble.around(catom);
  std::vector<std::uint32_t> wanted;
  for (int port = 0; port < ports; ++port)
    if (const std::uint32_t other = around.at(port); stays(other)) wanted.push_back(other);
  found_.resize(ensemble.count());
  if (++search_ == 0) std::fill(found_.begin(), found_.end(), 0), search_ = 1;
  VOLVOX_ASSERT(wanted.size() > 1);  // else there is nothing to fall apart
  std::vector<std::uint32_t> open = {wanted.front()};
  found_[wanted.front()] = search_;
  std::size_t missing = wanted.size() - 1;
  for (std::size_t i = 0; i < open.size() && open.size() < most_searched; ++i) {
    const auto beside = ensemble.around(open[i]);
    for (int port = 0; port < ports; ++port) {
      const std::uint32_t next = beside.at(port);
      if (!stays(next) || found_[next] == search_) continue;
      found_[next] = search_;
      open.push_back(next);
      if (std::find(wanted.begin(), wanted.end(), next) != wanted.end() && --missing == 0) return true;
    }
  }
  return missing == 0;
}

std::uint64_t Referee::keep_connected(const Ensemble& ensemble, std::uint64_t key_of_tick, std::vector<Move>& moves) {
  std::sort(moves.begin(), moves.end(), [&](const Move& a, const Move& b) {
    return catom_key(key_of_tick, a.catom) < catom_key(key_of_tick, b.catom);
  });
  std::size_t kept = 0;
  for (const Move& move : moves) {
    if (cuts(ensemble, move.catom)) continue;
    wish_[move.catom] = under_way;
    moves[kept++] = move;
  }
  const std::uint64_t refused = moves.size() - kept;
  moves.resize(kept);
  for (const Move& move : moves) wish_[move.catom] = 0;
  return refused;
}

void Referee::hold(const Ensemble& ensemble, const Move& move) {
  wish_.resize(ensemble.count());
  VOLVOX_ASSERT(ensemble.has(move.catom) && !holds(move.catom) && move.motion < table_.size());
  wish_[move.catom] = narrow<std::uint8_t>((1 + move.motion) | under_way);
}

}  // namespace volvox::lattice
