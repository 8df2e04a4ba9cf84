#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments::swarmsimx {

// The SwarmSimX paper, sections 2 and 4: "an online exchange of the implementation of the main modules". A snake crawls
// and a quadrotor flies its eight while the physics engine under them is changed again and again.
class Exchange final : public sim::Experiment {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override;
  std::string camera() const override { return "2.6,-3.4,2.0:-0.3,0,0.6"; }
  void begin(const sim::Simulation& simulation) override;
  void before_tick(sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  void change_engine(sim::Simulation& simulation, const std::string& name);

  std::vector<std::string> engines_;
  double every_ = 3;            // s
  std::int64_t exchanges_ = 0;  // so far
  double jump_ = 0;             // m, of a link, at an exchange
  // How far links end a tick from where their velocity would have taken them, m: the largest over the ticks after an
  // exchange, and over the others.
  double kick_ = 0, usual_kick_ = 0;
  std::vector<Vec3> expected_;  // scratch: where the links would be after this tick
  bool exchanged_ = false;      // before this tick
  double dock_gap_ = 0;         // m
  double error_sum_ = 0;        // m, of the quadrotor
  std::int64_t errors_ = 0;
  Vec3 start_;  // of the snake's first module
};

}  // namespace volvox::experiments::swarmsimx
