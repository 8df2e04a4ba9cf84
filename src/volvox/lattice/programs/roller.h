// Rolls along the surface of whatever it touches, counter-clockwise about one pivot after another, in every tick.
// Threads and determinism as in code_module.h.
#pragma once

#include "volvox/lattice/code_module.h"
#include "volvox/lattice/motion.h"

namespace volvox::lattice {

struct Roller {
  bool rolls = false;  // others stay

  bool rests() const { return !rolls; }
  void new_tick(Catom& catom) const {
    bool taken[6];
    for (int port = 0; port < 6; ++port) taken[port] = catom.has_neighbor(port);
    for (int port = 0; port < 6; ++port) {
      if (!taken[port] || taken[turned(port, -1)] || taken[turned(port, -2)]) continue;
      catom.roll(port, Turn::counter_clockwise);
      return;
    }
  }
};
VOLVOX_TYPE(Roller, rolls)

}  // namespace volvox::lattice
