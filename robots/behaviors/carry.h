// Carrying together (seed 003, figure 3, the middle): a quadrotor and a Wheelbot take the two ends
// of a load. Both know the plan and the time; they feel each other only through the load.
#pragma once

#include "flight.h"

namespace volvox::robots {

// The quadrotor: flies above the handle at (x, y, z), comes down and takes it, lifts it by `lift`
// at the time `lift_at`, moves along x at `speed` from `go_at` for `way`, puts it down and lets go.
class CarryInAir final : public Flyer {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  bool lists_state() const override { return true; }
  void archive_state(Archive& ar) override;

 private:
  FlightTarget plan(double time) const;

  Vec3 handle_;             // m, where the gripper takes it
  double approach_ = 0.4;   // m above it, to begin with
  double gripper_ = 0.09;   // m, from the robot's frame down to its gripper
  double load_ = 0.2;       // kg, of its end
  double lift_ = 0.4, speed_ = 0.3, way_ = 3;        // m, m/s, m
  double length_ = 0.87;    // m, from its handle to the hinge at the other end: lifting turns the load about it
  double down_at_ = 2, lift_at_ = 8, go_at_ = 11;    // s
  bool holds_ = false;
};

// The Wheelbot: drives up to the load until its gripper has it, and from `go_at` on carries its end
// along at `speed` for `way`.
class CarryOnWheels final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  VOLVOX_STATE(driven_)

 private:
  double speed_ = 0.3, way_ = 3, go_at_ = 11;  // m/s, m, s
  double driven_ = 0;                           // m, with the load
};

}  // namespace volvox::robots
