// Roles as data (seed 004): which dock of its parent a module hangs on decides its role, and parameters say what a role
// does, so that a file or an evolution can change what otherwise is code (gait_roles.h).
#pragma once

#include "volvox/mind/roles.h"

namespace volvox::robots {

// Parameters: parent (the dock that leads to the parent), period (s). A role is named `root`, or by the dock of the
// parent; of a role R and a joint J: R.J.amplitude, R.J.offset, R.J.phase (rad). D.delay: the share of the period by
// which a child at the dock D is late.
class RoleTable final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override { player_->step(agent); }
  bool lists_state() const override { return true; }
  void archive_state(Archive& ar) override {
    if (player_) player_->archive_state(ar);
  }

 private:
  std::unique_ptr<mind::RolePlayer> player_;
};

}  // namespace volvox::robots
