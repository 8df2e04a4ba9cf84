// The distance of every catom from the nearest source, in links: whoever learns of a shorter way tells its neighbours.
// Right whatever the delays of messages are.
// Threads and determinism as in code_module.h; distances in links.
#pragma once

#include "volvox/lattice/code_module.h"

namespace volvox::lattice {

struct Distance {
  std::uint32_t links = 0;  // of the sender from its nearest source
};
VOLVOX_TYPE(Distance, links)

struct Gradient {
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};
  static constexpr Mailbox mailbox = 1;

  std::uint32_t distance = unknown;
  bool source = false, changed = false;

  void start(Catom& catom) {
    if (!source) return;
    distance = 0;
    catom.broadcast(Distance{0}, mailbox);
  }
  void heard(Catom&, int, const Distance& neighbor) {
    if (neighbor.links + 1 >= distance) return;
    distance = neighbor.links + 1;
    changed = true;
  }
  // After all messages of the tick, so that neighbours are told once.
  void end_tick(Catom& catom) {
    if (changed) catom.broadcast(Distance{distance}, mailbox);
    changed = false;
  }
  static void mailboxes(Mailboxes<Gradient>& boxes) { boxes.link<&Gradient::heard>(mailbox); }
  template <class Visitor>
  void visit_inputs(Visitor& visit) {
    visit("source", source);
  }
};
VOLVOX_TYPE(Gradient, distance, source, changed)

}  // namespace volvox::lattice
