// Kinematics of a serial chain of modules, read from the modules' models: the pose of the tip, its Jacobian,
// and inverse kinematics (damped least squares, as for seed 000's manipulator). Poses are in the frame of
// the base that the caller gives; positions in rad or m.
// A Chain copies what it needs of the models. Deterministic: whoever wants random starts gives the stream.
#pragma once

#include <span>
#include <vector>

#include "volvox/base/random.h"
#include "volvox/base/result.h"
#include "volvox/model/module_model.h"

namespace volvox::model {

class Chain {
 public:
  struct Joint {
    Pose before;  // of its frame (it moves around or along z), in the moved frame of the joint before it
    bool revolute = true;
    double lower = -unlimited, upper = unlimited;  // rad or m
    // The chain passes the joint from child to parent, so it moves the tip in the opposite direction. Positions
    // keep the sign of the joint itself.
    bool backwards = false;
  };

  explicit Chain(const Pose& base = {}) : tip_(base) {}

  // Appends a module that the chain enters at one dock and leaves at another. The first `entry` is at the base; every
  // further `entry` is engaged with the exit before it at `turn` (model::engaged_dock). Ball joints are taken as fixed.
  Result<void> append(const ModuleModel& model, const std::string& entry, const std::string& exit, int turn = 0);

  std::size_t size() const { return joints_.size(); }
  const std::vector<Joint>& joints() const { return joints_; }

  // The exit dock of the last module.
  Pose tip(std::span<const double> positions) const;
  // The frames of all joints after their motion, then the tip.
  std::vector<Pose> frames(std::span<const double> positions) const;
  // The velocity of the tip for a unit velocity of each joint.
  std::vector<Twist> jacobian(std::span<const double> positions) const;

  // Within the limits; within +-pi or +-1 m for a joint without limits.
  std::vector<double> random_positions(RandomStream& random) const;

 private:
  std::vector<Joint> joints_;
  Pose tip_;          // in the moved frame of the last joint
  int symmetry_ = 0;  // of the last exit dock; 0 before the first module
  bool begun_ = false;
};

struct ReachOptions {
  double position_tolerance = 1e-4;  // m
  double angle_tolerance = radians(0.1);
  // How many metres of error one radian counts as; 0: the orientation does not matter.
  double radian_weight = 0.2;
  int iterations = 200;
};

struct Reach {
  std::vector<double> positions;
  double distance = 0;  // m, from the target
  double angle = 0;     // rad
  int iterations = 0;
  bool reached = false;  // within the tolerances
};

// Damped least squares (Wampler 1986) from `start`, within the joints' limits. The damping follows Levenberg
// and Marquardt: it decreases after a step that reduces the error; otherwise the step is rejected and the damping
// increases. It ends in a local minimum; for a better one, call it again with another start.
Reach reach(const Chain& chain, const Pose& target, std::vector<double> start, const ReachOptions& options = {});

}  // namespace volvox::model
