// A heap on a bar becomes a line: on a hexagonal lattice catoms roll counter-clockwise over the bar and each other,
// until they touch nothing but the neighbour in the east.
#pragma once

#include "volvox/lattice/code_module.h"
#include "volvox/lattice/motion.h"

namespace volvox::lattice {

struct Line {
  bool rolls = false;  // those of the bar stay

  bool rests() const { return !rolls; }
  void new_tick(Catom& catom) {
    bool taken[6];
    int neighbors = 0;
    for (int port = 0; port < 6; ++port) neighbors += (taken[port] = catom.has_neighbor(port)) ? 1 : 0;
    if (neighbors == 1 && taken[0]) {
      rolls = false;
      return;
    }
    for (int angle = 0; angle < 6; ++angle) {
      const int port = turned(0, angle);
      if (!taken[port] || taken[turned(port, -1)] || taken[turned(port, -2)]) continue;
      catom.roll(port, Turn::counter_clockwise);
      return;
    }
  }
};
VOLVOX_TYPE(Line, rolls)

}  // namespace volvox::lattice
