// A spanning tree, and the number of catoms in it, by the echo algorithm (Chang, "Echo algorithms", IEEE Trans.
// Software Eng. 8, 1982): a wave goes out from the root; who has heard from all neighbours answers its parent with the
// size of its subtree. Exactly two messages go over every link, and the root knows when all is done.
// Threads and determinism as in code_module.h; depths in links.
#pragma once

#include "volvox/lattice/code_module.h"

namespace volvox::lattice {

struct Probe {
  std::uint32_t size = 0;  // of the sender's subtree, if it answers its parent; else 0
};
VOLVOX_TYPE(Probe, size)

struct SpanningTree {
  static constexpr Mailbox mailbox = 2;
  static constexpr bool needs_ports = true;  // it answers where it was asked

  std::uint32_t size = 0;        // of the subtree below, once it is known
  std::int8_t parent = no_port;  // a port
  std::uint8_t awaited = 0;      // neighbours that were not heard yet
  bool root = false, reached = false, complete = false;

  void start(Catom& catom) {
    if (!root) return;
    begin(catom, no_port);
  }
  void heard(Catom& catom, int port, const Probe& probe) {
    size += probe.size;
    if (!reached) begin(catom, port);
    else --awaited;
    end_when_complete(catom);
  }
  static void mailboxes(Mailboxes<SpanningTree>& boxes) { boxes.link<&SpanningTree::heard>(mailbox); }
  template <class Visitor>
  void visit_inputs(Visitor& visit) {
    visit("root", root);
  }

 private:
  void begin(Catom& catom, int port) {
    reached = true;
    parent = narrow<std::int8_t>(port);
    ++size;
    for (int p = 0; p < catom.ports(); ++p)
      if (p != port && catom.has_neighbor(p)) ++awaited;
    catom.broadcast(Probe{0}, mailbox, port);
    if (root) end_when_complete(catom);
  }
  void end_when_complete(Catom& catom) {
    if (awaited > 0 || complete) return;
    complete = true;
    if (!root) catom.send(parent, Probe{size}, mailbox);
  }
};
VOLVOX_TYPE(SpanningTree, size, parent, awaited, root, reached, complete)

}  // namespace volvox::lattice
