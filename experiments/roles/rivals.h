// The methods that the role-based control paper compares with (section 6): gait control tables with a central clock
// (Yim), and hormones (Shen et al.). Both give a chain of CONROs the motion of the sidewinder role.
#pragma once

#include "volvox/mind/behavior.h"
#include "volvox/model/world_model.h"

namespace volvox::experiments::roles {

// The master (id 0) sends the present column of the table at every step; each module finds its row by its id and relays
// the message.
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

// Travels from the root to the end of the chain and back; each module acts when it arrives. The root sends the next one
// only after the last has returned.
struct Hormone {
  double phase = 0;  // steps, for the receiving module
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
  double phase_ = 0;       // steps, of the root's last hormone
  double sent_at_ = -1e9;  // s, by the root's clock
  bool at_home_ = true;    // the last hormone has returned
};

void register_rivals(mind::BehaviorRegistry& registry);

// Gives all modules another control method ("tables", "hormones"), with ids in the order of the chain, or shuffled.
void set_control(model::WorldModel& world, const std::string& control, bool shuffled, std::uint64_t seed);

}  // namespace volvox::experiments::roles
