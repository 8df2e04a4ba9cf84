// Kinematics of a chain of modules: joints in a row between a base and a tip, read from the modules'
// models. Where is the tip, how does it move with the joints, and which joint positions bring it to a
// pose (damped least squares, as seed 000's manipulator uses it).
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
    Pose before;  // of its frame (it moves about or along z), in the frame that the joint before it moves
    bool revolute = true;
    double lower = -unlimited, upper = unlimited;  // rad or m
    // The chain passes it from child to parent: it moves the tip the other way. Positions keep the joint's
    // own sense.
    bool backwards = false;
  };

  // The base is where the chain begins, in whatever frame the caller thinks in.
  explicit Chain(const Pose& base = {}) : tip_(base) {}

  // Goes through a module, in at one dock and out at another. The first `entry` is at the base; every further
  // one is engaged with the exit before it at `turn` (model::engaged_dock). Ball joints are not followed.
  Result<void> append(const ModuleModel& model, const std::string& entry, const std::string& exit, int turn = 0);

  std::size_t size() const { return joints_.size(); }
  const std::vector<Joint>& joints() const { return joints_; }

  // The exit dock of the last module.
  Pose tip(std::span<const double> positions) const;
  // The frames of all joints after their motion, then the tip.
  std::vector<Pose> frames(std::span<const double> positions) const;
  // The velocity of the tip for a unit velocity of each joint.
  std::vector<Twist> jacobian(std::span<const double> positions) const;

  std::vector<double> random_positions(
      RandomStream& random) const;  // within the limits; +-pi or +-1 m where there are none

 private:
  std::vector<Joint> joints_;
  Pose tip_;          // in the frame that the last joint moves
  int symmetry_ = 0;  // of the last exit dock; 0 before the first
  bool begun_ = false;
};

struct ReachOptions {
  double position_tolerance = 1e-4;  // m
  double angle_tolerance = radians(0.1);
  // What an error of one radian counts, in metres; 0: any orientation will do.
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

// Damped least squares (Wampler 1986) from where the chain stands, within the joints' limits. The damping
// follows Levenberg and Marquardt: less after a step that helped, more after one that did not, which is not
// taken. It ends in the nearest local minimum; who needs more starts again from elsewhere.
Reach reach(const Chain& chain, const Pose& target, std::vector<double> start, const ReachOptions& options = {});

}  // namespace volvox::model
