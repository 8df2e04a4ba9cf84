// A heap becomes a line: on a hexagonal lattice catoms roll counter-clockwise over a bar and over each other. Who
// touches only the western end of the bar stays and makes it longer.
#pragma once

#include "volvox/lattice/code_module.h"
#include "volvox/lattice/motion.h"

namespace volvox::lattice {

struct Hold {
  std::uint8_t held = 1;
};
VOLVOX_TYPE(Hold, held)

struct Line {
  static constexpr Mailbox mailbox = 4;
  static constexpr int east = 0, west = 1;  // ports

  bool anchored = false;  // part of the line; at the start, the bar
  bool held = false;      // by the neighbour in the east, which is anchored
  bool rolled = false;    // it wanted to, in the tick before
  std::uint8_t wait = 0;  // ticks

  void new_tick(Catom& catom) const {
    if (anchored && catom.has_neighbor(west)) catom.send(west, Hold{}, mailbox);
  }
  void heard(Catom& catom, int port, const Hold&) {
    held = held || (port == east && catom.sender() == catom.neighbor(east));
  }
  // After what it heard in this tick.
  void end_tick(Catom& catom) {
    if (anchored) return;
    bool taken[6];
    int neighbors = 0;
    for (int port = 0; port < 6; ++port) neighbors += (taken[port] = catom.has_neighbor(port)) ? 1 : 0;
    if (rolled) {
      rolled = false;
      if (neighbors == 1 && taken[east]) {  // it takes a tick to hear from the neighbour
        wait = 2;
        return;
      }
    } else if (wait > 0 && --wait > 0) {
      return;
    }
    if (held && neighbors == 1 && taken[east]) {
      anchored = true;
      return;
    }
    for (int angle = 0; angle < 6; ++angle) {
      const int port = turned(0, angle);
      if (!taken[port] || taken[turned(port, -1)] || taken[turned(port, -2)]) continue;
      catom.roll(port, Turn::counter_clockwise);
      rolled = true;
      held = false;
      return;
    }
  }
  static void mailboxes(Mailboxes<Line>& boxes) { boxes.link<&Line::heard>(mailbox); }
};
VOLVOX_TYPE(Line, anchored, held, rolled, wait)

}  // namespace volvox::lattice
