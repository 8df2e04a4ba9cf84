// What is being sent at a moment, out of the network's events: frames on wires become lines
// between docks, frames on the air rings around their antennas.
#pragma once

#include <cstdint>
#include <set>

#include "volvox/sim/simulation.h"
#include "volvox/view/web/codec.h"

namespace volvox::view {

class OnTheWay {
 public:
  // Forgets, and asks the minds to keep their frames.
  void begin(sim::Simulation& simulation);
  void look(const sim::Simulation& simulation);  // after every tick
  // All that was on its way since the last time this was asked, however short.
  void add_to(FrameExtras& extras, const sim::Simulation& simulation);

 private:
  std::set<std::uint32_t> sending_, sent_;  // interfaces: now; since the last time
};

// How far a radio is heard in free space: the radius of its rings.
double free_space_range(const model::Radio& radio, double frequency_hz);

}  // namespace volvox::view
