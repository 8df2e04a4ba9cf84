// What acts along one free axis of a joint: motor, friction, damping and limits, as one
// impulse that falls with the speed of the axis:
//
//   impulse(qdot) = clamp(h kd (v - qdot), +-h max_torque) - h damping qdot + friction + limit
//
// The solver wants a straight line, impulse = rhs - kappa qdot, which it takes into the
// factor: so a stiff motor is implicit, and stable. A motor at its bound is the secant through
// (v, 0) and the bound, at the speed that is expected; friction is a constant while it slips
// and a steep line while it sticks (a wall would pass on whatever the contacts bring in the
// same substep: a long chain of joints at rest would be one rigid beam); a limit is a wall. What was expected is checked against the
// solution and solved again where it was wrong. Secants and walls take energy out whatever
// happens, so the last try is made of these alone: a wrong guess then costs accuracy for one
// substep, never stability. (A lagged constant torque explodes: docs/decisions/0010.)
#pragma once

#include <cstdint>

#include "volvox/physics/engine.h"

namespace volvox::physics::native {

struct Drive {
  // Told at the start of a substep, as impulses.
  double gain = 0, speed = 0;     // motor: gain (speed - qdot)
  double most = 0;                // its bound
  double constant = 0;            // torque control
  double damping = 0;
  double friction = 0;            // the bound of Coulomb friction
  double lowest = 0, highest = 0; // the speeds that just reach the limits

  // The line that is expected to hold.
  double secant = 0;              // the motor's gain, less where it is at its bound
  std::int8_t slip = 0;           // the direction in which friction slips; 0: it sticks
  std::int8_t limit = 0;          // the limit that is reached: -1, 0 or 1

  // A wall holds this speed, by a gain far above the inertia about the axis, which only the
  // solver knows.
  bool walled() const { return limit != 0; }
  double wall_speed() const { return limit < 0 ? lowest : limit > 0 ? highest : 0; }
  double kappa() const { return damping + secant + sticking(); }
  double rhs() const { return constant + secant * speed - slip * friction; }

  void tell(const JointDesc& desc, const MotorCommand& command, const JointState& state, double step);
  // Compares with a solution; `wall_gain` is what the solver gave the wall. True if another
  // line holds, which is then set and must be solved for. Secants are corrected on the first
  // pass only, walls as long as it takes; on the last, only what takes energy out may be set.
  enum class Pass { first, middle, last };
  bool settle(double qdot, double wall_gain, Pass pass);
  double motor_impulse(double qdot) const { return constant + secant * (speed - qdot); }

  template <class Archive>
  void archive(Archive& ar) {
    ar("slip", slip);
    ar("limit", limit);
  }

 private:
  // The speed to which a joint may creep, in rad/s or m/s, while friction still holds it.
  static constexpr double creep = 1e-4;
  double sticking() const { return slip == 0 ? friction / creep : 0; }
  double secant_at(double qdot) const;
};

}  // namespace volvox::physics::native
