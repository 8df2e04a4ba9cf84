// What acts along one free axis of a joint: motor, friction, damping and limits, as one
// impulse that falls with the speed of the axis:
//
//   impulse(qdot) = clamp(h kd (v - qdot), +-h max_torque) - h damping qdot + friction + limit
//
// The solver wants a straight line, impulse = rhs - kappa qdot, which it takes into the
// factor: so a stiff motor is implicit, and stable. A motor at its bound is the secant through
// (v, 0) and the bound, at the speed that is expected; friction is a constant while it slips
// and a steep line while it sticks (a wall would pass on whatever the contacts bring in the
// same substep: a long chain of joints at rest would be one rigid beam); a limit is a wall.
// What was expected is checked against the solution and solved again where it was wrong.
// Secants and walls that stand take energy out whatever happens, so the last try is made of these
// alone: a wrong guess then costs accuracy for one substep. Contacts push after that, and may
// refute what was found: see judge(). (A lagged constant
// torque explodes: docs/decisions/0010.)
#pragma once

#include <concepts>
#include <cstdint>

#include "volvox/physics/engine.h"
#include "volvox/physics/native/lanes.h"

namespace volvox::physics::native {

// What a drive was told, for the whole tick; as impulses of a substep.
struct DriveOrder {
  double gain = 0;      // motor: gain (speed - qdot)
  double most = 0;      // its bound
  double constant = 0;  // torque control
  double damping = 0;
  double friction = 0;  // the bound of Coulomb friction
  // The motor's speed: base + clamp(per_second (target - position), +-fastest).
  double base = 0, per_second = 0, target = 0, fastest = 0;
  double lower = 0, upper = 0;

  DriveOrder() = default;
  DriveOrder(const JointDesc& desc, const MotorCommand& command, double step);
};

// How far a solution may still be corrected. Secants are corrected on the first pass only,
// walls as long as it takes; on the last, only what takes energy out may be set.
enum class DrivePass { first, middle, last };

// How often the pieces of the drives are tried in a substep.
inline constexpr int most_passes = 4;
// Which pass the one after a solution is.
constexpr DrivePass pass_after(int solved) {
  return solved == 0 ? DrivePass::first : solved + 2 == most_passes ? DrivePass::last : DrivePass::middle;
}

// What contacts made of the lines; the worse is the greater.
enum class Verdict : std::uint8_t { holds, overloaded, misplaced };

template <class T>
struct Drive {
  using Mask = MaskOf<T>;
  // The share of an overrun of a limit that a substep takes back.
  static constexpr double limit_correction = 0.3;
  // A motor may be wrong by this share of its bound before it is solved again.
  static constexpr double secant_tolerance = 0.1;
  // The speed to which a joint may creep, in rad/s or m/s, while friction still holds it.
  static constexpr double creep = 1e-4;
  // Contacts may overload a motor this many times before the substep is solved again.
  static constexpr double most_overload = 2;
  // Contacts may push a joint past its limit this fast, in rad/s or m/s, or tear it loose from
  // friction, before it is; and a wall may be moved so often in a substep.
  static constexpr double most_overrun = 1, most_creep = 0.1, most_moves = 3;
  // The fastest way back for a joint that is beyond its limit, in rad/s or m/s.
  static constexpr double fastest_return = 3;
  static constexpr double no_cap = 1e300;

  // The order, by lanes.
  alignas(sizeof(T)) T gain{};
  T most{}, constant{}, damping{}, friction{};
  T base{}, per_second{}, target{}, fastest{}, lower{}, upper{};
  // Of this substep.
  T speed{};
  T lowest{}, highest{};  // the speeds that just reach the limits
  T moves{};              // of its walls, by contacts
  // The line that is expected to hold.
  T secant{};             // the motor's gain, less where it is at its bound
  T slip{};               // the direction in which friction slips: -1, 1; 0: it sticks
  T limit{};              // the limit that is reached: -1, 0 or 1
  T cap = T{} + no_cap;   // what contacts have shown the motor to be able to do at most

  void order(int lane, const DriveOrder& o) {
    put(gain, lane, o.gain), put(most, lane, o.most), put(constant, lane, o.constant), put(damping, lane, o.damping);
    put(friction, lane, o.friction), put(base, lane, o.base), put(per_second, lane, o.per_second), put(target, lane, o.target);
    put(fastest, lane, o.fastest), put(lower, lane, o.lower), put(upper, lane, o.upper);
  }

  DriveOrder given() const
    requires std::same_as<T, double>
  {
    DriveOrder o;
    o.gain = gain, o.most = most, o.constant = constant, o.damping = damping, o.friction = friction, o.base = base;
    o.per_second = per_second, o.target = target, o.fastest = fastest, o.lower = lower, o.upper = upper;
    return o;
  }

