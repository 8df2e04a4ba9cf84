// An arm that grows by docking with nearby modules (seed 000, figure 5, top). All modules lie on the ground with their
// middle rolled by 90 degrees, so that every joint turns about the vertical. The arm reaches for the dock that its tip
// sees, from a posture that it finds by inverse kinematics (grow_plan.h); where it sees none, it looks around. Loose
// modules offer their back dock alone. One that sees the tip near it turns its tail towards it. A docked module is part
// of the arm: it reports its angles and what it sees towards the base and receives commands from there, and the longer
// arm reaches for the next module. The first module of the arm, which is held by a dock named "mount", leads.
#pragma once

#include "grow_plan.h"
#include "volvox/mind/behavior.h"
#include "volvox/mind/dock_beacon.h"

namespace volvox::robots {

struct GrowReport {  // towards the base
  std::vector<double> angles;
  mind::DockBeacon seen;  // at the tip
  bool latching = false;  // the tip
};
VOLVOX_TYPE(GrowReport, angles, seen, latching)

struct GrowCommand {  // towards the tip
  std::vector<double> angles;
};
VOLVOX_TYPE(GrowCommand, angles)

class Grow final : public mind::Behavior {
 public:
  explicit Grow(std::shared_ptr<const GrowPlan> plan) : plan_(std::move(plan)) {}
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  bool receive(mind::Agent& agent, const mind::Message& message) override;
  bool lists_state() const override { return true; }
  void archive_state(Archive& ar) override;

 private:
  void aim(mind::Agent& agent);
  void lead(mind::Agent& agent, const GrowReport& arm);
  void look(mind::Agent& agent, const GrowPlan::Reach& reach, const GrowReport& arm);
  void remember(mind::Agent& agent, const GrowPlan::Reach& reach, const GrowReport& arm);
  void reach_out(mind::Agent& agent, const GrowPlan::Reach& reach, const GrowReport& arm);
  void go_to(mind::Agent& agent, int step);
  void move_along_way(mind::Agent& agent);
  void move_towards(mind::Agent& agent, const Posture& posture);
  bool stands_at(const Posture& posture) const;

  std::shared_ptr<const GrowPlan> plan_;
  Posture command_;        // for its own joints, then for those of the modules farther out
  Posture behind_;         // the reported angles of the modules farther out
  mind::DockBeacon seen_;  // reported by the tip
  bool latching_ = false;
  bool joined_ = false;  // it is part of the arm
  double since_ = 0;     // s by its own clock, start of the leader's step; of a loose module, when it last saw a dock
  // Of the leader:
  std::size_t modules_ = 0;   // of the arm
  int step_ = looking;        // of the approach
  int first_step_ = 0;        // the step with which the approach begins
  int views_ = 0;             // into which it has looked without seeing a dock
  std::vector<Posture> way_;  // to go, in order
  Posture ready_;             // at the start of the approach
  int sightings_ = 0;         // ticks in which it saw the next module
  double blind_until_ = 0;    // s by its own clock: until then it passes the dock that it sees
  SeenModule next_;           // in the frame of the base

  static constexpr int looking = -2, getting_ready = -1;
};

}  // namespace volvox::robots
