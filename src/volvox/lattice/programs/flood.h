// Flooding: what the source tells reaches every catom, which passes it on once, to all neighbours but the one that told
// it first. That takes 2 E - (N - 1) messages over E links between N connected catoms. The source sends in tick 0, and
// if the capacity is enough, a catom d links away hears of it in tick d; what the last ones pass on is read in the tick
// after.
// Threads and determinism as in code_module.h; distances in links.
#pragma once

#include "volvox/lattice/code_module.h"

namespace volvox::lattice {

struct Wave {
  std::uint32_t hops = 0;  // of the receiver, from the source
};
VOLVOX_TYPE(Wave, hops)

struct Flood {
  static constexpr std::uint32_t unreached = ~std::uint32_t{0};

  std::uint32_t hops = unreached;  // as the wave came
  std::int8_t parent = no_port;    // the port where it came in
  bool source = false;

  void start(Catom& catom) {
    if (!source) return;
    hops = 0;
    catom.broadcast(Wave{1});
  }
  void heard(Catom& catom, int port, const Wave& wave) {
    if (hops != unreached) return;
    hops = wave.hops;
    parent = narrow<std::int8_t>(port == far_port ? no_port : port);
    catom.broadcast(Wave{hops + 1}, 0, port);
  }
  static void mailboxes(Mailboxes<Flood>& boxes) { boxes.link<&Flood::heard>(0); }
  template <class Visitor>
  void visit_inputs(Visitor& visit) {
    visit("source", source);
  }
};
VOLVOX_TYPE(Flood, hops, parent, source)

}  // namespace volvox::lattice
