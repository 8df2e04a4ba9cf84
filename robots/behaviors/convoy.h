// ATRON cars that dock, drive as one and part again (seed 000, figure 5, bottom). Three programs:
// a hub holds wheels below and couplings above; a coupling passes on what hubs say to each other;
// wheels run `rover`. No module knows where it is: one hub has an eye, and all else is messages.
#pragma once

#include "volvox/mind/behavior.h"

namespace volvox::robots {

// From hub to hub: how fast to drive, and whether the last one is to part.
struct Haul {
  double speed = 0, turn = 0;  // rad/s, of the wheels; turn: faster on the right, slower on the left
  bool part = false;
};
VOLVOX_TYPE(Haul, speed, turn, part)

class ConvoyHub final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  VOLVOX_STATE(heard_, order_, docked_since_, parted_)

 private:
  void seek(mind::Agent& agent);
  void lead(mind::Agent& agent);
  void part(mind::Agent& agent);
  void drive(mind::Agent& agent, double speed, double turn) const;
  double bearing_ahead(const mind::Agent& agent) const;

  bool seeks_ = false;       // it has an eye, and looks for the other car
  bool may_part_ = false;    // it is the last of the convoy
  int right_ = 0;            // the longitude at which its right wheels hang; the left ones at the next
  double speed_ = 0;         // rad/s
  Haul order_;               // as last heard, or given
  double heard_ = -1;        // s, by its own clock; negative: never
  double docked_since_ = -1; // s, likewise
  bool parted_ = false;
};

class ConvoyCoupling final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  VOLVOX_STATE()
};

}  // namespace volvox::robots
