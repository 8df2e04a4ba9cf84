// A rolling track: a ring of SuperBots that rolls with the help of its accelerometers (seed 000, figure 1(e)).
// Every module rolls its middle by a quarter turn, so that the axes of yaw and pitch are parallel; the ring is
// then a planar loop, in a vertical plane, with twice as many joints as modules.
//
// Shape: the loop is an ellipse whose long axis leans forward, so that its centre of mass is ahead of its
// support. The angle of a joint depends only on the direction of the loop there: large where the loop is
// curved, small where it is flat. A module knows this direction from gravity and sets its own two joints;
// while the loop rolls, the shape stays fixed in space. Opposite joints have equal angles, which closes the loop.
//
// Direction estimate: the loop moves along its own shape. How fast a module turns follows from the rate of the loop and
// from how much the loop is bent at that module; so does its acceleration towards the inside of the loop. The module
// predicts both, and corrects direction and rate with its accelerometer, less that acceleration. It also receives from
// both neighbours their estimate of the direction at the shared dock, which averages the errors of the sensors. No
// clocks are needed. A module may instead integrate its gyroscope and correct it slowly with its accelerometer
// (`gyroscope`).
#pragma once

#include "volvox/mind/behavior.h"

namespace volvox::robots {

// From a module to a neighbour, through the dock between them.
struct TrackMessage {
  double direction = 0;  // rad, of the loop at that dock
  double rate = 0;       // rad/s, estimated rate of the whole loop
};
VOLVOX_TYPE(TrackMessage, direction, rate)

// The estimate of a module: the direction of its middle in the plane of the loop (0: along the ground at the
// bottom of the loop; it decreases as the loop rolls forward), and the rate at which the loop turns.
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
  // For a behaviour that has a Track as a part.
  template <class A>
  void archive(A& ar) {
    archive_state(ar);
  }
  void halt() { halted_ = true; }  // from now on the wanted speed is 0

 private:
  void sense(mind::Agent& agent, TrackModel& model) const;
  double bend(double direction) const;  // of a joint where the loop has this direction

  double speed_ = 0;            // rad/s, wanted rate of the loop; negative: backwards
  double lean_ = 0;             // rad, of the long axis
  double largest_stretch_ = 0;  // of the ellipse; 0: a circle
  int modules_ = 6;             // in the ring
  bool gyroscope_ = false;      // whether its modules have one
  bool halted_ = false;
  double stretch_ = 0;  // at present
  // Messages of the neighbours since the last step: the summed differences between their estimates of direction and
  // rate and this module's own, and the number of messages.
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
