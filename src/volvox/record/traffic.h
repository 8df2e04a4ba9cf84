// What is being said at a moment, for those who look on: messages on wires as pairs of docks, and
// frames on the air as rings around their antennas. Only reads.
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
    float x = 0, y = 0, z = 0, radius = 0;  // m: around an antenna that transmits, as far as it is heard
    float age = 0;                          // s since it fell silent; 0: on the air. Recordings keep none
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> wires;  // from dock to dock: on its way, or just arrived
  std::vector<Ring> rings;
  bool empty() const { return wires.empty() && rings.empty(); }
};

class TrafficWatch {
 public:
  // Asks the minds to keep what is looked at here.
  static void prepare(sim::Simulation& simulation);
  void look(const sim::Simulation& simulation);  // after every tick
  // All since the last time this was asked, however short.
  Traffic take(const sim::Simulation& simulation);

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arrived_;
  std::set<std::uint32_t> sending_;     // interfaces, now
  std::map<std::uint32_t, Time> sent_;  // and since the last time, with when they were last heard
};

// How far a radio is heard in free space: the radius of its rings.
double free_space_range(const model::Radio& radio, double frequency_hz);

}  // namespace volvox::record
