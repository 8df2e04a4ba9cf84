// The communication at a moment, for viewers: messages on wires as pairs of docks, and radio frames as rings around the
// antennas. Only reads the simulation. World frame, metres and seconds.
// For the thread of the loop.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "volvox/sim/simulation.h"

namespace volvox::record {

struct Traffic {
  struct Ring {
    float x = 0, y = 0, z = 0, radius = 0;  // m, around a transmitting antenna, up to its range
    float age = 0;                          // s since the end of the frame; 0: still transmitting. Not recorded
  };
  std::vector<std::pair<world::DockIndex, world::DockIndex>> wires;  // from dock to dock: on its way, or just arrived
  std::vector<Ring> rings;
  bool empty() const { return wires.empty() && rings.empty(); }
};

class TrafficWatch {
 public:
  // Makes the minds keep the arrivals and frames that look() needs.
  static void prepare(sim::Simulation& simulation);
  void look(const sim::Simulation& simulation);  // after every tick
  // All traffic since the last call, however short.
  Traffic take(const sim::Simulation& simulation);

 private:
  std::vector<std::pair<world::DockIndex, world::DockIndex>> arrived_;
  std::set<std::uint32_t> sending_;     // interfaces that transmit now
  std::map<std::uint32_t, Time> sent_;  // since the last take(): when each last transmitted
};

// The range of a radio in free space, m: the radius of its rings.
double free_space_range(const model::Radio& radio, double frequency_hz);

}  // namespace volvox::record
