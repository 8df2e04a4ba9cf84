// A ring of SuperBots that rolls by its accelerometers (seed 000, figure 1(e)). Every module rolls its
// middle by a quarter turn, so that its yaw and pitch turn about one axis; the ring is then a loop of
// twice as many joints in one vertical plane.
//
// The shape. The loop is an ellipse whose long axis leans forward, so that its weight lies ahead of what it
// stands on. How far a joint bends depends only on the direction that the loop has there: much where the
// loop is sharp, little where it is flat. A module knows that direction from gravity, so each sets its own
// two joints, and as the loop rolls on, its shape stays where it is. Opposite joints bend alike, which is
// what closes the loop.
//
// The sense of direction. Each module integrates its gyroscope and follows its accelerometer slowly; and it
// hears from both neighbours which direction they believe the shared end to have, so that the errors of one
// module's sensors are shared out among all. Clocks play no part.
#pragma once

#include "volvox/mind/behavior.h"

namespace volvox::robots {

// What a module tells a neighbour, through the dock between them.
struct TrackMessage {
  double direction = 0;  // rad, of the loop at that dock
  double rate = 0;       // rad/s, at which it believes the whole loop to turn
};
VOLVOX_TYPE(TrackMessage, direction, rate)

// What a module believes: the direction of its middle in the plane of the loop (0: along the ground at the
// bottom of the loop; it falls as the loop rolls forward), and the rate at which the loop turns.
struct TrackModel {
  bool known = false;
  double direction = 0;  // rad
  double rate = 0;       // rad/s
};
VOLVOX_TYPE(TrackModel, known, direction, rate)

class Track final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void tune(mind::Agent& agent) override { start(agent); }
  void step(mind::Agent& agent) override;
  bool receive(mind::Agent& agent, const mind::Message& message) override;
  VOLVOX_STATE(halted_, stretch_, heard_)
  template <class A>
  void archive(A& ar) {
    archive_state(ar);
  }                                // as a part of another behaviour
  void halt() { halted_ = true; }  // from here on it is to stand

 private:
  void sense(mind::Agent& agent, TrackModel& model) const;
  double bend(double direction) const;  // of a joint where the loop has this direction

  double speed_ = 0;            // rad/s, at which the loop is to turn; negative: backwards
  double lean_ = 0;             // rad, of the long axis
  double largest_stretch_ = 0;  // of the ellipse; 0: a circle
  int modules_ = 6;             // in the ring
  bool halted_ = false;
  double stretch_ = 0;  // at present
  // What the neighbours have said since the last step: how far they believe the direction and the rate of
  // the loop to be from this module's own belief, summed, and how many have spoken.
  struct Heard {
    double direction = 0, rate = 0;
    int count = 0;
    template <class A>
    void archive(A& ar) {
      ar("direction", direction);
      ar("rate", rate);
      ar("count", count);
    }
  } heard_;
};

}  // namespace volvox::robots
