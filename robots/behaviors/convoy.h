// ATRON cars that dock, drive as one and part again (seed 000, figure 5, bottom). Three programs:
// a hub holds wheels below and couplings above; a coupling passes on what hubs say to each other;
// wheels run `rover`. No module knows where it is: the dock of one hub sees the dock that it is to take, and all else
// is messages.
#pragma once

#include "volvox/mind/behavior.h"
#include "volvox/mind/dock_beacon.h"

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
  VOLVOX_STATE(heard_, order_, docked_since_, parted_, seen_, sight_, backing_)

 private:
  // The dock ahead, in the level frame of this hub: x ahead, y to the left.
  struct Sight {
    double ahead = 0, aside = 0;  // m, from its own dock
    double turned = 0;            // rad, to the left, by which the other car stands turned
    template <class A>
    void archive(A& ar) {
      ar("ahead", ahead);
      ar("aside", aside);
      ar("turned", turned);
    }
  };

  void seek(mind::Agent& agent);
  void look(mind::Agent& agent);
  Haul approach();
  void lead(mind::Agent& agent);
  void part(mind::Agent& agent);
  void drive(mind::Agent& agent, double speed, double turn) const;
  Vec3 outwards(int longitude) const;

  std::string seeks_;         // with this dock, which has a beacon, it looks for the other car; empty: it does not
  bool may_part_ = false;     // it is the last of the convoy
  int right_ = 0;             // the longitude at which its right wheels hang; the left ones at the next
  double speed_ = 0;          // rad/s
  Haul order_;                // as last heard, or given
  double heard_ = -1;         // s, by its own clock; negative: never
  double docked_since_ = -1;  // s, likewise
  bool parted_ = false;
  bool seen_ = false;
  Sight sight_;
  bool backing_ = false;  // it came in askew, and takes another run
};

class ConvoyCoupling final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  VOLVOX_STATE()
};

}  // namespace volvox::robots
