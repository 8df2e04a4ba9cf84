// All catoms that are connected agree on the one with the largest number: whoever learns of a larger one tells its
// neighbours. Right whatever the delays of messages are.
// Threads and determinism as in code_module.h.
#pragma once

#include "volvox/lattice/code_module.h"

namespace volvox::lattice {

struct Candidate {
  std::uint32_t number = 0;
};
VOLVOX_TYPE(Candidate, number)

struct Leader {
  static constexpr Mailbox mailbox = 3;

  std::uint32_t number = 0;  // the largest that was heard
  bool changed = false;

  void start(Catom& catom) {
    number = catom.id();
    catom.broadcast(Candidate{number}, mailbox);
  }
  void heard(Catom&, int, const Candidate& candidate) {
    if (candidate.number <= number) return;
    number = candidate.number;
    changed = true;
  }
  void end_tick(Catom& catom) {
    if (changed) catom.broadcast(Candidate{number}, mailbox);
    changed = false;
  }
  static void mailboxes(Mailboxes<Leader>& boxes) { boxes.link<&Leader::heard>(mailbox); }
};
VOLVOX_TYPE(Leader, number, changed)

}  // namespace volvox::lattice
