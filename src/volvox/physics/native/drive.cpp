#include "volvox/physics/native/drive.h"

#include <algorithm>
#include <cmath>

namespace volvox::physics::native {
namespace {

// The share of an overrun of a limit that a substep takes back.
constexpr double limit_correction = 0.3;
// A motor may be wrong by this share of its bound before it is solved again.
constexpr double secant_tolerance = 0.1;

}  // namespace

double Drive::secant_at(double qdot) const {
  const double away = std::fabs(speed - qdot);
  return gain * away > most ? most / away : gain;
}

void Drive::tell(const JointDesc& desc, const MotorCommand& command, const JointState& state, double step) {
  const double position = state.position;
  gain = speed = constant = 0;
  most = command.max_torque * step;
  damping = desc.damping * step;
  friction = desc.friction * step;
  const auto rate = [&](double gap, bool past) { return past ? limit_correction * gap / step : gap / step; };
  lowest = rate(desc.lower - position, position < desc.lower);
  highest = rate(desc.upper - position, position > desc.upper);
  // A ball joint has no axis to drive or to stop; it rubs about all three.
  if (desc.type == JointType::ball) {
    lowest = -1e300, highest = 1e300;
    secant = 0;
    limit = 0;
    if (!(friction > 0)) slip = 0;
    return;
  }
  switch (command.control) {
    case Control::off: break;
    case Control::torque: constant = clamp(command.target * step, -most, most); break;
    case Control::velocity:
      gain = std::max(0.0, command.kd) * step;
      speed = command.target;
      break;
    case Control::position: {
      // Faster than 1/step would overshoot within a step. Without kd it is a bare spring,
      // taken at the end of the step: kp (error - step qdot).
      const double error = command.target - position, kd = command.kd;
      const double per_second = kd > 0 ? std::min(command.kp / kd, 1 / step) : 1 / step;
      gain = (kd > 0 ? kd : command.kp * step) * step;
      speed = clamp(per_second * error, -command.max_velocity, command.max_velocity);
      break;
    }
  }
  if (!(gain > 0)) gain = 0;
  secant = secant_at(state.velocity);
  if (!(friction > 0)) slip = 0;
}

bool Drive::settle(double qdot, double wall_gain, Pass pass) {
  bool changed = false;
  if (pass == Pass::first && gain > 0) {
    const double better = secant_at(qdot);
    if (std::fabs((better - secant) * (speed - qdot)) > secant_tolerance * most) secant = better, changed = true;
  }
  const double held = wall_gain * (wall_speed() - qdot);  // the impulse of the wall, if there is one
  if (limit != 0) {
    if (limit * held > 0) limit = 0, changed = true;
    return changed;
  }
  const double hair = 1e-9 * (std::fabs(qdot) + 1);
  if (qdot < lowest - hair) limit = -1, changed = true;
  if (qdot > highest + hair) limit = 1, changed = true;
  if (friction > 0) {
    if (slip != 0 && slip * qdot <= 0) {
      slip = 0, changed = true;
    } else if (slip == 0 && std::fabs(qdot) > creep && pass != Pass::last) {
      slip = static_cast<std::int8_t>(qdot < 0 ? -1 : 1), changed = true;
    }
  }
  return changed;
}

}  // namespace volvox::physics::native
