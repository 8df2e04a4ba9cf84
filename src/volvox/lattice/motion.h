// Motion of catoms from cell to cell. On a hexagonal lattice a catom rolls about a neighbour, its pivot, by a sixth of
// a turn into the next cell; that takes one tick. Free must be the cell where it goes, and the one beyond, through
// which it swings (its centre comes within 0.73 cells of that one's). The pivot must stay.
//
// Catoms decide at the same time, so their wishes may be at odds: two want to go through one cell, or a pivot wants to
// roll, too. Of those the lowest random key of the tick (Catom::key) rolls, and the others stay where they are. A cell
// is free if it was so when the tick began. So the result depends on no order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/base/type.h"
#include "volvox/lattice/ensemble.h"

namespace volvox::lattice {

enum class Turn : std::uint8_t { counter_clockwise, clockwise };  // of the catom about its pivot, seen from above

// The port of a hexagonal lattice so many sixths of a turn counter-clockwise from a port.
constexpr int turned(int port, int sixths) {
  constexpr int at_angle[6] = {0, 2, 4, 1, 3, 5}, angle[6] = {0, 3, 1, 4, 2, 5};
  return at_angle[((angle[port] + sixths) % 6 + 6) % 6];
}

struct Roll {
  std::uint32_t catom = 0;
  std::uint8_t pivot = 0;  // a port
  Turn turn = Turn::counter_clockwise;
  // Ports of the cell where it goes, and of the one beyond.
  int to() const { return turned(pivot, turn == Turn::clockwise ? 1 : -1); }
  int beyond() const { return turned(pivot, turn == Turn::clockwise ? 2 : -2); }
};

struct MotionCount {
  std::uint64_t moves = 0;
  std::uint64_t blocked = 0;  // the cell, or the one beyond, was occupied
  std::uint64_t lost = 0;     // against another wish
};
VOLVOX_TYPE(MotionCount, moves, blocked, lost)

// Decides which catoms roll. Memory is reused from tick to tick: a byte a catom, once any has rolled.
class Referee {
 public:
  // Those of the wishes that can be made together. A catom has one wish at most; their order does not matter.
  void decide(const Ensemble& ensemble, std::uint64_t key_of_tick, std::vector<Roll>& wishes, MotionCount& count,
              ThreadPool* threads = nullptr);

 private:
  bool is_free(const Ensemble& ensemble, const Roll& roll) const;
  bool wins(const Ensemble& ensemble, std::uint64_t key_of_tick, const Roll& roll) const;
  bool goes_through(std::uint32_t catom, int port) const;

  std::vector<std::uint8_t> wish_;      // by catom, coded; 0: none that is possible
  std::vector<std::uint8_t> possible_;  // by wish
};

}  // namespace volvox::lattice
