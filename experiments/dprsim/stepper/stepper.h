#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments::dprsim {

// Seed 001, figure 2: a catom rolls about another like a stepper motor, because both switch their magnets one after
// another. On a table that may be tilted; driven too fast, it misses steps.
class Stepper final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  std::string camera() const override { return "top"; }
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  struct Angles {
    double about = 0;  // rad, of the rolling catom about the other
    double own = 0;    // rad, of its body
  };
  Angles read(const world::World& world) const;

  std::int64_t steps_ = 0;
  double still_from_ = 0;       // s: the last step is over, and it has come to rest
  double step_time_ideal_ = 0;  // s
  Angles last_, turned_;        // turned_: not wrapped
  double step_time_ = -1;       // s, of the first step; negative: it is not made yet
  double sum_ = 0;              // rad, of the angles about the other at the end
  std::int64_t looks_ = 0;      // as many
};

}  // namespace volvox::experiments::dprsim
