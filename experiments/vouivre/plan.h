// The set-up of one flood of the Vouivre paper: the catoms' cells, the relays, radios and wires. SI units unless noted.
#pragma once

#include <string>
#include <vector>

#include "volvox/model/reader.h"
#include "volvox/model/world_model.h"

namespace volvox::experiments::vouivre {

struct Cell {
  int x = 0, y = 0;
  friend auto operator<=>(const Cell&, const Cell&) = default;
};

// Values that the paper does not give. README.md has the reasons.
struct Assumptions {
  double spacing = 0.01;            // m, of the square grid
  double frequency = 60e9;          // Hz
  double range = 4.05;              // spacings, at 1 mW
  double carrier = 0.1;             // carrier threshold above the noise, as a fraction of the receive threshold
  double capture_ratio = 10;        // also the ratio of the receive threshold to the noise
  int pitch = 3;                    // spacings, of the regular grid of relays
  bool one_link_at_a_time = false;  // wired forwarding; false: to all links at once
  int spread = 1000;                // of the nano-radio: a bit takes so many of its pulses of 100 fs
  // A hop by wire takes a whole tick of the simulator, as in DPRSim; false: as long as its bytes take on the wire.
  bool delayed_wires = false;
};

// DPRSim's tick, 1/4 s: what a hop costs with delayed wires.
inline constexpr TickLength dprsim_tick{1, 4};

struct Plan {
  std::string name;  // "1" ... "8", "nano", "T1" ... "T4"
  std::string description;
  std::vector<Cell> cells;
  int source = 0;            // index of its cell
  bool wired = false;        // catoms forward by the wires of their features
  std::vector<bool> radio;   // by cell: it has a radio
  std::vector<bool> relays;  // by cell: it forwards by radio
  double power = 1e-3;       // W
  double slot = 4e-3;        // s
  double radio_bit_rate = 6e3, wired_bit_rate = 6e3;
  bool pulses = false;  // TS-OOK instead of a carrier: nobody waits for anybody
  double longest = 30;  // s, longer than any flood
  Assumptions assumed;
};

// Figure 13. It prints simulations 1 and 2 alike; here 1 starts in the middle of the board, and 2, like all others, in
// its lower right corner.
inline constexpr int checkerboard_simulations = 8;
Plan checkerboard(int simulation, const Assumptions& assumed = {}, int side = 20);

// The nano-wireless channel, the paper's next step: all catoms relay at once, by pulses.
Plan nano_checkerboard(const Assumptions& assumed = {}, int side = 20);

// Figures 11 and 12: the outline of a cross. Its inner corners are near each other by radio and far apart by wire.
inline constexpr int cross_simulations = 4;
Plan cross(int simulation, const Assumptions& assumed = {});

// A world of catoms, docked to their neighbours, that run the behaviour flood as planned.
Result<model::WorldModel> make_world(const Plan& plan, model::ModelLibrary& library);

}  // namespace volvox::experiments::vouivre
