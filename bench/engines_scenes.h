// The scenes on which engines are compared (docs: physics bars), built against the engine
// interface alone, so that every engine runs the same bodies, motors and metrics.
//   S1  disconnected SuperBots on a plane, every joint alternating between two angles
//   S2  SuperBots docked front to back: one snake with a travelling wave
//   S3  disconnected ATRONs at random attitudes, each spinning its joint
#pragma once

#include <string>
#include <vector>

#include "volvox/physics/engine.h"

namespace volvox::bench {

struct SceneJoint {
  physics::JointDesc desc;  // ids count bodies of the scene, from 0
  int module = 0;
  int axis = 0;             // 0 yaw, 1 roll, 2 pitch of a SuperBot
};

struct BenchScene {
  std::string name;
  std::vector<physics::BodyDesc> bodies;
  std::vector<SceneJoint> joints;
  double friction = 0.8;
  double motor_gain = 200;  // N m s / rad
  double motor_torque = 0;  // N m, the limit
};

BenchScene make_scene(const std::string& name, int modules);

struct Metrics {
  double hinge_mm = 0, hinge_deg = 0;  // the worst gap and tilt of a hinge
  double dock_mm = 0, dock_deg = 0;
  double lift_m = 0;                   // the highest centre of mass
  double penetration_mm = 0;           // the deepest point below the plane
  bool finite = true;
};

// A scene in an engine, run tick by tick.
class SceneRun {
 public:
  SceneRun(const BenchScene& scene, physics::Engine& engine, double tick_seconds);

  void command();            // motors for the next tick
  physics::StepStatus step();
  void measure(Metrics& worst, bool penetration) const;
  double time() const { return static_cast<double>(ticks_) * tick_.seconds(); }

 private:
  double target(const SceneJoint& joint, double time) const;

  const BenchScene& scene_;
  physics::Engine& engine_;
  Time tick_;
  std::int64_t ticks_ = 0;
  std::vector<physics::BodyId> bodies_;
  std::vector<physics::JointId> joints_;
};

}  // namespace volvox::bench
