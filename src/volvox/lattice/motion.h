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

// Decides which catoms roll. Memory is reused from tick to tick.
class Referee {
 public:
  // The rolls that can be made together, in the order of their catoms. Sorts the wishes. A catom has one at most.
  const std::vector<Roll>& decide(const Ensemble& ensemble, std::uint64_t key_of_tick, std::vector<Roll>& wishes,
                                  MotionCount& count);

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  struct Claim {
    PackedCell cell = no_cell;
    std::uint64_t alone = none, shared = none;  // the lowest key of those who need it for themselves, or as a pivot
  };
  Claim& claim(PackedCell cell);
  void clear(std::size_t claims);

  std::vector<Claim> claims_;  // open addressing
  std::size_t mask_ = 0;
  std::vector<Roll> possible_, chosen_;
};

}  // namespace volvox::lattice
