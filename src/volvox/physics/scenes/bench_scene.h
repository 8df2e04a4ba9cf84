// What a scene of the comparison is: bodies, joints and how the joints are driven, against the
// engine interface alone, so that every engine runs the same thing.
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

// The speed (rad/s) that a joint at `angle` is told at a time, for a tick of so many seconds.
using Drive = std::function<double(const SceneJoint& joint, double time, double angle, double tick)>;

// Docks that let go and close again while the scene runs: in a cycle of four ticks the first
// opens `count` docks, the third closes them, and the other two have no events to compare with.
struct DockEvents {
  int count = 0;  // 0: none
};

struct BenchScene {
  std::string name;
  int modules = 0;
  std::vector<BodyDesc> bodies;  // the ground and walls too
  std::vector<SceneJoint> joints;
  Drive drive;  // of every revolute joint; empty: there is none
  double friction = 0.8;
  double motor_gain = 200;  // N m s / rad
  double motor_torque = 0;  // N m, the limit
  double settle = 1;        // s after which times and quality count
  // Where nothing is driven, engines that let things sleep would be timed asleep: a force of
  // 1e-9 N on every body keeps them awake.
  bool keep_awake = false;
  DockEvents events;
};

}  // namespace volvox::physics::scenes
