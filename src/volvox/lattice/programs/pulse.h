// A pulse from the source in every `period` ticks, which everybody passes on once: who hears it is connected. It goes
// on while catoms move, leave and come back.
// Threads and determinism as in code_module.h.
#pragma once

#include "volvox/lattice/code_module.h"

namespace volvox::lattice {

struct Beat {
  std::uint32_t round = 0;
};
VOLVOX_TYPE(Beat, round)

struct Pulse {
  static constexpr Mailbox beats = 8;

  std::uint32_t round = 0;     // the last that it heard, from 1
  std::uint32_t heard_in = 0;  // the tick
  std::uint16_t period = 60;   // ticks
  bool source = false;

  bool rests() const { return !source; }
  void new_tick(Catom& catom) {
    if (catom.tick() % period == 0) pass_on(catom, round + 1, no_port);
  }
  void heard(Catom& catom, int port, const Beat& beat) {
    if (beat.round > round) pass_on(catom, beat.round, port);
  }
  static void mailboxes(Mailboxes<Pulse>& boxes) { boxes.link<&Pulse::heard>(beats); }
  template <class Visitor>
  void visit_inputs(Visitor& visit) {
    visit("source", source);
    visit("period", period);
  }

 private:
  void pass_on(Catom& catom, std::uint32_t number, int except) {
    round = number;
    heard_in = narrow<std::uint32_t>(catom.tick());
    catom.broadcast(Beat{round}, beats, except);
  }
};
VOLVOX_TYPE(Pulse, round, heard_in, period, source)

}  // namespace volvox::lattice
