// A motor whose target swings: the commands of a mind that is an oscillator, computed where the body is simulated, so
// that nothing has to be sent in every tick. Compiled for the processor and for GPUs.
// Seconds, radians (or m); pure functions: any thread, the same bits everywhere.
#pragma once

#include "volvox/base/elementary.h"
#include "volvox/base/gpu.h"
#include "volvox/physics/engine.h"

namespace volvox::physics {

struct MotorWave {
  MotorCommand command;                            // the target is the middle
  double amplitude = 0, frequency = 0, phase = 0;  // of the target; Hz, rad
  double stop = 1e300;                             // s: from then on the target is kept; a velocity becomes 0

  // At the begin of a tick.
  VOLVOX_ALSO_ON_GPU MotorCommand at(double time) const {
    MotorCommand now = command;
    const double last = time < stop ? time : stop;
    now.target += amplitude * elementary::sin(2 * pi * frequency * last + phase);
    if (time >= stop && now.control == Control::velocity) now.target = 0;
    return now;
  }
};

}  // namespace volvox::physics
