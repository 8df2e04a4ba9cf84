#include <algorithm>

#include "volvox/physics/native/drive.h"

namespace volvox::physics::native {

DriveOrder::DriveOrder(const JointDesc& desc, const MotorCommand& command, double step)
    : damping(desc.damping * step), friction(desc.friction * step), lower(desc.lower), upper(desc.upper) {
  // A ball joint has no axis to drive or to stop; it rubs about all three.
  if (desc.type == JointType::ball) {
    lower = -1e300, upper = 1e300;
    return;
  }
  most = command.max_torque * step;
  switch (command.control) {
    case Control::off: break;
    case Control::torque: constant = clamp(command.target * step, -most, most); break;
    case Control::velocity:
      gain = command.kd * step;
      base = command.target;
      break;
    case Control::position:
      // Faster than 1/step would overshoot within a step. Without kd it is a bare spring,
      // taken at the end of the step: kp (error - step qdot).
      per_second = command.kd > 0 ? std::min(command.kp / command.kd, 1 / step) : 1 / step;
      gain = (command.kd > 0 ? command.kd : command.kp * step) * step;
      target = command.target;
      fastest = command.max_velocity;
      break;
  }
  if (!(gain > 0)) gain = 0;
}

}  // namespace volvox::physics::native
