// ATRON cars that dock, drive together and undock again (seed 000, figure 5, bottom). There are three programs: a hub
// holds wheels below and couplings above; a coupling forwards messages between hubs; wheels run `rover`. No module
// knows its position: a beacon sensor in the dock of one hub sees the dock of the other car, and all else is messages.
#pragma once

#include "volvox/mind/behavior.h"
#include "volvox/mind/dock_beacon.h"

namespace volvox::robots {

// From hub to hub: the speed, and whether the last hub must undock.
struct Haul {
  double speed = 0, turn = 0;  // rad/s, of the wheels; turn is added on the right and subtracted on the left
  bool part = false;
};
VOLVOX_TYPE(Haul, speed, turn, part)

class ConvoyHub final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  VOLVOX_STATE(heard_, order_, docked_since_, parted_, seen_, sight_, backing_)

 private:
  // The dock of the other car, in the horizontal frame of this hub: x ahead, y to the left.
  struct Sight {
    double ahead = 0, aside = 0;  // m, from its own dock
    double turned = 0;            // rad to the left, heading of the other car
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

  std::string seeks_;         // the dock whose beacon sensor looks for the other car; empty: it does not seek
  bool may_part_ = false;     // it is the last of the convoy
  int right_ = 0;             // the longitude of its right wheels; the left wheels are at the next one
  double speed_ = 0;          // rad/s
  Haul order_;                // last received, or given
  double heard_ = -1;         // s by its own clock, of the last message; negative: none yet
  double docked_since_ = -1;  // s by its own clock; negative: not docked
  bool parted_ = false;
  bool seen_ = false;
  Sight sight_;
  bool backing_ = false;  // it came in misaligned and drives back for another approach
};

class ConvoyCoupling final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  VOLVOX_STATE()
};

}  // namespace volvox::robots
