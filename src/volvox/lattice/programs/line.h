// A heap becomes a line: on a hexagonal lattice catoms roll counter-clockwise around a bar. Who touches only the
// western end of the bar stays and makes it longer.
// Threads and determinism as in code_module.h; lengths in cells.
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
  static constexpr int east = 0;  // a port

  bool anchored = false;     // part of the line; at the start, the bar
  std::uint8_t touches = 0;  // neighbours that are, a bit a port
  bool rolled = true;        // it wanted to, in the tick before
  std::uint8_t wait = 0;     // ticks

  void new_tick(Catom& catom) const {
    if (anchored) catom.broadcast(Hold{}, mailbox);
  }
  void heard(Catom& catom, int port, const Hold&) {
    if (catom.sender() == catom.neighbor(port)) touches = narrow<std::uint8_t>(touches | 1 << port);
  }
  // After what it heard in this tick.
  void end_tick(Catom& catom) {
    if (anchored) return;
    if (rolled) {  // it takes a tick to hear from new neighbours
      rolled = false;
      wait = 2;
      return;
    }
    if (wait > 0 && --wait > 0) return;
    bool taken[6];
    int neighbors = 0;
    for (int port = 0; port < 6; ++port) neighbors += (taken[port] = catom.has_neighbor(port)) ? 1 : 0;
    if (neighbors == 1 && taken[east] && (touches >> east & 1) != 0) {
      anchored = true;
      catom.broadcast(Hold{}, mailbox);
      return;
    }
    for (int angle = 0; angle < 6; ++angle) {
      const int port = turned(0, angle);
      const bool free = taken[port] && !taken[turned(port, -1)] && !taken[turned(port, -2)];
      if (!free || (touches >> port & 1) == 0) continue;
      catom.roll(port, Turn::counter_clockwise);
      rolled = true;
      touches = 0;
      return;
    }
  }
  static void mailboxes(Mailboxes<Line>& boxes) { boxes.link<&Line::heard>(mailbox); }
};
VOLVOX_TYPE(Line, anchored, touches, rolled, wait)

}  // namespace volvox::lattice
