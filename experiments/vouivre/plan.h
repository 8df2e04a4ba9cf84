// What one of seed 001's floods is made of: where the catoms stand, who relays, with what.
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

// What seed 001 does not give. The README of the folder says why these.
struct Assumptions {
  double spacing = 0.01;            // m, of the square grid
  double frequency = 60e9;          // Hz
  double range = 4.05;              // spacings, at 1 mW
  double carrier = 0.1;             // the carrier threshold above the noise, as a part of the receive threshold
  double capture_ratio = 10;        // and the noise lies as far below the receive threshold
  int pitch = 3;                    // spacings, of the regular grid of relays
  bool one_link_at_a_time = false;  // wired forwarding: otherwise at all links at once
};

struct Plan {
  std::string name;  // "1" ... "8", "T1" ... "T4"
  std::string description;
  std::vector<Cell> cells;
  int source = 0;            // index of its cell
  bool wired = false;        // catoms send on at their features
  std::vector<bool> radio;   // by cell: has one
  std::vector<bool> relays;  // by cell: sends on by it
  double power = 1e-3;       // W
  double slot = 4e-3;        // s
  double radio_bit_rate = 6e3, wired_bit_rate = 6e3;
  double longest = 30;  // s, until the flood has surely ended
  Assumptions assumed;
};

// Figure 13. Simulations 1 and 2 are printed alike; we take 1 as begun in the middle of the board
// and 2, as all others, in its lower right corner.
inline constexpr int checkerboard_simulations = 8;
Plan checkerboard(int simulation, const Assumptions& assumed = {}, int side = 20);

// Figures 11 and 12: the outline of a cross, so that the inner corners are near each other
// through the air and far apart along the wire.
inline constexpr int cross_simulations = 4;
Plan cross(int simulation, const Assumptions& assumed = {});

// Catoms docked to their neighbours, flooding as planned.
Result<model::WorldModel> make_world(const Plan& plan, model::ModelLibrary& library);

}  // namespace volvox::experiments::vouivre
