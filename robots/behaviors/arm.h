// An arm: a chain of modules docked to a base. The first module knows the kinematics of the whole arm, receives the
// joint angles of the others, solves the inverse kinematics by damped least squares, and sends each module its joint
// angles. Every module holds its own joints against gravity with integral control. The module whose back is held by a
// dock named "mount" is the first.
#pragma once

#include "volvox/mind/behavior.h"
#include "volvox/model/kinematics.h"

namespace volvox::robots {

// What the first module knows from the start: the chain, and the poses that the tip has to reach one after the other.
struct ArmMission {
  model::Chain chain;         // from the base to the tip, with the joints of all modules in order
  Vec3 foot;                  // m, of the column that carries the base
  std::vector<Pose> targets;  // in the frame of the chain's base
  double move_time = 2.5;     // s, for a motion
  double target_time = 4.5;   // s, for a motion and the time to settle
};

// Sent towards the base: the joint angles of a module and of all modules farther out.
struct ArmReport {
  std::vector<double> angles;
};
VOLVOX_TYPE(ArmReport, angles)

// Sent towards the tip: the wanted joint angles of a module and of all modules farther out.
struct ArmCommand {
  std::vector<double> angles;
};
VOLVOX_TYPE(ArmCommand, angles)

// The state of the first module, for observers.
struct ArmModel {
  int target = -1;        // index; -1: none yet
  bool solved = false;    // inverse kinematics found a motion without self-collision
  double planned_mm = 0;  // distance between the target and the end of the plan
};
VOLVOX_TYPE(ArmModel, target, solved, planned_mm)

// The smallest distance (m) between parts of the arm (and its column) that are not neighbours.
double clearance(const ArmMission& mission, const std::vector<double>& angles);
inline constexpr double least_clearance = 0.12;  // m, between axes: modules are 84 mm wide, 119 mm across corners

class Arm final : public mind::Behavior {
 public:
  explicit Arm(std::shared_ptr<const ArmMission> mission) : mission_(std::move(mission)) {}
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  bool receive(mind::Agent& agent, const mind::Message& message) override;
  bool lists_state() const override { return true; }
  void archive_state(Archive& ar) override;

 private:
  void lead(mind::Agent& agent, const std::vector<double>& angles);
  void plan(mind::Agent& agent, int number, std::vector<double> from);
  std::vector<double> on_the_way(double part) const;
  void hold(mind::Agent& agent);

  std::shared_ptr<const ArmMission> mission_;
  double began_ = 0;                      // s, by its own clock
  std::vector<double> command_;           // for its own joints, then for those of the modules farther out
  std::vector<double> behind_;            // the reported angles of the modules farther out
  std::vector<double> integral_;          // rad, added to the command by integral control
  std::vector<std::vector<double>> way_;  // waypoints of a motion: angles of all joints
};

}  // namespace volvox::robots
