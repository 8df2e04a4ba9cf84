// Crawls over the surface of the ensemble at random, by whatever motions the world has: rolling, sliding or pivoting.
// The same seed gives the same run at any number of threads.
#pragma once

#include "volvox/lattice/code_module.h"
#include "volvox/lattice/motion.h"

namespace volvox::lattice {

struct Crawler {
  bool crawls = false;      // others stay
  std::uint32_t asked = 0;  // motions, so far

  bool rests() const { return !crawls; }
  void new_tick(Catom& catom) {
    if (catom.moving()) return;
    // The first possible one from a random one on: all are tried, none is preferred but those after impossible ones.
    const int count = catom.motions().size();
    if (count == 0) return;
    const int first = narrow<int>(catom.random().below(narrow<std::uint32_t>(count)));
    for (int i = 0; i < count; ++i) {
      const int motion = (first + i) % count;
      if (!catom.can_move(motion)) continue;
      if (catom.move(motion)) ++asked;
      return;
    }
  }
};
VOLVOX_TYPE(Crawler, crawls, asked)

}  // namespace volvox::lattice
