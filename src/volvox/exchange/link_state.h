// The percepts of a module's network interfaces.
// Plain values, which the module's percepts own. Deterministic, as the network is.
#pragma once

#include <cstdint>

#include "volvox/base/type.h"

namespace volvox::exchange {

// The percept of a wire or a bus port ("front.link", "can.link").
struct LinkState {
  bool up = false;            // the other end is plugged in; on a bus: another port is connected
  int queued = 0;             // frames that wait to be sent
  std::int64_t received = 0;  // frames, since the start
  std::int64_t lost = 0;      // own frames that it knows to be lost: no link, cut off, or a full queue
};
VOLVOX_TYPE(LinkState, up, queued, received, lost)

// The percept of a radio ("radio.signal").
struct Signal {
  bool busy = false;           // it hears a carrier
  double level_dbm = silence;  // noise and all signals together, now
  double last_dbm = silence;   // of the last frame that it received
  int last_from = -1;          // and the address of its sender
  int queued = 0;
  std::int64_t received = 0, lost = 0;  // frames; lost: as in LinkState, or never acknowledged
  static constexpr double silence = -200;
};
VOLVOX_TYPE(Signal, busy, level_dbm, last_dbm, last_from, queued, received, lost)

}  // namespace volvox::exchange
