// A rhythm that modules keep together by messages: each goes on by its own clock and takes over what
// its parent says, so that neither offsets nor drift of clocks can part them.
#pragma once

#include <cmath>

#include "volvox/mind/behavior.h"

namespace volvox::robots {

struct Beat {
  double phase = 0;  // rad, of the sender when it sent
  int place = 0;     // of the sender: how many modules lie between it and the one that leads
  double steer = 0;  // rad, by which each is to bend to the left
};
VOLVOX_TYPE(Beat, phase, place, steer)

class Rhythm {
 public:
  // By this module's own clock, since the last call.
  void advance(double now, double frequency) {
    if (last_ >= 0) phase_ = std::remainder(phase_ + 2 * pi * frequency * (now - last_), 2 * pi);
    last_ = now;
  }
  // A message takes a tick; in that the parent went on.
  void follow(const Beat& beat, double frequency, double dt) {
    phase_ = std::remainder(beat.phase + 2 * pi * frequency * dt, 2 * pi);
    place_ = beat.place + 1;
    steer_ = beat.steer;
  }
  // Where a module begins that nobody has told anything: wherever its clock happens to stand.
  void begin(double now, double frequency) { phase_ = std::remainder(2 * pi * frequency * now, 2 * pi), last_ = now; }
  Beat beat() const { return {phase_, place_, steer_}; }
  void steer(double angle) { steer_ = angle; }
  double steering() const { return steer_; }
  double phase() const { return phase_; }
  int place() const { return place_; }

  template <class A>
  void archive(A& ar) {
    ar("phase", phase_);
    ar("place", place_);
    ar("last", last_);
    ar("steer", steer_);
  }

 private:
  double phase_ = 0;
  int place_ = 0;
  double last_ = -1;  // s
  double steer_ = 0;  // rad
};

}  // namespace volvox::robots
