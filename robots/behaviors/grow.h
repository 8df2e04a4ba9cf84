// An arm that grows by docking with nearby modules (seed 000, figure 5, top). All modules lie on the ground with their
// middle rolled by 90 degrees, so that every joint turns about the vertical. The arm reaches for the dock that its tip
// sees; the loose module, which sees the tip, turns its tail towards it. A docked module is part of the arm: it reports
// its angles and what it sees towards the base and receives commands from there, and the longer arm reaches for the
// next module. The first module of the arm, which is held by a dock named "mount", leads.
#pragma once

#include <array>

#include "volvox/mind/behavior.h"
#include "volvox/mind/dock_beacon.h"
#include "volvox/model/kinematics.h"

namespace volvox::robots {

// The kinematics of the arm for each number of modules, beginning with one.
struct GrowPlan {
  // m, gap between the docks in the steps of an approach.
  static constexpr std::array gaps = {0.050, 0.040, 0.030, 0.022, 0.015, 0.010, 0.005, 0.0, -0.002};
  struct Reach {
    model::Chain dock;                   // to the dock at the tip
    std::vector<model::Chain> approach;  // to the tail joint of the next module, one for each gap
    std::vector<double> ready;           // the posture at the start of the approach
  };
  std::vector<Reach> reaches;
  double tail_length = 0.042;  // m, from a module's back (or front) dock to its next joint
};

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
  void reach_out(mind::Agent& agent, const GrowPlan::Reach& reach, const GrowReport& arm);
  void get_ready(mind::Agent& agent, const std::vector<double>& posture);
  void move_towards(mind::Agent& agent, const std::vector<double>& posture, std::size_t first = 0);
  bool stands_at(const std::vector<double>& posture, std::size_t first = 0) const;

  std::shared_ptr<const GrowPlan> plan_;
  std::vector<double> command_;  // for its own joints, then for those of the modules farther out
  std::vector<double> behind_;   // the reported angles of the modules farther out
  mind::DockBeacon seen_;        // reported by the tip
  bool latching_ = false;
  bool joined_ = false;  // it is part of the arm
  // Of the leader:
  std::size_t modules_ = 0;  // of the arm
  int step_ = -1;            // of the approach; -1: it moves to the posture at the start
  double since_ = 0;         // s by its own clock, start of this step
  bool place_known_ = false;
  Vec3 place_;  // m, the tail joint of the next module, in the frame of the base
};

}  // namespace volvox::robots
