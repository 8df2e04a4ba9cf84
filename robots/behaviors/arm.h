// An arm of modules docked in a row on a base: its first module knows the kinematics of the whole, hears the joint
// angles of the others, finds by damped least squares how to bring the tip to a pose, and tells each its part. Every
// module holds its own joints there against gravity by integral action on its angles. Modules find their places
// by their docks: whose back is held by a dock named "mount" is the first.
#pragma once

#include "volvox/mind/behavior.h"
#include "volvox/model/kinematics.h"

namespace volvox::robots {

// What an arm is told before it begins: how it is built and where its tip is to go, one pose after the other.
struct ArmMission {
  model::Chain chain;         // from the base to the tip: the joints of all modules in their order
  Vec3 foot;                  // of the column that carries the base
  std::vector<Pose> targets;  // in the frame of the chain's base
  double move_time = 2.5;     // s, for a motion
  double target_time = 4.5;   // s, for a motion and the time to settle
};

// The joint angles of a module and of those behind it, towards the base.
struct ArmReport {
  std::vector<double> angles;
};
VOLVOX_TYPE(ArmReport, angles)

// Where the joints of a module and of those behind it are to be, towards the tip.
struct ArmCommand {
  std::vector<double> angles;
};
VOLVOX_TYPE(ArmCommand, angles)

// What the first module is at, for those who look on.
struct ArmModel {
  int target = -1;        // its number; -1: none yet
  bool solved = false;    // inverse kinematics found a way that keeps clear of the arm itself
  double planned_mm = 0;  // how far from the target the plan ends
};
VOLVOX_TYPE(ArmModel, target, solved, planned_mm)

// The smallest distance between parts of the arm (and its column) that are not next to each other.
double clearance(const ArmMission& mission, const std::vector<double>& angles);
inline constexpr double least_clearance = 0.12;  // m, between axes: modules are 84 mm wide, 119 mm across corners

class Arm final : public mind::Behavior {
 public:
  explicit Arm(std::shared_ptr<const ArmMission> mission) : mission_(std::move(mission)) {}
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  bool receive(mind::Agent& agent, const mind::Message& message) override;
  VOLVOX_STATE(began_, command_, behind_, integral_, way_)

 private:
  void lead(mind::Agent& agent, const std::vector<double>& angles);
  void plan(mind::Agent& agent, int number, std::vector<double> from);
  std::vector<double> on_the_way(double part) const;
  void hold(mind::Agent& agent);

  std::shared_ptr<const ArmMission> mission_;
  double began_ = 0;                      // s, by its own clock
  std::vector<double> command_;           // for its own joints, then for those behind
  std::vector<double> behind_;            // the angles that the modules behind have reported
  std::vector<double> integral_;          // rad, by which it commands more than it wants
  std::vector<std::vector<double>> way_;  // of all joints, from where a motion began to where it ends
};

}  // namespace volvox::robots
