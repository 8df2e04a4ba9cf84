// Inputs from outside during a run: from a user at a viewer, a joystick, a socket. They enter at the boundary of a
// tick, in the order in which they were given, and are recorded there, so that a run with inputs can be replayed
// exactly.
// An input is a value in SI units, and whoever gives it hands over a copy. All functions belong to the thread of the
// loop. The same inputs in the same ticks give the same bits.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "volvox/base/math.h"
#include "volvox/base/result.h"
#include "volvox/physics/engine.h"

namespace volvox::sim {

class Simulation;

// Modules and their parts are given by name. If a behaviour commands the same joint or dock in this tick, the
// behaviour's command counts.
struct ParameterInput {  // of a behaviour
  std::string module;    // empty: all modules that have this parameter
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
  std::string link;  // empty: the first link
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
struct TapInput {  // somebody taps an item of the run's cloud (cloud.h)
  std::uint32_t item = 0;
};
struct ActionInput {  // actions of many modules at once, by number: what arrays command (Python)
  physics::Control control = physics::Control::position;  // of those that are motors
  std::size_t width = 1;                                  // numbers for each action
  std::vector<std::uint32_t> agents, actions;             // which agent, and which of its actions (Agent::actions)
  std::vector<double> values;                             // SI; `width` for each
};
using Input =
    std::variant<ParameterInput, JointInput, DockInput, PushInput, PerceptInput, PoseInput, TapInput, ActionInput>;

const std::string& module_of(const Input& input);  // empty: it concerns no module, or all

// The same input as a row: for recordings, tables and the viewer's protocol.
struct InputRecord {
  std::string kind;  // parameter, joint, dock, push, percept, pose, tap or action
  std::string module;
  std::string name;  // of the parameter, joint, dock, link or sensor
  std::string text;  // the parameter's value; a pose: "x y z qx qy qz qw" and, if known, "vx vy vz wx wy wz"; actions:
                     // "CONTROL WIDTH", and for each action "AGENT ACTION" and its values
  double value = 0;  // rad or m; 0 or 1 for a dock; the percept's value; or the number of the item
  Vec3 force;        // N, world axes
};
InputRecord record_of(const Input& input);
Result<Input> input_of(const InputRecord& record);

// On an error nothing has changed.
Result<void> apply_input(const Input& input, Simulation& simulation);

}  // namespace volvox::sim
