// What seed 004 (section 6) holds role-based control against, on the same robot and with the same motion:
// gait control tables with a central clock (Yim), and hormones (Shen et al.). Both move a chain of CONROs
// as the sidewinder role does.
#pragma once

#include "volvox/mind/behavior.h"
#include "volvox/model/world_model.h"

namespace volvox::experiments::roles {

// The master (id 0) says at every step which column of the table is due; each module looks its row up by
// its id and passes the word on.
struct Column {
  double number = 0;
};
VOLVOX_TYPE(Column, number)

class GaitTable final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void tune(mind::Agent& agent) override { transmits_ = agent.parameter("transmits", true); }
  void step(mind::Agent& agent) override;
  VOLVOX_STATE(row_)

 private:
  int row_ = 0;  // its id
  bool transmits_ = true;
};

// Goes from the root to the end of the chain and back; each module acts as it passes, and the root makes the
// next one only when the last has come home.
struct Hormone {
  double phase = 0;  // for the module that receives it, steps
  bool returns = false;
};
VOLVOX_TYPE(Hormone, phase, returns)

class Hormones final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void tune(mind::Agent& agent) override { transmits_ = agent.parameter("transmits", true); }
  void step(mind::Agent& agent) override;
  VOLVOX_STATE(phase_, sent_at_, at_home_)

 private:
  void act(mind::Agent& agent, double phase);
  bool transmits_ = true;
  double phase_ = 0;       // of the root's last hormone
  double sent_at_ = -1e9;  // s, by its own clock
  bool at_home_ = true;    // the last one came back
};

void register_rivals(mind::BehaviorRegistry& registry);

// Gives all modules another control ("tables", "hormones"), with ids in the order of the chain, or shuffled.
void hand_over(model::WorldModel& world, const std::string& control, bool shuffled, std::uint64_t seed);

}  // namespace volvox::experiments::roles