  // A wall holds this speed, by a gain far above the inertia about the axis, which only the
  // solver knows.
  VOLVOX_KERNEL Mask walled() const { return limit != 0.0; }
  VOLVOX_KERNEL T wall_speed() const { return choose(limit < 0.0, lowest, choose(limit > 0.0, highest, T{})); }
  VOLVOX_KERNEL T kappa() const { return damping + secant + choose(slip == 0.0, friction / creep, T{}); }
  VOLVOX_KERNEL T rhs() const { return constant + secant * speed - slip * friction; }
  VOLVOX_KERNEL T motor_impulse(const T& qdot) const { return constant + secant * (speed - qdot); }

  // The start of a substep.
  VOLVOX_KERNEL void tell(const T& position, const T& velocity, double step) {
    speed = base + bounded(per_second * (target - position), -fastest, fastest);
    const T below = (lower - position) / step, above = (upper - position) / step, back = T{} + fastest_return;
    lowest = choose(below > 0.0, smaller(below * limit_correction, back), below);
    highest = choose(above < 0.0, larger(above * limit_correction, -back), above);
    moves = T{};
    cap = choose(cap < gain, larger(cap * 2.0, gain * 1e-6), T{} + no_cap);
    secant = smaller(secant_at(velocity), cap);
    slip = choose(friction > 0.0, slip, T{});
  }

  // Compares with a solution; `wall_gain` is what the solver gave the wall. Says where another
  // line holds, which is then set and must be solved for.
  VOLVOX_KERNEL Mask settle(const T& qdot, const T& wall_gain, DrivePass pass) {
    Mask changed{};
    if (pass == DrivePass::first) {
      const T better = smaller(secant_at(qdot), cap);
      changed = (gain > 0.0) & (magnitude((better - secant) * (speed - qdot)) > secant_tolerance * most);
      secant = choose(changed, better, secant);
    }
    const T held = wall_gain * (wall_speed() - qdot);  // the impulse of the wall, if there is one
    const Mask at_wall = walled(), leaves = at_wall & (limit * held > 0.0), is_free = limit == 0.0;
    const T hair = 1e-9 * (magnitude(qdot) + 1.0), one = T{} + 1.0;
    const Mask falls = is_free & (qdot < lowest - hair), rises = is_free & (qdot > highest + hair);
    limit = choose(leaves, T{}, choose(rises, one, choose(falls, -one, limit)));
    const Mask rubs = is_free & (friction > 0.0);
    const Mask stops = rubs & (slip != 0.0) & (slip * qdot <= 0.0);
    changed = changed | leaves | falls | rises | stops;
    if (pass != DrivePass::last) {
      const Mask starts = rubs & (slip == 0.0) & (magnitude(qdot) > creep);
      slip = choose(starts, choose(qdot < 0.0, -one, one), slip);
      changed = changed | starts;
    }
    slip = choose(stops, T{}, slip);
    return changed;
  }

  // The line was chosen before the contacts pushed, and they may refute it. One that jams could
  // load the motor without bound: says where it did, and caps the line there from the next
  // solution on; the cap rises again with every substep.
  VOLVOX_KERNEL Mask overloaded(const T& qdot) {
    const T away = magnitude(speed - qdot);
    const Mask over = (gain > 0.0) & (secant * away > most_overload * most);
    cap = choose(over, most / away, cap);
    return over;
  }

  // A wall may hold back what they push away from it, or lack where they push past a limit; and
  // friction that sticks may hold a joint that they tear loose. Says where, of those that are
  // judged, and corrects the line. A wall that was moved too often stays: not to run through a
  // limit is worth more than to be free of a pull for one substep.
  VOLVOX_KERNEL Mask misplaced(const T& qdot, const T& wall_gain, const Mask& judged) {
    const T one = T{} + 1.0;
    const Mask is_free = judged & (limit == 0.0);
    const Mask holds_back = judged & walled() & (limit * (wall_gain * (wall_speed() - qdot)) > 0.0) & (moves < most_moves);
    const Mask falls = is_free & (qdot < lowest - most_overrun), rises = is_free & (qdot > highest + most_overrun);
    const Mask moved = holds_back | falls | rises;
    const Mask slips = is_free & (friction > 0.0) & (slip == 0.0) & (magnitude(qdot) > most_creep);
    limit = choose(holds_back, T{}, choose(rises, one, choose(falls, -one, limit)));
    moves = moves + choose(moved, one, T{});
    slip = choose(slips, choose(qdot < 0.0, -one, one), slip);
    return moved | slips;
  }

  Verdict judge(const T& qdot, const T& wall_gain)
    requires std::same_as<T, double>
  {
    if (misplaced(qdot, wall_gain, true)) return Verdict::misplaced;
    return overloaded(qdot) ? Verdict::overloaded : Verdict::holds;
  }

  VOLVOX_KERNEL void keep_to_cap() { secant = smaller(secant, cap); }

  template <class Archive>
  void archive(Archive& ar) {
    ar("slip", slip);
    ar("limit", limit);
    ar("cap", cap);
  }

 private:
  VOLVOX_KERNEL T secant_at(const T& qdot) const {
    const T away = magnitude(speed - qdot);
    return choose(gain * away > most, most / away, gain);
  }
};

}  // namespace volvox::physics::native
