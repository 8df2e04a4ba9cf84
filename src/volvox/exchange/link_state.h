// What a module can know of its interfaces to the network.
#pragma once

#include <cstdint>

#include "volvox/base/type.h"

namespace volvox::exchange {

// What a module knows of a wire or of its place on a bus ("front.link", "can.link").
struct LinkState {
  bool up = false;            // something is plugged in at the other end; on a bus: somebody else is
  int queued = 0;             // frames that wait to be sent
  std::int64_t received = 0;  // frames, since the start
  std::int64_t lost = 0;      // frames of its own that it knows to be lost: no link, cut off, no room to wait
};
VOLVOX_TYPE(LinkState, up, queued, received, lost)

// What a module knows of its radio ("radio.signal").
struct Signal {
  bool busy = false;           // it hears a carrier
  double level_dbm = silence;  // noise and all signals, at this moment
  double last_dbm = silence;   // of the last frame that it received
  int last_from = -1;          // and whose that was
  int queued = 0;
  std::int64_t received = 0, lost = 0;  // lost: as in LinkState, and what was never acknowledged
  static constexpr double silence = -200;
};
VOLVOX_TYPE(Signal, busy, level_dbm, last_dbm, last_from, queued, received, lost)

}  // namespace volvox::exchange
