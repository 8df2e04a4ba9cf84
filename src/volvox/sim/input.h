// What comes from outside while a run goes on: a person at a viewer, a joystick, a socket. It
// enters at the boundary of a tick, in the order in which it was given, and is recorded there,
// so that a run with inputs replays.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "volvox/base/math.h"
#include "volvox/base/result.h"

namespace volvox::sim {

class Simulation;

// Modules and their parts by name. A behaviour that commands the same joint or dock in this tick has the last word: it
// is the module's own.
struct ParameterInput {  // of a behaviour
  std::string module;    // empty: of all modules that have it
  std::string parameter, value;
};
struct JointInput {  // a motor's position
  std::string module, joint;
  double position = 0;  // rad or m
};
struct DockInput {
  std::string module, dock;
  bool enabled = false;
};
struct PushInput {  // a force on a link, for one tick
  std::string module;
  std::string link;  // empty: the first
  Vec3 force;        // N, world axes
};
struct PerceptInput {  // of a sensor of type external
  std::string module, sensor;
  double value = 0;
};
struct PoseInput {  // of a module that is <volvox:driven/>
  std::string module;
  Pose pose;                        // world frame; the quaternion has a length of 1 within 1e-3
  std::optional<Twist> velocity{};  // none: at rest
};
using Input = std::variant<ParameterInput, JointInput, DockInput, PushInput, PerceptInput, PoseInput>;

const std::string& module_of(const Input& input);

// The same as recordings, tables and the viewer's wire hold it.
struct InputRecord {
  std::string kind;  // parameter, joint, dock, push, percept or pose
  std::string module;
  std::string name;  // of the parameter, joint, dock, link or sensor
  std::string text;  // the parameter's value; a pose: "x y z qx qy qz qw" and, if it is known, "vx vy vz wx wy wz"
  double value = 0;  // rad or m, 0 and 1 of a dock, or the percept's
  Vec3 force;        // N, world axes
};
InputRecord record_of(const Input& input);
Result<Input> input_of(const InputRecord& record);

// An error says what is wrong with it; then nothing has changed.
Result<void> apply_input(const Input& input, Simulation& simulation);

}  // namespace volvox::sim
