// Motion of catoms from cell to cell: who of those that want to move may. What a motion needs is in a MotionTable.
//
// Catoms decide at the same time, so their wishes may be at odds: two want to go through one cell, or one that holds
// another wants to move, too. Of those the lowest random key of the tick (Catom::key) moves, and the others stay where
// they are; whoever is already on the way comes before all. A cell is free if it was so when the tick began. So the
// result depends on no order.
//
// With `keep_connected` the ensemble must stay in one piece. Catoms that may move are checked in the order of their
// keys. A catom stays if its neighbours would lose their connection to each other without it and without those that
// move. The cells around it often show this (MotionTable::ring); if not, a way around is searched for, over at most
// 10,000 catoms. So a large ring may stay closed although it could be opened. But no catom is ever cut off, not even
// during a motion: each one that moves is held by one that stays. Lengths in cells. The world calls it between two
// ticks, from one thread; inside it uses the threads of the pool.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/base/type.h"
#include "volvox/lattice/ensemble.h"
#include "volvox/lattice/motion_table.h"

namespace volvox::lattice {

enum class Turn : std::uint8_t { counter_clockwise, clockwise };  // of the catom about its pivot, seen from above

// The port of a hexagonal lattice so many sixths of a turn counter-clockwise from a port.
constexpr int turned(int port, int sixths) {
  constexpr int at_angle[6] = {0, 2, 4, 1, 3, 5}, angle[6] = {0, 3, 1, 4, 2, 5};
  return at_angle[((angle[port] + sixths) % 6 + 6) % 6];
}
// In the tables of rolling on square and hexagonal lattices: a quarter or a sixth of a turn about the neighbour at a
// port.
constexpr int roll_about(int pivot, Turn turn) { return 2 * pivot + (turn == Turn::clockwise ? 1 : 0); }

struct Move {
  std::uint32_t catom = 0;
  std::uint8_t motion = 0;  // of the table
};

struct MotionCount {
  std::uint64_t moves = 0;
  std::uint64_t blocked = 0;  // a cell that must be free was occupied, or nobody was there to hold the catom
  std::uint64_t lost = 0;     // against another wish, or one on the way
};
VOLVOX_TYPE(MotionCount, moves, blocked, lost)

// Decides which catoms move. Memory is reused from tick to tick: a byte a catom, once any has moved.
class Referee {
 public:
  explicit Referee(const MotionTable& table) : table_(table) {}

  // Those of the wishes that can be made together. A catom has one wish at most; their order does not matter.
  void decide(const Ensemble& ensemble, std::uint64_t key_of_tick, std::vector<Move>& wishes, MotionCount& count,
              ThreadPool* threads = nullptr);
  // After decide(): those of the moves that cut nothing. Returns how many of them may not. Their order changes.
  std::uint64_t keep_connected(const Ensemble& ensemble, std::uint64_t key_of_tick, std::vector<Move>& moves);

  // On the way for longer than a tick: what it needs stays its own until it is released.
  void hold(const Ensemble& ensemble, const Move& move);
  void release(std::uint32_t catom) { wish_[catom] = 0; }
  bool holds(std::uint32_t catom) const { return catom < wish_.size() && (wish_[catom] & under_way) != 0; }
  void forget() { wish_.clear(); }
  // As if nobody else moved.
  bool is_possible(const Ensemble& ensemble, const Move& move) const;

 private:
  static constexpr std::uint8_t under_way = 0x80;
  const Motion& wished(std::uint8_t wish) const { return table_[(wish & ~under_way) - 1]; }
  std::uint32_t at(const Ensemble& ensemble, const Occupancy::Around& around, const Cell& cell, int place) const;
  bool wins(const Ensemble& ensemble, std::uint64_t key_of_tick, const Move& move) const;
  bool cuts(const Ensemble& ensemble, std::uint32_t catom);
  bool hangs_together(const Ensemble& ensemble, std::uint32_t catom);

  const MotionTable& table_;
  std::vector<std::uint8_t> wish_;      // by catom: 1 + the motion; 0: none that is possible
  std::vector<std::uint8_t> possible_;  // by wish
  std::vector<std::uint32_t> found_;    // by catom: the last search that found it
  std::uint32_t search_ = 0;
};

}  // namespace volvox::lattice
