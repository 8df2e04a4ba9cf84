#pragma once

#include "gait_roles.h"
#include "roles/synchrony.h"
#include "script.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::roles {

// The role-based control paper, section 5: a chain winds 63 cm, is re-arranged by hand into a quadruped while it runs,
// and walks 87 cm; nothing is reset. There are four sequences of moves, and one that replaces a module by a spare.
class Reconfigure final : public sim::Experiment {
 public:
  Reconfigure() : synchrony_(robots::conro_roles()) {}
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void before_tick(sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  enum class Part : std::uint8_t { winding, by_hand, finding_step, walking, arrived };
  Vec3 robot(const sim::Simulation& simulation) const;  // the centre of the largest organism

  int sequence_ = 1;  // 5: a module is replaced
  Script script_;
  Synchrony synchrony_;
  Part part_ = Part::winding;
  Vec3 from_;                                                                           // start of the present part
  double since_ = 0;                                                                    // s, its time
  double winding_time_ = -1, handling_time_ = -1, step_time_ = -1, walking_time_ = -1;  // s
};

}  // namespace volvox::experiments::roles
