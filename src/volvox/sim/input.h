// What comes from outside while a run goes on: a person at a viewer, a joystick, a socket. It
// enters at the boundary of a tick, in the order in which it was given, and is recorded there,
// so that a run with inputs replays.
#pragma once

#include <string>

#include "volvox/base/result.h"
#include "volvox/base/type.h"

namespace volvox::sim {

class Simulation;

struct Input {
  // parameter: of a behaviour, as text; joint: a motor's position; dock: enabled (1) or not (0);
  // push: a force on a link, for one tick; percept: of a sensor of type external; pose: of a module
  // that is <volvox:driven/>, as text, "x y z qx qy qz qw" and, if it is known, "vx vy vz wx wy wz". A behaviour that
  // commands the same joint or dock in this tick has the last word: it is the module's own.
  std::string kind;
  std::string module;  // empty, for a parameter: all modules that have it
  std::string name;    // of the parameter, joint, dock or link
  std::string text;    // the parameter's value
  double value = 0;    // rad or m, or 0 and 1
  Vec3 force;          // N, world axes

  friend bool operator==(const Input&, const Input&) = default;
};
VOLVOX_TYPE(Input, kind, module, name, text, value, force)

// An error says what is wrong with it; then nothing has changed.
Result<void> apply(const Input& input, Simulation& simulation);

}  // namespace volvox::sim
