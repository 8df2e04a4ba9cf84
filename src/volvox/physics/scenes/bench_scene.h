// A scene of the comparison of engines: bodies, joints and the drive of the joints. It uses the engine interface only,
// so that every engine runs the same scene. Units and frames as in engine.h.
// A value that owns its lists and shares shapes. Drives are pure functions of what they are given, so that every engine
// gets the same commands.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "volvox/physics/engine.h"

namespace volvox::physics::scenes {

struct SceneJoint {
  JointDesc desc;  // ids count the bodies of the scene, from 0
  int module = 0;
  int axis = 0;  // 0 yaw, 1 roll, 2 pitch of a SuperBot
};

// The commanded speed (rad/s) of a joint at `angle`, at a time, for a tick of the given length (s).
using Drive = std::function<double(const SceneJoint& joint, double time, double angle, double tick)>;

// Docks that open and close again during the run: in a cycle of four ticks the first tick opens `count` docks, the
// third closes them, and the other two have no events, for comparison.
struct DockEvents {
  int count = 0;  // 0: none
};

struct BenchScene {
  std::string name;
  int modules = 0;
  std::vector<BodyDesc> bodies;  // the ground and walls too
  std::vector<SceneJoint> joints;
  Drive drive;  // of every revolute joint; empty: none
  double friction = 0.8;
  double motor_gain = 200;  // N m s / rad
  double motor_torque = 0;  // N m, the limit
  double settle = 1;        // s before times and quality are measured
  // Without drives, engines would put bodies to sleep and be timed asleep: a force of 1e-9 N on every body keeps them
  // awake.
  bool keep_awake = false;
  DockEvents events;
};

}  // namespace volvox::physics::scenes
